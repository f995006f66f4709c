import KithLedger
import KithSync
import KithTexts

/// A row that is gone from its table, or may soon be, because another one takes its place.
package struct ReplacedRow {
    package let table: Int
    package let row: Int64
    package let id: RowID
    /// What the row showed, in the order of the tracked columns.
    package let values: [ColumnValue]
    /// Those that its clocks had.
    package var tombstones: [Tombstone] = []

    package init(table: Int, row: Int64, id: RowID, values: [ColumnValue], tombstones: [Tombstone] = []) {
        self.table = table
        self.row = row
        self.id = id
        self.values = values
        self.tombstones = tombstones
    }

    package func value(_ column: Int) -> ColumnValue? { column < values.count ? values[column] : nil }
}

/// The writes that are between their BEFORE and their AFTER trigger, with the rows that stand in their way.
///
/// SQLite carries REPLACE out as a deletion that fires no triggers, and an insertion. What stands in the way of a row is found
/// before it is written: rows of its id and of its rowid, for nothing else is unique in a tracked table. If the row is written
/// all the same, they were replaced. A write that came to nothing (IGNORE, an UPSERT, a failure) is never heard of again.
package struct OpenWrites {
    package struct Write {
        package let table: Int
        package let id: RowID
        /// The rowid that it asks for; not positive if SQLite chooses it.
        package let row: Int64
        /// Whether it inserts a row; else it moves one to another rowid.
        package let inserts: Bool
        /// Whether triggers of the app, or actions of foreign keys, may write anything before its AFTER trigger.
        let mayNest: Bool
    }

    /// A write that has replaced rows.
    package struct Replacement {
        package let write: Write
        /// What stood in its way.
        package var replaced: [ReplacedRow] = []
        /// The row of its id that was deleted meanwhile.
        package var deleted: ReplacedRow?
    }

    private var writes: [Write] = []
    /// What stands in the way of `writes`, by their places there. Most writes have nothing in their way, and so cost next to nothing.
    private var replacements: [Int: Replacement] = [:]

    /// Whether nothing is known to be open.
    package var isEmpty: Bool { writes.isEmpty }

    package mutating func removeAll() {
        writes.removeAll(keepingCapacity: true)
        replacements.removeAll()
    }

    /// Of what is open, each write but the outermost is made by a trigger, so that only so many can be: `depthMax` are kept.
    package mutating func begin(_ write: Write, depthMax: () throws -> Int) rethrows {
        dropEnded()
        if writes.count >= Self.countMin {
            let depth = try depthMax()
            if writes.count >= 2 * depth { removeFirst(writes.count - depth) }
        }
        writes.append(write)
    }

    private static let countMin = 64

    private mutating func removeFirst(_ count: Int) {
        writes.removeFirst(count)
        replacements = Dictionary(
            uniqueKeysWithValues: replacements.compactMap { index, value in index < count ? nil : (index - count, value) })
    }

    private mutating func removeLast() {
        writes.removeLast()
        if !replacements.isEmpty { replacements[writes.count] = nil }
    }

    /// Notes what stands in the way of the write that has just begun.
    package mutating func note(_ row: ReplacedRow) {
        if let last = writes.last { replacements[writes.count - 1, default: Replacement(write: last)].replaced.append(row) }
    }

    /// The table and id of the write that has just begun.
    package var last: Write? { writes.last }

    /// The AFTER trigger of a write has fired; those that began after it are over. Returns what it has replaced, if anything.
    package mutating func end(_ table: Int, _ id: RowID, inserts: Bool) -> Replacement? {
        guard let index = writes.lastIndex(where: { $0.table == table && $0.id == id && $0.inserts == inserts }) else {
            dropEnded()
            return nil
        }
        let replacement = replacements.isEmpty ? nil : replacements[index]
        while writes.count > index { removeLast() }
        dropEnded()
        return replacement
    }

    /// Forgets writes of tables in which nothing can be written before the AFTER trigger: something is.
    ///
    /// - Parameter deleted: but not the one that this row makes room for.
    mutating func dropEnded(unless deleted: ReplacedRow? = nil) {
        while let last = writes.last, !last.mayNest {
            if let deleted, last.table == deleted.table, last.inserts && last.id == deleted.id || last.row == deleted.row { return }
            removeLast()
        }
    }

    /// A row was deleted, perhaps in the midst of a REPLACE.
    mutating func didDelete(_ row: ReplacedRow) {
        for index in writes.indices where writes[index].table == row.table {
            replacements[index]?.replaced.removeAll { $0.id == row.id }
            if writes[index].inserts, writes[index].id == row.id {
                replacements[index, default: Replacement(write: writes[index])].deleted = row
            }
        }
    }

    /// What stands in the way of a row that is being moved to another rowid, and was deleted in the midst of that: by an action of a foreign
    /// key of what it has replaced, or by a trigger of the app. Its AFTER trigger is never fired.
    func inTheWay(ofMoving row: ReplacedRow) -> [ReplacedRow] {
        if replacements.isEmpty { return [] }
        return replacements.values.filter { !$0.write.inserts && $0.write.table == row.table && $0.write.id == row.id }
            .flatMap(\.replaced)
    }

    /// A row was written, perhaps while another of the same id or rowid is.
    mutating func didWrite(_ table: Int, _ id: RowID, _ row: Int64, _ read: () throws -> ReplacedRow?) rethrows {
        for index in writes.indices where writes[index].table == table {
            replacements[index]?.replaced.removeAll { $0.id == id }
            let stands = writes[index].inserts && writes[index].id == id || writes[index].row == row && writes[index].id != id
            if stands, let row = try read() { replacements[index, default: Replacement(write: writes[index])].replaced.append(row) }
        }
    }
}
