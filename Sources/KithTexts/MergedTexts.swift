import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Texts that were changed on several machines at once: what `kith_text_merged` lists, whose only owner this is, so that
/// a search for conflicts looks at nothing else.
///
/// A text is noted when concurrent changes come together here, and let go of when a search finds that no conflict is open: edits made one after the
/// other bring none. That an entry is there says nothing more. The list can be made again from the histories: all texts are in it then.
package struct MergedTexts {
    package static let sql = """
        -- Texts with concurrent changes, unless a search has found since that no conflict is open.
        CREATE TABLE IF NOT EXISTS kith_text_merged (text INTEGER PRIMARY KEY);
        """

    /// Lets go of texts, whose numbers `texts` selects.
    static func removeSQL(of texts: String) -> String { "DELETE FROM kith_text_merged WHERE text IN (\(texts))" }

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    private var connection: DatabaseConnection { ledger.connection }

    package func note(_ text: Int64) throws {
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_text_merged (text) VALUES (?)")
        insert.bind(1, text)
        try insert.run()
    }

    package func contains(_ key: TextKey) throws -> Bool {
        let select = try connection.statement(Self.containsSQL)
        key.bind(to: select)
        defer { select.reset() }
        return try select.step()
    }

    private static let containsSQL = """
        SELECT 1 FROM kith_text_merged m JOIN \(TextArchive.table) t ON t.number = m.text
        WHERE t.tbl = ? AND t.id = ? AND t.col = ? AND t.doc = ?
        """

    /// A text in which a search found no conflict, and how many events it had then.
    package struct Settled {
        package let text: Int64
        package let nextEvent: Int
    }

    /// Lets go of texts that are as they were searched.
    package func forget(_ settled: [Settled]) throws {
        let delete = try connection.statement(
            "DELETE FROM kith_text_merged WHERE text = ?1 AND \(TextArchive.nextEventSQL(of: "?1")) IS ?2")
        for entry in settled {
            delete.bind(1, entry.text)
            delete.bind(2, entry.nextEvent)
            try delete.run()
        }
    }

    // MARK: Searching

    /// What a search found.
    package struct Found {
        package var conflicts: [Conflict] = []
        package var settled: [Settled] = []
    }

    /// The conflicts of all texts, or of those of one row.
    package func search(table: Int? = nil, id: RowID? = nil, column: Int? = nil, _ authors: Authors) throws -> Found {
        let select = try connection.statement(
            """
            SELECT t.tbl, t.id, t.col, t.doc FROM kith_text_merged m JOIN \(TextArchive.table) t ON t.number = m.text
            WHERE (?1 IS NULL OR t.tbl = ?1) AND (?2 IS NULL OR t.id = ?2) AND (?3 IS NULL OR t.col = ?3)
            """)
        if let table { select.bind(1, table) } else { select.bindNull(1) }
        if let id { select.bind(2, id) } else { select.bindNull(2) }
        if let column { select.bind(3, column) } else { select.bindNull(3) }
        var keys: [TextKey] = []
        while try select.step() {
            keys.append(TextKey(table: select.int(0), id: try select.rowID(1), column: select.int(2), document: select.integer(3)))
        }
        var found = Found()
        for key in keys { try search(key, authors, &found) }
        return found
    }

    private func search(_ key: TextKey, _ authors: Authors, _ found: inout Found) throws {
        guard let table = ledger.catalog[key.table], let tracked = table.tracked, let index = tracked.columns.firstIndex(of: key.column),
            tracked.kinds[index] == .text, let name = table.columns[key.column].sqlName,
            let visible = try UserTable(connection: connection, table: table, tracked: tracked).find(key.id),
            let row = try ConflictRecords(ledger: ledger).clockRow(of: key.id, at: visible.row, key.table),
            let stored = try ledger.storedRow(key.table, row: row)
        else { return }
        let state = stored.text(key.column, value: visible.values[index])
        // Of several documents only the one that is shown has places to show.
        guard state.past == .kept, state.document == key.document else { return }
        var opened = try TextCells(ledger).open(state, at: key)
        guard let archived = opened.archived else { return }
        let result = try StoreError.rejectingText { try opened.document.conflicts(history: opened.history) }
        if result.conflicts.isEmpty {
            if result.isComplete { found.settled.append(Settled(text: archived.number, nextEvent: archived.nextEvent)) }
            return
        }
        let times = try times(of: Set(result.conflicts.flatMap { $0.versions.flatMap(\.changes) }), archived)
        for conflict in result.conflicts {
            let lines = Conflict.Lines(
                range: conflict.line, place: conflict.place, shown: opened.document.text.string(in: conflict.line), before: conflict.before)
            let versions = conflict.versions.compactMap { version -> Conflict.Version? in
                let stamps = version.changes.compactMap { dot in times[dot].map { Stamp(dot: dot, timestamp: $0) } }
                guard let last = stamps.max(by: { ($0.timestamp, $0.dot) < ($1.timestamp, $1.dot) }) else { return nil }
                return Conflict.Version(value: .text(Array(version.text.utf8)), stamp: last, author: authors[last.dot.replica])
            }
            found.conflicts.append(
                Conflict(kind: .text(lines), table: tracked.sqlName, row: key.id, column: name, versions: versions))
        }
    }

    private func times(of dots: Set<Dot>, _ archived: ArchivedText) throws -> [Dot: HybridTimestamp] {
        var times: [Dot: HybridTimestamp] = [:]
        try StoredTextHistory(archive: TextArchive(ledger: ledger), text: archived.number).forEachPart(
            before: archived.nextEvent, downTo: 0
        ) { part in
            for change in part where dots.contains(change.header.dot) { times[change.header.dot] = change.timestamp }
        } until: {
            times.count == dots.count
        }
        return times
    }
}
