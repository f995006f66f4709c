/// Optional abilities of a build, said in the hello. A session uses those that both sides have.
package struct Capabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Compares digests, and mends rows that differ.
    package static let digest = Capabilities(rawValue: 1 << 0)
    /// Sends and fetches the bytes of attachments: frame types 0x98 to 0x9C.
    package static let attachments = Capabilities(rawValue: 1 << 1)
    /// Hears what members say about the household: frame type 0xA0.
    package static let household = Capabilities(rawValue: 1 << 3)
    /// Undoes ``FrameCompression``: frame type 0xB0.
    package static let compression = Capabilities(rawValue: 1 << 4)
    /// Understands text columns; every session of this build does. A peer without it is not sent any.
    package static let texts = Capabilities(rawValue: 1 << 2)
}
