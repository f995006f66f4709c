import Foundation
import GRDB
import KithLedger
import KithMerge
import KithSync
import KithText
import KithTexts

// The same calls for rows whose id the app has as a `UUID`.

extension Conflict {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { row.uuid }
}

extension TrashedRow {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { id.uuid }
}

extension RefusedRow {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { id.uuid }
}

extension HistoryChange {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { row.uuid }
}

extension UndoReport.Left {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { row.uuid }
}

extension RefusedTextChange {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { id.uuid }
}

extension UnshownRow {
    /// The row's id, as the app's records have it.
    public var uuid: UUID { id.uuid }
}

extension SyncedDatabase {
    // MARK: Conflicts

    /// ``conflicts(table:id:)`` of the row with this id.
    public func conflicts(table: String, id: UUID) throws(StoreError) -> [Conflict] {
        try conflicts(table: table, id: RowID(id))
    }

    /// ``conflicts(_:table:id:)`` of the row with this id.
    public func conflicts(_ db: Database, table: String, id: UUID) throws(StoreError) -> [Conflict] {
        try conflicts(db, table: table, id: RowID(id))
    }

    /// ``alternatives(table:id:)`` of the row with this id.
    public func alternatives(table: String, id: UUID) throws(StoreError) -> [Alternative] {
        try alternatives(table: table, id: RowID(id))
    }

    /// ``alternatives(_:table:id:)`` of the row with this id.
    public func alternatives(_ db: Database, table: String, id: UUID) throws(StoreError) -> [Alternative] {
        try alternatives(db, table: table, id: RowID(id))
    }

    /// ``resolve(_:table:id:column:keeping:)`` in the row with this id.
    public func resolve(_ db: Database, table: String, id: UUID, column: String, keeping value: ColumnValue) throws(StoreError) {
        try resolve(db, table: table, id: RowID(id), column: column, keeping: value)
    }

    /// ``saveValue(_:table:id:column:_:base:)`` in the row with this id.
    public func saveValue(
        _ db: Database, table: String, id: UUID, column: String, _ value: ColumnValue, base: ColumnValue
    ) throws(StoreError) {
        try saveValue(db, table: table, id: RowID(id), column: column, value, base: base)
    }

    /// Chooses a version of a conflict of whole values, as `resolve(_:table:id:column:keeping:)` does.
    public func resolve(_ db: Database, _ conflict: Conflict, keeping version: Conflict.Version) throws(StoreError) {
        try resolve(db, table: conflict.table, id: conflict.row, column: conflict.column, keeping: version.value)
    }

    /// ``supersededValues(table:id:)`` of the row with this id.
    public func supersededValues(table: String, id: UUID) throws(StoreError) -> [SupersededValue] {
        try supersededValues(table: table, id: RowID(id))
    }

    /// ``supersededValues(_:table:id:)`` of the row with this id.
    public func supersededValues(_ db: Database, table: String, id: UUID) throws(StoreError) -> [SupersededValue] {
        try supersededValues(db, table: table, id: RowID(id))
    }

    // MARK: Order by hand

    /// `move(_:to:in:among:)` of the rows with these ids.
    @discardableResult
    public func move(
        _ rows: [UUID], to place: Position.Place, in table: String, among condition: SQL? = nil
    ) throws(StoreError) -> Int {
        try move(rows.map { RowID($0) }, to: place, in: table, among: condition)
    }

    /// `move(_:_:to:in:among:)` of the rows with these ids.
    @discardableResult
    public func move(
        _ db: Database, _ rows: [UUID], to place: Position.Place, in table: String, among condition: SQL? = nil
    ) throws(StoreError) -> Int {
        try move(db, rows.map { RowID($0) }, to: place, in: table, among: condition)
    }

    // MARK: The trash

    /// ``restore(table:id:)`` of the row with this id.
    public func restore(table: String, id: UUID) throws(StoreError) {
        try restore(table: table, id: RowID(id))
    }

    /// ``restore(_:table:id:)`` of the row with this id.
    public func restore(_ db: Database, table: String, id: UUID) throws(StoreError) {
        try restore(db, table: table, id: RowID(id))
    }

    // MARK: Texts

    /// ``textVersion(table:id:column:)`` of the row with this id.
    public func textVersion(table: String, id: UUID, column: String) throws(StoreError) -> TextVersion {
        try textVersion(table: table, id: RowID(id), column: column)
    }

