import KithCausality

/// How things stand with a peer.
package struct PeerStatus: Hashable, Sendable {
    package var replica: ReplicaID
    /// Name and version of the peer's software, as it says.
    package var software: String
    /// The version of the protocol in use.
    package var protocolVersion: UInt64
    /// What the peer knows.
    package var vector: VersionVector
    /// What of it would survive a loss of power there.
    package var durable: VersionVector
    /// Rows sent and received in this session.
    package var rowsSent: UInt64
    package var rowsReceived: UInt64
    /// Rows still to come in the deltas under way, as their senders estimate; 0 if there are none.
    package var rowsToSend: Int
    package var rowsToReceive: Int
    /// How far the deltas under way have come.
    package var sending: DeltaProgress?
    package var receiving: DeltaProgress?
    /// Whether both know the same.
    package var isInSync: Bool
    /// How far the peer's wall clock is ahead of ours, if by more than two minutes either way.
    package var clockOffsetMilliseconds: Int64?
    /// Whether both stores held the same rows when they were last compared; `nil` if they were not yet. Told by the side
    /// that leads the comparison.
    package var isIdentical: Bool?
    /// Rows that differed although both sides knew the same, and were mended here in this session; and the last of them.
    package var rowsMended: UInt64
    package var mended: [SlicePosition]
    /// Rows that the peer is not sent, because they are too large.
    package var withheld: [SlicePosition] = []
}
