import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithText
import KithTexts

/// Texts that several people edit.
///
/// A plain `UPDATE` means that its author saw the current text. Whoever has a text open for longer (a page, an editor, a file)
/// remembers its version and saves against that:
///
///     let base = try store.textVersion(table: "note", id: id, column: "body")
///     …
///     try pool.write { db in
///         try store.saveText(db, table: "note", id: id, column: "body", edited, base: base)
///     }
///
/// In SQL: `UPDATE note SET body = kith_text(:new, :base, body) WHERE id = :id`, with the text that was loaded as the base.
extension SyncedDatabase {
    // MARK: Saving

    /// Saves `text`, which was made from the version `base`: what was changed since stays.
    ///
    /// Part of the transaction that is open on `db`. A save that changes nothing, or comes to what is there, writes nothing.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such visible row, text column or version; `valueRejected`
    ///   for a text past `TextLimits`.
    public func saveText(
        _ db: Database, table: String, id: RowID, column: String, _ text: String, base: TextVersion
    ) throws(StoreError) {
        try editText(db, table, id, column) { opened, dot in
            let new = TextBuffer(text)
            if new == opened.document.text { return [] }
            let loaded = try opened.document.text(at: base.dots, history: opened.history)
            let operations = TextOperations(from: loaded, to: new)
            return try opened.document.transform(operations, from: base.dots, as: dot, history: opened.history)
        }
    }

    /// Applies operations to the version `base` of a text, or to the current one; positions count scalars.
    ///
    /// - Throws: as ``saveText(_:table:id:column:_:base:)-(_,_,RowID,_,_,_)``; `valueRejected` for a position outside the text.
    public func editText(
        _ db: Database, table: String, id: RowID, column: String, _ operations: TextOperations, base: TextVersion? = nil
    ) throws(StoreError) {
        try editText(db, table, id, column) { opened, dot in
            guard let base else {
                _ = try operations.length(after: opened.document.text.count)
                return operations
            }
            return try opened.document.transform(operations, from: base.dots, as: dot, history: opened.history)
        }
    }

    /// Replaces a range of the current text, or of the version `base`; `unit` says what its bounds count.
    ///
    /// - Throws: as ``editText(_:table:id:column:_:base:)-(_,_,RowID,_,_,_)``; `valueRejected` also for a bound inside a character.
    public func replaceText(
        _ db: Database, table: String, id: RowID, column: String, _ range: Range<Int>, in unit: TextUnit, with text: String,
        base: TextVersion? = nil
    ) throws(StoreError) {
        try editText(db, table, id, column) { opened, dot in
            let loaded =
                try base.map { try opened.document.text(at: $0.dots, history: opened.history) } ?? opened.document.text
            let start = try loaded.position(at: range.lowerBound, in: unit)
            let end = try loaded.position(at: range.upperBound, in: unit)
            let operations = TextOperations([.delete(count: end - start, at: start), .insert(text, at: start)])
            guard let base else { return operations }
            return try opened.document.transform(operations, from: base.dots, as: dot, history: opened.history)
        }
    }

    /// Makes a text what it was at `version`, as a new change: what was written since stays in the history.
    public func restoreText(_ db: Database, table: String, id: RowID, column: String, to version: TextVersion) throws(StoreError) {
        try editText(db, table, id, column) { opened, _ in
            let old = try opened.document.text(at: version.dots, history: opened.history)
            return TextOperations(from: opened.document.text, to: old)
        }
    }

    private func editText(
        _ db: Database, _ table: String, _ id: RowID, _ column: String,
        _ operations: (inout TextCells.Opened, Dot) throws -> TextOperations
    ) throws(StoreError) {
        try change(table, db) { capture in try capture.editText(table: table, id: id, column: column, operations) }
    }

    // MARK: Versions

    /// The current version of a text.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if there is no such visible row or text column.
    public func textVersion(table: String, id: RowID, column: String) throws(StoreError) -> TextVersion {
        try readText(nil, table, id, column) { _, opened in TextVersion(opened.document.version) }
    }

    /// The same as a part of what is open on `db`.
    public func textVersion(_ db: Database, table: String, id: RowID, column: String) throws(StoreError) -> TextVersion {
        try readText(db, table, id, column) { _, opened in TextVersion(opened.document.version) }
    }

    /// The text at a version.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if there is no such visible row, text column or version.
    public func text(table: String, id: RowID, column: String, at version: TextVersion) throws(StoreError) -> String {
        try text(in: nil, table, id, column, version)
    }

