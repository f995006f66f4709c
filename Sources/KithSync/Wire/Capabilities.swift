/// Optional abilities of a build, said in the hello. A session uses those that both sides have.
public struct Capabilities: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Compares digests, and mends rows that differ.
    public static let digest = Capabilities(rawValue: 1 << 0)
    /// Sends and fetches the bytes of attachments: frame types 0x98 to 0x9C.
    public static let attachments = Capabilities(rawValue: 1 << 1)
}
