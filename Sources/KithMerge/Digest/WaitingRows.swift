import KithCausality
import KithLedger
import KithSync

/// Rows that came ahead of the vector, and wait for the rest of their catch-up. As long as they do, the store is not compared with others.
///
/// The rest may never come: its sender is gone, or has named a commit of its own that it never brings. So the store waits for a week.
/// After that it is compared as it is, until more rows come ahead.
package struct WaitingRows {
    /// So long a store waits, in milliseconds.
    package static let patienceMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1_000

    private let ledger: RowLedger
    private let records: VectorRecords

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
        records = VectorRecords(connection: ledger.connection)
    }

    /// Whether there are any, whose time is not over.
    package func holdBack(nowMilliseconds now: Int64) throws -> Bool {
        try areThere() && !isTimeOver(nowMilliseconds: now)
    }

    private func areThere() throws -> Bool { try !ContextRecords(ledger.connection).isEmpty() }

    /// What they know, all together.
    func ahead() throws -> VersionVector { try areThere() ? records.ahead(ledger.catalog) : VersionVector() }

    /// Whether they came so long ago, or in a future that a wrong clock showed.
    func isTimeOver(nowMilliseconds now: Int64) throws -> Bool {
        guard case .integer(let since)? = try records.meta(Self.name) else { return false }
        let (age, overflows) = now.subtractingReportingOverflow(since)
        return overflows || age.magnitude >= Self.patienceMilliseconds.magnitude
    }

    /// Whether their time is over since the last look: what was noted of them is what they were before they came.
    func endsNow(nowMilliseconds now: Int64) throws -> Bool {
        guard try areThere(), try isTimeOver(nowMilliseconds: now), try records.meta(Self.name) != .integer(0) else { return false }
        try records.setMeta(Self.name, .integer(0))
        return true
    }

    /// Rows may have come that know more than `before`, by which those that were there were ahead, and `vector`.
    func noteArrivals(before: VersionVector, vector: VersionVector, nowMilliseconds now: Int64) throws {
        guard try areThere(), try !vector.joined(with: before).covers(ahead()) else { return }
        if try !before.isEmpty && records.meta(Self.name) != nil && !isTimeOver(nowMilliseconds: now) { return }
        try records.setMeta(Self.name, .integer(now))
    }

    /// Since when they wait, by the wall clock; 0 once their time is over.
    private static let name = "waiting"
}