    /// The same as a part of what is open on `db`.
    public func text(_ db: Database, table: String, id: RowID, column: String, at version: TextVersion) throws(StoreError) -> String {
        try text(in: db, table, id, column, version)
    }

    private func text(
        in db: Database?, _ table: String, _ id: RowID, _ column: String, _ version: TextVersion
    ) throws(StoreError) -> String {
        try readText(db, table, id, column) { _, opened in
            try opened.document.text(at: version.dots, history: opened.history).string
        }
    }

    /// The changes that made a text, newest first in the order in which they came to this store.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if there is no such visible row or text column.
    public func textRevisions(table: String, id: RowID, column: String) throws(StoreError) -> [TextRevision] {
        try textRevisions(in: nil, table, id, column)
    }

    /// The same as a part of what is open on `db`.
    public func textRevisions(_ db: Database, table: String, id: RowID, column: String) throws(StoreError) -> [TextRevision] {
        try textRevisions(in: db, table, id, column)
    }

    private func textRevisions(in db: Database?, _ table: String, _ id: RowID, _ column: String) throws(StoreError) -> [TextRevision] {
        try readText(db, table, id, column) { state, opened in
            guard let archived = opened.archived else {
                guard case .one(let stamp) = state.past else { return [] }
                return [
                    TextRevision(
                        version: TextVersion([stamp.dot]), stamp: state.author(of: stamp),
                        insertedScalars: opened.document.text.count, deletedScalars: 0)
                ]
            }
            var revisions: [TextRevision] = []
            guard case .stored(let history) = opened.history else { return [] }
            try history.forEachPart(before: archived.nextEvent, downTo: 0, for: .operations) { part in
                revisions += part.reversed().map { TextRevision($0, of: state) }
            }
            return revisions
        }
    }

    /// The changes of peers that could not be applied and were put aside, or whose turn has not come, at most `max`.
    public func refusedTextChanges(max limit: Int = 1_000) throws(StoreError) -> [RefusedTextChange] {
        try refusedTextChanges(in: nil, limit)
    }

    /// The same as a part of what is open on `db`.
    public func refusedTextChanges(_ db: Database, max limit: Int = 1_000) throws(StoreError) -> [RefusedTextChange] {
        try refusedTextChanges(in: db, limit)
    }

    private func refusedTextChanges(in db: Database?, _ limit: Int) throws(StoreError) -> [RefusedTextChange] {
        try read(in: db, rows: false) { ledger in
            let select = try AsideRows(ledger.connection).selecting(max: limit)
            var found: [RefusedTextChange] = []
            while try select.step() {
                guard let table = ledger.catalog[select.int(0)], table.columns.indices.contains(select.int(2)),
                    ledger.catalog.replicas.ids.indices.contains(select.int(3))
                else { continue }
                found.append(
                    RefusedTextChange(
                        table: String(decoding: table.name, as: UTF8.self), id: try select.rowID(1),
                        column: String(decoding: table.columns[select.int(2)].key.name, as: UTF8.self),
                        dot: Dot(
                            replica: ledger.catalog.replicas.ids[select.int(3)], sequence: UInt64(bitPattern: select.integer(4))),
                        reason: select.isNull(5) ? nil : String(decoding: select.blob(5), as: UTF8.self)))
            }
            return try found + postponedTextChanges(ledger, max: limit - found.count)
        }
    }

    /// Changes whose turn has not come.
    private func postponedTextChanges(_ ledger: RowLedger, max limit: Int) throws -> [RefusedTextChange] {
        var found: [RefusedTextChange] = []
        for key in try TurnRows(ledger).keys() {
            guard let table = ledger.catalog[key.table], table.columns.indices.contains(key.column) else { continue }
            for change in try TextCells(ledger).postponed(at: key, max: limit - found.count) {
                found.append(
                    RefusedTextChange(
                        table: String(decoding: table.name, as: UTF8.self), id: key.id,
                        column: String(decoding: table.columns[key.column].key.name, as: UTF8.self), dot: change.stamp.dot, reason: nil))
            }
        }
        return found
    }

    private func readText<Result>(
        _ db: Database?, _ table: String, _ id: RowID, _ column: String,
        _ body: (TextState, inout TextCells.Opened) throws -> Result
    ) throws(StoreError) -> Result {
        try read(in: db) { ledger in
            try StoreError.rejectingText {
                let cells = TextCells(ledger)
                let cell = try cells.find(table: table, id: id, column: column)
                var opened = try cells.open(cell.state, at: cell.key)
                return try body(cell.state, &opened)
            }
        }
    }
}

