import KithCausality

/// How things stand with a peer.
public struct PeerStatus: Hashable, Sendable {
    public var replica: ReplicaID
    /// Name and version of the peer's software, as it says.
    public var software: String
    /// The version of the protocol in use.
    public var protocolVersion: UInt64
    /// What the peer knows.
    public var vector: VersionVector
    /// What of it would survive a loss of power there.
    public var durable: VersionVector
    /// Rows sent and received in this session.
    public var rowsSent: UInt64
    public var rowsReceived: UInt64
    /// Rows still to come in the deltas under way, as their senders estimate; 0 if there are none.
    public var rowsToSend: Int
    public var rowsToReceive: Int
    /// How far the deltas under way have come.
    public var sending: DeltaProgress?
    public var receiving: DeltaProgress?
    /// Whether both know the same.
    public var isInSync: Bool
    /// How far the peer's wall clock is ahead of ours, if by more than two minutes either way.
    public var clockOffsetMilliseconds: Int64?
    /// Whether both stores held the same rows when they were last compared; `nil` if they were not yet. Told by the side
    /// that leads the comparison.
    public var isIdentical: Bool?
    /// Rows that differed although both sides knew the same, and were mended here in this session; and the last of them.
    public var rowsMended: UInt64
    public var mended: [SlicePosition]
}
