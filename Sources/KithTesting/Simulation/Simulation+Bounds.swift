import GRDB
import KithSync

/// What nobody may hold more of than was written, sent or asked for.
extension Simulation {
    /// A side of a connection sends a frame: it has no more slices out, unanswered, than its window takes.
    func noteSent(_ bytes: [UInt8], _ end: EndID) throws {
        guard SliceWindow.isSlice(bytes) else { return }
        links[end.link].ends[end.side]?.window.sent(bytes)
        // Whoever is told that more was dealt with than was may send more.
        guard let window = links[end.link].ends[end.side]?.window, links[end.link].liedEpoch != end.epoch else { return }
        guard window.isBounded else {
            throw Violation(
                .queueTooLong,
                "\(node(of: end).name) has sent \(node(of: end.other).name) \(window.slices) slices of \(window.bytes) bytes without an answer."
            )
        }
    }

    /// When all have caught up nothing waits any more, and what a store keeps beside the app's tables is no more than was written.
    func checkSizes() throws {
        // What a lost commit, or a lie, had begun to bring is waited for.
        if taint.isNeeded || ledger.hasLosses || !strandedRows.isEmpty { return }
        let limits = StoreLimits(ledger, nodeCount: nodes.count)
        for node in members {
            let excess = try node.database.writeWithoutTransaction { db in try limits.excess(db) }
            guard let excess else { continue }
            throw Violation(.storeTooLarge, "\(node.name) has caught up, and \(excess).")
        }
    }
}

/// How much a store may keep that knows all that was written.
struct StoreLimits {
    private struct Limit {
        let table: String
        let rowsMax: Int
        /// What more rows would mean.
        let meaning: String
    }

    private let limits: [Limit]
    private let rowsMax: Int

    init(_ ledger: Ledger, nodeCount: Int) {
        rowsMax = ledger.rows.count
        let cells = ledger.effects.reduce(0) { $0 + ledger.tables[$1.table].columns.count }
        limits = [
            Limit(table: "kith_context", rowsMax: 0, meaning: "catch-ups are remembered that are complete"),
            Limit(table: "kith_text_aside", rowsMax: 0, meaning: "changes of texts wait for a row or for other changes"),
            Limit(table: "kith_text_portion", rowsMax: 0, meaning: "changes of texts wait for a row or their turn"),
            Limit(table: "kith_text_turn", rowsMax: 0, meaning: "texts wait for a turn that does not come"),
            Limit(table: "kith_unsettled", rowsMax: 0, meaning: "references wait to be looked at"),
            Limit(table: "kith_moved", rowsMax: 0, meaning: "rows wait for their new numbers"),
            Limit(
                table: "kith_replica WHERE sequence > 0", rowsMax: ledger.replicaCount, meaning: "more replicas are named than there were"),
            Limit(table: "kith_hidden", rowsMax: ledger.rows.count, meaning: "more rows are hidden than were written"),
            Limit(table: "kith_digest", rowsMax: ledger.rows.count, meaning: "more rows have digests than were written"),
            Limit(table: "kith_held", rowsMax: ledger.rows.count, meaning: "more rows are held than were written"),
            Limit(
                table: "kith_dot", rowsMax: ledger.effects.count, meaning: "more rows are listed by commit than were written"),
            Limit(table: "kith_text_change", rowsMax: cells, meaning: "texts have more changes than were written"),
            Limit(table: "kith_text_chunk", rowsMax: cells, meaning: "texts have more packed changes than were written"),
            Limit(table: "kith_run", rowsMax: ledger.effects.count, meaning: "there are more runs of clocks than rows were written"),
            Limit(table: "kith_waiting", rowsMax: cells, meaning: "more references wait than were written"),
            Limit(table: "kith_member", rowsMax: nodeCount - 1, meaning: "there are more members than machines"),
            Limit(table: "kith_superseded", rowsMax: cells, meaning: "more values were overwritten than were written"),
        ]
    }

    /// What there is too much of, in words; `nil` if there is nothing.
    func excess(_ db: Database) throws -> String? {
        let clocks = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kith_clock_*'")
            .map { Limit(table: $0, rowsMax: rowsMax, meaning: "more rows have clocks than were written") }
        for limit in limits + clocks {
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(limit.table)") ?? 0
            if count > limit.rowsMax { return "\(limit.meaning): \(count) rows of \(limit.table), where \(limit.rowsMax) may be" }
        }
        return nil
    }
}