    /// ``textVersion(_:table:id:column:)`` of the row with this id.
    public func textVersion(_ db: Database, table: String, id: UUID, column: String) throws(StoreError) -> TextVersion {
        try textVersion(db, table: table, id: RowID(id), column: column)
    }

    /// ``text(table:id:column:at:)`` of the row with this id.
    public func text(table: String, id: UUID, column: String, at version: TextVersion) throws(StoreError) -> String {
        try text(table: table, id: RowID(id), column: column, at: version)
    }

    /// ``text(_:table:id:column:at:)`` of the row with this id.
    public func text(_ db: Database, table: String, id: UUID, column: String, at version: TextVersion) throws(StoreError) -> String {
        try text(db, table: table, id: RowID(id), column: column, at: version)
    }

    /// ``textRevisions(table:id:column:)`` of the row with this id.
    public func textRevisions(table: String, id: UUID, column: String) throws(StoreError) -> [TextRevision] {
        try textRevisions(table: table, id: RowID(id), column: column)
    }

    /// ``textRevisions(_:table:id:column:)`` of the row with this id.
    public func textRevisions(_ db: Database, table: String, id: UUID, column: String) throws(StoreError) -> [TextRevision] {
        try textRevisions(db, table: table, id: RowID(id), column: column)
    }

    /// ``saveText(_:table:id:column:_:base:)`` in the row with this id.
    public func saveText(
        _ db: Database, table: String, id: UUID, column: String, _ text: String, base: TextVersion
    ) throws(StoreError) {
        try saveText(db, table: table, id: RowID(id), column: column, text, base: base)
    }

    /// ``editText(_:table:id:column:_:base:)`` in the row with this id.
    public func editText(
        _ db: Database, table: String, id: UUID, column: String, _ operations: TextOperations, base: TextVersion? = nil
    ) throws(StoreError) {
        try editText(db, table: table, id: RowID(id), column: column, operations, base: base)
    }

    /// ``replaceText(_:table:id:column:_:in:with:base:)`` in the row with this id.
    public func replaceText(
        _ db: Database, table: String, id: UUID, column: String, _ range: Range<Int>, in unit: TextUnit, with text: String,
        base: TextVersion? = nil
    ) throws(StoreError) {
        try replaceText(db, table: table, id: RowID(id), column: column, range, in: unit, with: text, base: base)
    }

    /// ``restoreText(_:table:id:column:to:)`` in the row with this id.
    public func restoreText(_ db: Database, table: String, id: UUID, column: String, to version: TextVersion) throws(StoreError) {
        try restoreText(db, table: table, id: RowID(id), column: column, to: version)
    }

    // MARK: History

    /// ``history(table:id:limit:)`` of the row with this id.
    public func history(table: String, id: UUID, limit: Int = 1_000) throws(StoreError) -> [HistoryTransaction] {
        try history(table: table, id: RowID(id), limit: limit)
    }

    /// ``history(_:table:id:limit:)`` of the row with this id.
    public func history(_ db: Database, table: String, id: UUID, limit: Int = 1_000) throws(StoreError) -> [HistoryTransaction] {
        try history(db, table: table, id: RowID(id), limit: limit)
    }

    /// ``explain(_:table:id:column:)`` of the row with this id.
    public func explain(_ db: Database, table: String, id: UUID, column: String) throws(StoreError) -> Explanation {
        try explain(db, table: table, id: RowID(id), column: column)
    }

    /// ``explain(table:id:column:)`` of the row with this id.
    public func explain(table: String, id: UUID, column: String) throws(StoreError) -> Explanation {
        try explain(table: table, id: RowID(id), column: column)
    }

    /// ``revert(device:sinceMilliseconds:)`` since a date.
    @discardableResult
    public func revert(device: Author, since date: Date) throws(StoreError) -> UndoReport {
        try revert(device: device, sinceMilliseconds: MillisecondDate.milliseconds(date))
    }

    /// ``revert(_:device:sinceMilliseconds:)`` since a date.
    @discardableResult
    public func revert(_ db: Database, device: Author, since date: Date) throws(StoreError) -> UndoReport {
        try revert(db, device: device, sinceMilliseconds: MillisecondDate.milliseconds(date))
    }

    // MARK: Conflicts

    /// ``textConflicts(_:table:id:column:)`` in the row with this id.
    public func textConflicts(_ db: Database, table: String, id: UUID, column: String) throws(StoreError) -> [Conflict] {
        try textConflicts(db, table: table, id: RowID(id), column: column)
    }
}
