import KithLedger
import KithSync

/// What a text said after earlier transactions: the changes of the journal, taken off one by one from what the text said before a reversion
/// wrote to it. The journal does not know yet what the reversion does.
struct TextPast {
    /// The changes from this transaction on are taken off.
    private var reached: Int64
    private var value: ColumnValue
    /// What the text began with in the life of the row that is shown; `nil` as long as that is the life of the changes that are taken off.
    private var beginning: ColumnValue?
    /// Whether `value` is of another life, which does not lead to `beginning`.
    private var isOtherLife = false
    /// Whether a change does not fit, so that nothing before it can be told.
    private var isBroken = false

    /// - Parameter end: what was done to the row from this transaction on is no part of what it says.
    init(_ shown: ColumnValue, before end: Int64) {
        value = shown
        reached = end
    }

    /// What the text said right after a transaction, each time an earlier one; `nil` if that cannot be told, or if the row has had another life
    /// since, in which the text began as another one.
    mutating func text(of row: RowKey, _ column: Int, after number: Int64, _ records: JournalRecords) throws -> [UInt8]? {
        for (_, change) in try records.changes(of: row, after: number, before: reached) where !isBroken {
            for content in change.columns where content.number == column { takeOff(content.content, isDeletion: change.kind == .delete) }
        }
        reached = min(reached, number + 1)
        guard !isBroken, !isOtherLife || value == beginning, case .text(let bytes) = value else { return nil }
        return bytes
    }

    private mutating func takeOff(_ content: JournalChange.Content, isDeletion: Bool) {
        switch content {
        case .splice(let start, let removed, let inserted):
            guard case .text(var bytes) = value, start + inserted.count <= bytes.count,
                bytes[start..<start + inserted.count].elementsEqual(inserted)
            else { return isBroken = true }
            // So that the bytes are not copied.
            value = .null
            bytes.replaceSubrange(start..<start + inserted.count, with: removed)
            value = .text(bytes)
        case .values(let old, _) where isDeletion:
            // What the row held when it was deleted.
            if beginning == nil { beginning = value }
            isOtherLife = old != beginning && (isOtherLife || value != old)
            value = old
        case .values(let old, let new):
            if new != value { isBroken = true }
            value = old
        }
    }
}
