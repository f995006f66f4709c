/// Where a device was last told to be: a host name or address, and a port. A hint: it says nothing about who is there.
public struct PeerAddress: Hashable, Sendable {
    /// Longest host that is accepted, in UTF-8 bytes (RFC 1035, 2.3.4).
    package static let hostBytesMax = 253

    /// A name, an IPv4 address, or an IPv6 address without brackets, with `%scope` where it needs one.
    public let host: String
    /// 1 to 65535.
    public let port: Int

    /// - Throws: `.invalidAddress`.
    public init(host: String, port: Int) throws(TrustError) {
        let plain = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Self.reserved.contains($0) }
        guard !host.isEmpty, plain, host.utf8.count <= Self.hostBytesMax, (1...65535).contains(port) else {
            throw Self.invalid(host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
        }
        self.host = host
        self.port = port
    }

    /// Reads `host:port` or `[IPv6]:port`.
    /// - Throws: `.invalidAddress`.
    public init(parsing text: String) throws(TrustError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.hostBytesMax + 8, let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else {
            throw Self.invalid(text)
        }
        var host = bytes[..<colon]
        let bracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]") && host.count > 2
        if bracketed {
            host = host.dropFirst().dropLast()
        } else if host.contains(UInt8(ascii: ":")) {
            // `::1:4747` could mean two things.
            throw Self.invalid(text)
        }
        let digits = bytes[(colon + 1)...]
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(String(decoding: digits, as: UTF8.self))
        else { throw Self.invalid(text) }
        try self.init(host: String(decoding: host, as: UTF8.self), port: port)
    }

    private static let reserved = Array("[]/@?#\"'<>\\".utf8)

    private static func invalid(_ text: String) -> TrustError {
        TrustError(
            .invalidAddress,
            "\u{201C}\(text.prefix(300))\u{201D} is not an address. Write host:port, for instance laptop.local:4747, 192.168.1.5:4747 or [fe80::1%eth0]:4747."
        )
    }
}

extension PeerAddress: CustomStringConvertible {
    /// `host:port`, with brackets around an IPv6 address; `init(parsing:)` reads it back.
    public var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
