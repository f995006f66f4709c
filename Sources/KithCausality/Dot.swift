/// The name of a commit: everything one local transaction wrote carries its dot.
///
/// Ordered by replica, then by sequence; the order says nothing about causality.
public struct Dot: Hashable, Sendable, Comparable {
    /// Who committed.
    public let replica: ReplicaID
    /// The number of the commit at that replica: 1, 2, 3, … without gaps.
    public let sequence: UInt64

    public init(replica: ReplicaID, sequence: UInt64) {
        self.replica = replica
        self.sequence = sequence
    }

    public static func < (left: Dot, right: Dot) -> Bool {
        left.replica == right.replica ? left.sequence < right.sequence : left.replica < right.replica
    }
}

extension Dot: CustomStringConvertible {
    public var description: String { "\(replica):\(sequence)" }
}