extension TextRevision {
    fileprivate init(_ change: ArchivedChange, of state: TextState) {
        var (inserted, deleted) = (0, 0)
        for operation in change.operations {
            switch operation {
            case .insert(let text, _): inserted += text.unicodeScalars.count
            case .delete(let count, _): deleted += count
            }
        }
        self.init(
            version: TextVersion([change.header.dot]),
            stamp: state.author(of: Stamp(dot: change.header.dot, timestamp: change.timestamp)),
            insertedScalars: inserted, deletedScalars: deleted)
    }
}

extension TextState {
    /// The commit of a change; of the first change of a text that was found, the commit that found it.
    fileprivate func author(of stamp: Stamp) -> Stamp {
        stamp.dot.replica == .nobody ? adopted?[document]?.found ?? stamp : stamp
    }
}

extension TextCells {
    /// A text cell of a visible row.
    struct Found {
        let key: TextKey
        let state: TextState
        let row: Int64
        /// Its place among the tracked columns.
        let index: Int
        let values: [ColumnValue]
        let stored: StoredRow
    }

    func find(table name: String, id: RowID, column: String) throws -> Found {
        let ledger = archive.ledger
        guard let (number, tracked) = ledger.tracked(name) else {
            throw StoreError(.notFound, "There is no tracked table \(name).")
        }
        let table = ledger.catalog.tables[number]
        guard let index = tracked.columns.firstIndex(where: { table.columns[$0].sqlName == column }), tracked.kinds[index] == .text
        else { throw StoreError(.notFound, "Table \(name) has no text column \(column).") }
        guard let visible = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(id),
            let stored = try ledger.storedRow(number, row: visible.row)
        else { throw StoreError(.notFound, "Table \(name) has no row \(id).") }
        return Found(
            key: TextKey(table: number, id: id, column: tracked.columns[index]),
            state: stored.text(tracked.columns[index], value: visible.values[index]), row: visible.row, index: index,
            values: visible.values, stored: stored)
    }
}

extension Capture {
    /// Applies to a text what `operations` says, as part of the open transaction's commit.
    func editText(
        table name: String, id: RowID, column: String,
        _ operations: (inout TextCells.Opened, Dot) throws -> TextOperations
    ) throws {
        let found = try texts.find(table: name, id: id, column: column)
        let table = ledger.catalog.tables[found.key.table]
        guard let tracked = table.tracked else { return }
        var (state, stored) = (found.state, found.stored)
        try StoreError.rejectingText {
            var opened = try texts.open(state, at: found.key)
            // The name decides between insertions at one place only; a save that comes to nothing makes no commit.
            let likely = try clock.nextDot(ledger.catalog)
            let edit = try operations(&opened, likely)
            if edit.isEmpty, !state.present.isEmpty { return }
            let (stamp, _) = try clock.stamp(ledger.catalog)
            let old = state.text
            try texts.edit(edit, in: &state, at: found.key, stamp)
            state.mark(isNull: false, stamp, replacing: old)
            let before = stored.liveDots
            var bare = state
            bare.text = nil
            stored.exceptions[found.key.column] = .text(bare)
            stored.exceptions.tombstones = []
            dropUnusedBase(&stored)
            try ledger.save(stored, found.key.table, row: found.row, id: id)
            try ledger.reindex(found.key.table, from: before, at: found.row, to: stored.liveDots, at: found.row)
            var values = found.values
            values[found.index] = state.shown
            willWriteNoted(found.key.table, id, values, insteadOf: found.values)
            // Only this update is noted already; what triggers of the app make of it is not.
            try connection.writing(as: .noted(table: found.key.table, id: id, inserts: false)) {
                try UserTable(connection: connection, table: table, tracked: tracked)
                    .update(found.row, from: found.values, to: values)
            }
        }
    }

    /// Begins a new life of a restored row's texts with what they were.
    func reviveTexts(of state: inout RowState, _ table: Int, _ id: RowID, _ stamp: Stamp) throws {
        for index in state.cells.indices {
            guard case .text(var text) = state.cells[index].cell else { continue }
            try texts.restart(
                with: text.shown.utf8, in: &text, at: TextKey(table: table, id: id, column: state.cells[index].column), stamp)
            state.cells[index].cell = .text(text)
        }
    }
}

extension SyncedDatabase {
    /// Packs the history of all texts as far as possible. Done by itself, text by text, when there is much to pack.
    package func packTexts() throws {
        try write { _, state in
            try TextArchive(ledger: state.ledger).packAll()
        }
    }
}
