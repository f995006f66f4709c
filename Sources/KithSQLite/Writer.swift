import KithCausality
import KithSync

/// Who makes the writes that a connection sees. Capture asks it of every write of a tracked table.
package enum Writer {
    /// The app: what it writes is noted.
    case app
    /// Kith for the app, which has noted this insertion or update of a row itself. What triggers of the app make of it is the app's.
    case noted(table: Int, id: RowID, inserts: Bool)
    /// Kith, which shows what was noted elsewhere. What triggers of the app write to tracked tables meanwhile is passed over: it was
    /// noted where the change was made, and arrives as data; done again here, it would count twice.
    case merge
    /// The same, and this row is yet to be written. What comes before it is made by triggers that fire before Kith's.
    case mergedRow(MergedRow)
}

/// The row of the app's table that a merge writes next.
package enum MergedRow: Hashable, Sendable {
    case new(table: Int, id: RowID)
    /// By rowid.
    case shown(table: Int, row: Int64)
}

extension DatabaseConnection {
    /// Runs `body` as `writer`. Every other way in and out of a scope leads through here.
    package func writing<Result, Failure: Error>(
        as writer: Writer, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = self.writer
        self.writer = writer
        defer { self.writer = before }
        // A row may be longer with its clocks than a row of the app may be.
        if case .merge = writer { return try withoutLengthLimit(body) }
        return try body()
    }

    /// Runs `body`, which writes `row` of the app's table: within a merge, not by a trigger. A trigger that fires before Kith's may
    /// keep Kith from hearing of it.
    package func writingRow<Result, Failure: Error>(
        _ row: MergedRow, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if case .merge = writer { return try writing(as: .mergedRow(row), body) }
        return try body()
    }

    /// Whether what is shown now was noted elsewhere.
    package var isMerging: Bool {
        switch writer {
        case .app, .noted: false
        case .merge, .mergedRow: true
        }
    }

    /// Whether the write of `row` that is about to happen follows from one that is merged.
    package func isEcho(_ row: MergedRow) -> Bool {
        switch writer {
        case .app, .noted: return false
        case .merge: return true
        case .mergedRow(let merged):
            if row != merged { return true }
            writer = .merge
            return false
        }
    }

    /// Whether Kith has noted the insertion or update that has just happened itself.
    package func isNoted(_ table: Int, _ id: RowID, inserts: Bool) -> Bool {
        guard case .noted(table, id, inserts) = writer else { return false }
        writer = .app
        return true
    }

    /// Runs `body` without a limit on the bytes that a value, or all values of a row together, may have.
    package func withoutLengthLimit<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let limit = limitLength(to: .max)
        defer { limitLength(to: limit) }
        return try body()
    }
}
