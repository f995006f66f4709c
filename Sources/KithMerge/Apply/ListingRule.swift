import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Whether a store takes a listing, by which rows go that the sender does not have: by its own records alone, never by the sender's word.
package struct ListingRule {
    /// What becomes of the rows that a listing passes over.
    enum Answer {
        /// They were deleted, and collected, while this store could not hear of it.
        case take
        /// This store knows all that the sender has collected, or has no reason to have missed it: absence tells nothing. The rows that
        /// come with the listing are taken all the same: a member that was told a lie, and passes it on, is to be heard.
        case passOver
    }

    /// For so long after a store has had a reason, it takes a listing, in milliseconds.
    static let dueMilliseconds: Int64 = Member.silenceMilliseconds

    private let ledger: RowLedger
    private let records: VectorRecords

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
        records = VectorRecords(connection: ledger.connection)
    }

    func answer(to listing: Listing, vector: VersionVector, nowMilliseconds now: Int64) throws -> Answer {
        if vector.covers(listing.floor) { return .passOver }
        // It is new: all that it knows is its own.
        let authors = try Authors(ledger: ledger)
        if vector.entries.allSatisfy({ authors[$0.replica] == .own }) { return .take }
        // An app that has told the store of no members keeps account of them itself.
        let members = try MemberRecords(ledger: ledger).all()
        if members.isEmpty { return .take }
        // Others may have taken this store for silent, too; and what one of them has collected, it has told the rest.
        if members.contains(where: { Self.wasAway($0, nowMilliseconds: now) }) { return .take }
        guard case .integer(let since)? = try records.meta(Self.name) else { return .passOver }
        let (age, overflows) = now.subtractingReportingOverflow(since)
        return overflows || age > Self.dueMilliseconds ? .passOver : .take
    }

    /// Whether a member was not heard of for so long that it may have taken this store for silent.
    package static func wasAway(_ member: Member, nowMilliseconds now: Int64) -> Bool {
        let (silence, overflows) = now.subtractingReportingOverflow(member.seenMilliseconds)
        return overflows ? member.seenMilliseconds < now : silence >= Member.silenceMilliseconds / 2
    }

    /// The store has a reason to have missed deletions: it was set back, was silent for long, or has come to a group.
    package func becomeDue(nowMilliseconds now: Int64) throws {
        try records.setMeta(Self.name, .integer(now))
    }

    /// A listing is complete.
    func settle() throws {
        try records.removeMeta(Self.name)
    }

    private static let name = "listable"
}
