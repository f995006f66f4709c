import GRDB
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

/// Which texts wait for their turn, and which of them take too much.
struct TextTurns {
    var isUnderWay = false
    /// Whether somebody else had texts for the thread that is at it.
    var isAskedAgain = false
    /// Texts that would need more of their history than may be read, as they were when that was found.
    var tooLong: [TextKey: TextStanding] = [:]
}

extension SyncedDatabase {
    /// Takes what came for texts and was too much for one transaction, a portion in each, so that others write in between.
    ///
    /// A text of which too much was changed at once stays as it is: what came for it is kept, passed on, and named by
    /// ``refusedTextChanges(max:)``. It is tried again when more has come. Returns at once if another thread is at it.
    package func takeTextTurns() throws {
        let isFree = textTurns.withLock { turns in
            (turns.isUnderWay, turns.isAskedAgain) = (true, turns.isUnderWay)
            return !turns.isAskedAgain
        }
        guard isFree else { return }
        var isOver = false
        defer { if !isOver { textTurns.withLock { $0.isUnderWay = false } } }
        while !isOver {
            var left = false
            for key in try read(rows: false, { try TurnRows($0).keys() }) {
                if try takeTurns(of: key) { continue }
                left = true
            }
            if !left { try writeMerged { _, state in state.ledger.hasTextTurns = try !TurnRows(state.ledger).keys().isEmpty } }
            // What came meanwhile was left to this thread.
            isOver = textTurns.withLock { turns in
                (turns.isUnderWay, turns.isAskedAgain) = (turns.isAskedAgain, false)
                return !turns.isUnderWay
            }
        }
    }

    /// - Returns: `false` if the text takes too much.
    private func takeTurns(of key: TextKey) throws -> Bool {
        while true {
            let standing = try read(rows: false) { try TextCells($0).standing(of: key) }
            if textTurns.withLock({ $0.tooLong[key] == standing }) { return false }
            let turn = try update(key, keeping: { $0 != .tooLong }) { texts, text in try texts.takeTurn(of: &text, at: key) }
            switch turn ?? .over {
            case .over: return true
            case .taken: break
            case .tooLong:
                guard let prepared = try prepare(key) else {
                    textTurns.withLock { $0.tooLong[key] = standing }
                    return false
                }
                try write(prepared, key)
            }
            while try writeMerged({ _, state in try TextCells(state.ledger).packSome(at: key) }) {}
        }
    }

    /// Computes a merge on a reading connection.
    private func prepare(_ key: TextKey) throws -> TextCells.Prepared? {
        try read { [options] ledger in
            ledger.textBudget = options.textBudget
            guard let table = ledger.catalog[key.table],
                case .text(let text)? = try RowCandidates(ledger: ledger).find(table, key.id)?.state[key.column]
            else { return nil }
            return try TextCells(ledger).prepare(text.adopted == nil ? text : text.part(key.document), at: key)
        }
    }

    /// Changes a text in a transaction of its own, and shows what it is then.
    ///
    /// - Returns: what `body` says; `nil` if there is no such text any more.
    private func update<Result>(
        _ key: TextKey, keeping: (Result?) -> Bool = { _ in true }, _ body: (TextCells, inout TextState) throws -> Result
    ) throws -> Result? {
        var refusals: [RowKey: String] = [:]
        while true {
            do {
                return try writeMerged(keeping: keeping) { [refusals] db, state in
                    state.ledger.refusals = refusals
                    defer { state.ledger.refusals.removeAll() }
                    let (ledger, records) = (state.ledger, VectorRecords(connection: state.ledger.connection))
                    let vector = try records.vector(ledger.catalog)
                    signal.willMove(from: vector)
                    let merger = RowMerger(
                        ledger: ledger, clock: state.clock, own: try records.replica(ledger.catalog), vector: vector, vectorAfter: vector,
                        listed: try records.listed(ledger.catalog))
                    let result = try merger.updateText(key, body)
                    if writer.declarations.hasForeignKeys { try state.settleReferences(db) }
                    if let name = ledger.catalog[key.table]?.tracked?.sqlName { try state.notifyChanges(in: [name], db) }
                    let summary = try records.summary(ledger.catalog)
                    if summary.vector != vector { state.note(summary) }
                    return result
                }
            } catch let refused as TransactionRefused where refused.row.map({ refusals[$0] == nil }) ?? false {
                if let row = refused.row { refusals[row] = refused.message }
            }
        }
    }

    /// Writes a prepared merge, unless the text is another one by now.
    private func write(_ prepared: TextCells.Prepared, _ key: TextKey) throws {
        var prepared = prepared
        while true {
            let part = try update(key) { texts, text in
                var next = prepared
                let part = try texts.writePart(of: &next, in: &text, at: key)
                return (part, next)
            }
            guard let (part, next) = part, part == .more else { return }
            prepared = next
        }
    }
}
