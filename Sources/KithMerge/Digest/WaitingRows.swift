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

    /// What is there already, to be told from what comes.
    func mark() throws -> Mark {
        Mark(areThere: try areThere(), lastContext: try ContextRecords(ledger.connection).lastNumber())
    }

    struct Mark {
        let areThere: Bool
        fileprivate let lastContext: Int64
    }

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

    /// Rows may have come since `before` that know more than those that were there, and `vector`.
    func noteArrivals(since before: Mark, vector: VersionVector, nowMilliseconds now: Int64) throws {
        guard try ContextRecords(ledger.connection).lastNumber() > before.lastContext, try areThere() else { return }
        let known = try records.notedAhead(ledger.catalog).vector
        let ahead = try records.ahead(ledger.catalog)
        try records.noteAhead(ahead, ledger)
        guard !vector.joined(with: known).covers(ahead) else { return }
        if try before.areThere && records.meta(Self.name) != nil && !isTimeOver(nowMilliseconds: now) { return }
        try records.setMeta(Self.name, .integer(now))
    }

    /// Since when they wait, by the wall clock; 0 once their time is over.
    private static let name = "waiting"
}
