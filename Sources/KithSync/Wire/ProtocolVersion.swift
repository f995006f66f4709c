/// The versions of the protocol that this build speaks. See docs/protocol.md, "Versions".
package struct ProtocolVersions: Hashable, Sendable {
    /// The newest version understood, which a session prefers.
    package let newest: UInt64
    /// The oldest version understood.
    package let oldest: UInt64

    /// What this build understands.
    package static let current = ProtocolVersions(newest: 1, oldest: 1)

    package init(newest: UInt64, oldest: UInt64) {
        self.newest = newest
        self.oldest = oldest
    }

    /// The version two sides speak: the newest that both understand; `nil` if there is none.
    func common(with other: ProtocolVersions) -> UInt64? {
        let version = min(newest, other.newest)
        return version >= max(oldest, other.oldest) ? version : nil
    }
}
