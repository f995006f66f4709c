import Foundation

/// An IPv4 or IPv6 address that a host is said to have.
package struct HostAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]
    /// The index of the interface that a link-local IPv6 address belongs to; 0 for every other address.
    package let scope: UInt32

    /// An address heard on an interface, or nil for what no peer can be reached at: a wrong length, the unspecified address, multicast,
    /// broadcast, and a loopback address that was heard on any other interface than the loopback's.
    ///
    /// - Parameter interface: the index of the interface it was heard on; the loopback has index 1 on Linux and on Apple's systems.
    package init?(bytes: some Collection<UInt8>, interface: UInt32) {
        let bytes = Array(bytes)
        let isLoopback: Bool
        switch bytes.count {
        case 4:
            // 0.0.0.0/8 is "this network"; 224.0.0.0/4 is multicast; 240.0.0.0/4 is reserved and ends in the broadcast address.
            guard bytes[0] != 0, bytes[0] < 224 else { return nil }
            isLoopback = bytes[0] == 127
        case 16:
            let isUnspecified = bytes.allSatisfy { $0 == 0 }
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            guard !isUnspecified, !isMapped, bytes[0] != 0xFF else { return nil }
            isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
        default:
            return nil
        }
        guard !isLoopback || interface == 1 else { return nil }
        self.bytes = bytes
        self.scope = Self.isLinkLocalIPv6(bytes) ? interface : 0
    }

    /// Whether the address holds only on the link it was heard on (169.254.0.0/16, fe80::/10).
    var isLinkLocal: Bool {
        bytes.count == 4 ? bytes[0] == 169 && bytes[1] == 254 : Self.isLinkLocalIPv6(bytes)
    }

    private static func isLinkLocalIPv6(_ bytes: [UInt8]) -> Bool {
        bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }
}

extension HostAddress: CustomStringConvertible {
    /// The address as text that `getaddrinfo` takes: `10.0.0.7`, `fd00::7`, `fe80::7%2`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return scope == 0 ? address : "\(address)%\(scope)"
    }
}

extension HostAddress: Comparable {
    /// Addresses that reach further first, IPv4 before IPv6, then by bytes.
    package static func < (left: HostAddress, right: HostAddress) -> Bool {
        if left.isLinkLocal != right.isLinkLocal { return right.isLinkLocal }
        if left.bytes.count != right.bytes.count { return left.bytes.count < right.bytes.count }
        if left.bytes != right.bytes { return left.bytes.lexicographicallyPrecedes(right.bytes) }
        return left.scope < right.scope
    }
}
