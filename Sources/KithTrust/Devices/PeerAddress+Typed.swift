#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension PeerAddress {
    /// Reads what a person has typed: as `init(parsing:)`, and nothing at which no machine can be reached.
    ///
    /// - Throws: `.invalidAddress`, with the reason.
    package init(typed text: String) throws(TrustError) {
        try self.init(parsing: text)
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if text.hasPrefix("[") {
            guard let bytes = Self.ipv6Bytes(String(parts[0])) else { throw Self.objection(text, "is no IPv6 address.") }
            let isNowhere = bytes.allSatisfy { $0 == 0 } || bytes[0] == 0xFF
            if isNowhere { throw Self.objection(text, "means no single machine.") }
            let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
            if isLinkLocal, parts.count == 1 || parts[1].isEmpty {
                throw Self.objection(text, "needs the name of this machine's network card, as in [fe80::1%eth0]:4747.")
            }
        } else if host.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }) {
            guard let bytes = Self.numbers(AF_INET, host, count: 4) else { throw Self.objection(text, "is no IPv4 address.") }
            let isNowhere = bytes == [0, 0, 0, 0] || bytes == [255, 255, 255, 255] || bytes[0] & 0xF0 == 0xE0
            if isNowhere { throw Self.objection(text, "means no single machine.") }
        }
    }

    /// The 16 bytes of an IPv6 address without a scope; `nil` for anything else.
    package static func ipv6Bytes(_ text: String) -> [UInt8]? { numbers(AF_INET6, text, count: 16) }

    private static func numbers(_ family: Int32, _ text: String, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    private static func objection(_ text: String, _ words: String) -> TrustError {
        TrustError(.invalidAddress, "\u{201C}\(text)\u{201D} \(words)")
    }
}
