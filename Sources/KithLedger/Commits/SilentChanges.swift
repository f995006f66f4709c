import KithCausality
import KithSQLite
import KithSync

/// Marks that the silent changes of one process have drawn, one after the other.
///
/// A change is silent if no commit lives in the row that was not known before: a row is shown that waited for another one, hidden with
/// it, mended or forgotten. The index of commits does not tell of such changes. So each draws a new mark in the file, by which a live list
/// sees that there were some, and whether all were those of its own process.
package struct SilentMarks: Sendable {
    private var ends: (from: ColumnValue?, to: ColumnValue?)?
    /// Whether another process has drawn one in between, or one was taken back.
    private var isBroken = false

    package init() {}

    package var isEmpty: Bool { ends == nil }

    mutating func note(from: ColumnValue?, to: ColumnValue?) {
        guard let known = ends else { return ends = (from, to) }
        if known.to != from { isBroken = true }
        ends = (known.from, to)
    }

    mutating func add(_ later: SilentMarks) {
        guard let ends = later.ends else { return }
        note(from: ends.from, to: ends.to)
        isBroken = isBroken || later.isBroken
    }

    /// Whether these, and no others, were drawn after `old` up to `new`.
    package func lead(from old: ColumnValue?, to new: ColumnValue?) -> Bool {
        guard let ends else { return old == new }
        return !isBroken && ends.from == old && ends.to == new
    }
}

extension RowLedger {
    /// What a row shows has changed, or what is known of it was forgotten, without a new commit in it.
    package func noteSilentChange(_ table: Int, _ id: RowID) throws {
        touch(table, id)
        try noteSilentChanges()
    }

    /// The same of rows that are touched one by one.
    package func noteSilentChanges() throws {
        let records = MetaRecords(connection)
        let before = try records.silentMark()
        try records.drawSilentMark()
        if let touched, touched.isWanted { touched.noteSilent(from: before, to: try records.silentMark()) }
    }
}
