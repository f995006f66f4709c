import KithCausality
import KithLedger

/// What a member's word counts for that came by a file: the member may have said others since, and been read before.
package enum CarriedWord: Hashable, Sendable {
    /// Nothing later is known of the member.
    case newest
    /// Something later is known of it, or it is no member.
    case older
    /// Nobody can tell which was said later.
    case unclear

    /// - Parameters:
    ///   - replica: what the member was.
    ///   - vector: what it knew.
    ///   - durable: what of that it could not lose.
    ///   - made: when it said so, by its own clock.
    ///   - known: what was noted of the member, in part by the clock of this machine.
    init(
        of replica: ReplicaID, _ vector: VersionVector, _ durable: VersionVector, madeMilliseconds made: Int64, after known: Member
    ) {
        if known.replica == nil, !known.isInDoubt {
            self = .newest
            return
        }
        let isLaterByClock = made >= known.seenMilliseconds
        var (isAfterwards, isBefore) = (false, false)
        if known.replica == replica {
            // What one replica cannot lose only grows, unless its store was set back and has not noticed that yet: less is from before, or
            // from after that.
            isAfterwards = durable != known.durable && durable.covers(known.durable)
            isBefore = durable != known.durable && !isAfterwards
        } else if let before = known.replica {
            // The store of that time went on as the one that is known, unless the machine went back to it.
            isBefore = known.durable[replica] > 0 && vector[before] == 0
        }
        self =
            switch (isBefore, isLaterByClock) {
            case (true, true): .unclear
            case (true, false): .older
            case (false, true): .newest
            case (false, false): isAfterwards ? .newest : .unclear
            }
    }
}

extension Member {
    /// Whether it was heard of once, and nobody knows which of its words was the last one.
    var isInDoubt: Bool { replica == nil && seenMilliseconds > addedMilliseconds }
}
