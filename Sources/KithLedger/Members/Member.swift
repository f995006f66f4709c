import KithCausality
import KithSync

/// Another device of the group, as far as this store has heard of it.
package struct Member: Hashable, Sendable {
    /// Who it is: opaque bytes that stay the same when its store is restored and takes a new replica id.
    package let device: [UInt8]
    /// The replica it was when it was last heard of.
    package let replica: ReplicaID?
    /// What it then said that it could not lose.
    package let durable: VersionVector
    /// When it was added to the group here, in milliseconds since 1970 by this machine's clock.
    package let addedMilliseconds: Int64
    /// When it was last heard of; ``addedMilliseconds`` if never.
    package let seenMilliseconds: Int64

    package init(device: [UInt8], replica: ReplicaID?, durable: VersionVector, addedMilliseconds: Int64, seenMilliseconds: Int64) {
        self.device = device
        self.replica = replica
        self.durable = durable
        self.addedMilliseconds = addedMilliseconds
        self.seenMilliseconds = seenMilliseconds
    }

    /// Longest device id, in bytes.
    package static let deviceBytesMax = 64
    /// A member that was not heard of for so long holds back no garbage any more.
    package static let silenceMilliseconds: Int64 = 90 * 24 * 60 * 60 * 1_000

    /// Whether garbage goes without waiting for this member.
    package func isSilent(atMilliseconds now: Int64) -> Bool {
        // The time stands on the disk, which may say anything.
        let (silence, overflows) = now.subtractingReportingOverflow(seenMilliseconds)
        return overflows ? seenMilliseconds < now : silence >= Self.silenceMilliseconds
    }
}
