import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Up to which commit of its own a store no longer knows from its rows when the commit was made, because mending has changed one of these
/// times to what a peer said.
package struct DoubtedTimes {
    private let ledger: RowLedger
    private var records: VectorRecords { VectorRecords(connection: ledger.connection) }

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    private func name(_ replica: ReplicaID) throws -> String { "doubted:\(try ledger.number(of: replica))" }

    func note(_ dot: Dot) throws {
        if try contains(dot) { return }
        try records.setMeta(name(dot.replica), .integer(Int64(clamping: dot.sequence)))
    }

    package func contains(_ dot: Dot) throws -> Bool {
        guard case .integer(let last)? = try records.meta(name(dot.replica)) else { return false }
        return dot.sequence <= UInt64(clamping: last)
    }
}
