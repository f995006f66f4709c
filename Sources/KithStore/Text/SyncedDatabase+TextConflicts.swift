import GRDB
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithText
import KithTexts

extension SyncedDatabase {
    /// The places of one text that were changed at the same time, and that nobody has touched since, in the order of the text; as a part of
    /// the access `db`. Those of all texts are among ``conflicts(_:)``.
    ///
    /// They are the same on every store with the same changes: see `docs/text.md`, "Places in conflict", also for how many there may be. A text
    /// that was never changed on two machines at once costs nothing; any other is replayed from its first change.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such text column.
    public func textConflicts(_ db: Database, table: String, id: RowID, column: String) throws(StoreError) -> [Conflict] {
        try read(db) { ledger in
            guard let (number, tracked) = ledger.tracked(table),
                let index = tracked.columns.firstIndex(where: { ledger.catalog.tables[number].columns[$0].sqlName == column }),
                tracked.kinds[index] == .text
            else { throw StoreError(.notFound, "Table \(table) has no text column \(column).") }
            return try MergedTexts(ledger: ledger)
                .search(table: number, id: id, column: tracked.columns[index], try Authors(ledger: ledger)).conflicts
        }
    }

    /// Ends a conflict of kind ``Conflict/Kind/text(_:)``: its lines say `text` then, one of the versions or anything else, also what they
    /// say already. Part of the transaction that is open on `db`; any other edit of the lines does as much.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if the conflict is not, or not any more, what it was when it was listed.
    public func resolveTextConflict(_ db: Database, _ conflict: Conflict, keeping text: String) throws(StoreError) {
        let versions = conflict.versions.map(\.stamp.dot)
        guard case .text(let lines) = conflict.kind else {
            throw StoreError(.notFound, "A conflict of whole values is resolved by resolve(_:table:id:column:keeping:).")
        }
        try change(conflict.table, db) { capture in
            try capture.editText(table: conflict.table, id: conflict.row, column: conflict.column) { opened, _ in
                let current = try opened.document.conflicts(history: opened.history).conflicts.first { found in
                    opened.document.text.string(in: found.line).utf8.elementsEqual(lines.shown.utf8)
                        && found.versions.count == versions.count
                        && zip(found.versions, versions).allSatisfy { $0.changes.contains($1) }
                }
                guard let current else {
                    throw StoreError(.notFound, "The text was changed there in the meantime. Look at it again before you choose.")
                }
                return current.resolution(text, in: opened.document.text)
            }
        }
    }
}
