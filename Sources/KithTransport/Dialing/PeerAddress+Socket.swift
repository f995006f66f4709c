import KithTrust
import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension PeerAddress {
    /// The address of an IP socket, with the `%scope` that a link-local IPv6 address needs; `nil` for other sockets.
    init?(socketAddress: SocketAddress) {
        guard let port = socketAddress.port else { return nil }
        var host = [CChar](repeating: 0, count: 128)
        let result = socketAddress.withSockAddr { address, size in
            getnameinfo(address, socklen_t(size), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        }
        let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // An address of IPv4 within IPv6 (RFC 4291, 2.5.5.2) is the former to people, and is dialled alike.
        let plain = text.hasPrefix("::ffff:") && text.contains(".") ? String(text.dropFirst(7)) : text
        guard result == 0, let address = try? PeerAddress(host: plain, port: port) else { return nil }
        self = address
    }
}
