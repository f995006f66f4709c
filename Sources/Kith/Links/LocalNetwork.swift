#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The network cards of this machine at one moment, and the addresses at which others could reach it.
package struct LocalNetwork: Hashable, Sendable {
    package struct Link: Hashable, Sendable {
        var name: String
        /// Whether a cable is plugged in, or a Wi-Fi joined.
        var isConnected: Bool
        var isLoopback = false
        /// In the order of the system, as text; those of IPv6 that hold for one link alone carry its name (`fe80::1%eth0`).
        var addresses: [String] = []
    }

    var links: [Link] = []

    /// Addresses that work now, loopback aside.
    package var addresses: [String] { links.filter { $0.isConnected && !$0.isLoopback }.flatMap(\.addresses) }

    /// Whether there is any way out.
    var isConnected: Bool { !addresses.isEmpty }

    /// Cards that are switched on and lead nowhere, though they have an address or nothing else has one.
    var cutLinks: [String] {
        links.filter { !$0.isConnected && !$0.isLoopback && (!$0.addresses.isEmpty || !isConnected) }.map(\.name)
    }

    /// Whether a connection from `address` of this machine can still work. What the system does not list is not judged.
    func carries(_ address: String) -> Bool {
        let address = Self.plain(address)
        return links.contains { $0.isConnected && $0.addresses.contains { Self.plain($0) == address } }
    }

    /// Whether `address` is one of this machine, also on a link that leads nowhere now.
    func has(_ address: String) -> Bool {
        let address = Self.plain(address)
        return links.contains { $0.addresses.contains { Self.plain($0) == address } }
    }

    /// Without what says on which link it holds, and as IPv4 where it is that within IPv6 (RFC 4291, 2.5.5.2).
    private static func plain(_ address: String) -> Substring {
        let bare = address.prefix { $0 != "%" }
        return bare.hasPrefix("::ffff:") && bare.contains(".") ? bare.dropFirst(7) : bare
    }
}

extension LocalNetwork {
    /// What the system lists now; `nil` if it does not.
    package static var current: LocalNetwork? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var network = LocalNetwork()
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            let flags = Int32(bitPattern: UInt32(truncatingIfNeeded: entry.pointee.ifa_flags))
            guard flags & Int32(IFF_UP) != 0 else { continue }
            let name = String(cString: entry.pointee.ifa_name)
            var index = network.links.firstIndex { $0.name == name }
            if index == nil {
                index = network.links.count
                network.links.append(
                    Link(name: name, isConnected: flags & Int32(IFF_RUNNING) != 0, isLoopback: flags & Int32(IFF_LOOPBACK) != 0))
            }
            if let index, let address = entry.pointee.ifa_addr, let text = text(of: address) {
                network.links[index].addresses.append(text)
            }
        }
        return network
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
