import KithCausality
import KithSQLite
import KithSync

/// A table of the app, as it is now: by it the journal learns what a transaction has made of a row.
struct JournalSource {
    /// What has become of a row.
    struct Change {
        let row: RowKey
        let kind: JournalChange.Kind
        let columns: [(number: Int, content: JournalChange.Content)]
        let replica: ReplicaID?
    }

    let number: Int
    let tracked: CatalogTable.Tracked
    let find: PreparedStatement

    /// `nil` if there is no such table.
    init?(_ number: Int, _ ledger: RowLedger) throws {
        guard let tracked = ledger.catalog.tracked(number) else { return nil }
        self.number = number
        self.tracked = tracked
        find = try ledger.connection.statement(tracked.findSQL)
    }

    /// `nil` if nothing has become of the row.
    func change(_ image: JournalNotes.Image) throws -> Change? {
        find.bind(1, image.row.id, as: tracked.form)
        let isThere = try find.step()
        defer { find.reset() }
        if !image.existed { return isThere ? change(image, .insert, []) : nil }
        var columns: [(number: Int, content: JournalChange.Content)] = []
        for (place, old) in image.values where place < tracked.columns.count {
            // The first column is the rowid.
            let new = isThere ? find.value(Int32(place + 1)) : .null
            // Of a row that is gone NULL is written down, too: else it could be a column that the table did not have yet.
            if new == old, isThere { continue }
            if isThere, tracked.kinds[place] == .text, case .text(let old) = old, case .text(let new) = new {
                columns.append((tracked.columns[place], .text(old, new)))
            } else {
                columns.append((tracked.columns[place], .values(old: old, new: new)))
            }
        }
        columns.sort { $0.number < $1.number }
        if !isThere { return change(image, .delete, columns) }
        return columns.isEmpty ? nil : change(image, .update, columns)
    }

    private func change(
        _ image: JournalNotes.Image, _ kind: JournalChange.Kind, _ columns: [(number: Int, content: JournalChange.Content)]
    ) -> Change {
        Change(row: image.row, kind: kind, columns: columns, replica: image.replicas.count == 1 ? image.replicas.first : nil)
    }
}

extension RowKey {
    func isBefore(_ other: RowKey) -> Bool {
        (table, id.high, id.low) < (other.table, other.id.high, other.id.low)
    }
}
