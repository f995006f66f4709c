import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Makes the app's tables obey their foreign keys, as a function of the merged state. See docs/store.md.
///
/// Looks at the rows that changed and at those that depend on them, however far: what could have lost its reason to be shown
/// is judged anew, and so is what waits for a row that is shown now.
package final class ReferenceSettler {
    private let ledger: RowLedger
    private let records: ReferenceRecords
    private let merger: RowMerger
    private let facts: RowFactsReader
    private var changed: Set<Int> = []

    /// - Parameter merger: shows and hides rows.
    package init(_ merger: RowMerger) {
        self.merger = merger
        ledger = merger.ledger
        records = ReferenceRecords(connection: merger.ledger.connection)
        facts = RowFactsReader(merger.ledger)
    }

    /// Settles the rows that were noted, in the transaction that is open. Foreign keys must be off, and capture suspended.
    ///
    /// - Returns: the numbers of the tables that changed.
    package func settle() throws -> Set<Int> {
        var rows = try records.takeUnsettled()
        while !rows.isEmpty {
            let refused = try settle(rows)
            // What was shown and hidden just now was noted, too.
            _ = try records.takeUnsettled()
            rows = refused
        }
        return changed
    }

    // MARK: One round

    /// Rows that are alive with all their parents, however far: to be shown in any case. The rest depends on each other.
    private var regular: [RowKey: Bool] = [:]
    /// Rows of which there are contents, and of all their parents, however far: to be shown if others need them.
    private var possible: [RowKey: Bool] = [:]
    /// Rows whose being shown is to be judged.
    private var doubtful: Set<RowKey> = []
    /// Rows that are shown without doubt.
    private var certain: Set<RowKey> = []
    private var visited: Set<RowKey> = []
    /// Whether the sidecar lists any, which spares most merges the question for each row.
    private var someWait = false
    private var someAreHeld = false

    /// - Returns: rows that a constraint of their table refused, which others may have relied on.
    private func settle(_ rows: [RowKey]) throws -> [RowKey] {
        regular.removeAll()
        possible.removeAll()
        doubtful.removeAll()
        certain.removeAll()
        visited.removeAll()
        (someWait, someAreHeld) = (try records.hasWaiting(), try records.hasHeld())
        try visit(rows.filter { row in try !(someAreHeld && records.isHeld(row)) || isRegular(row) || !hasCertainChild(row) })
        var verdict = try judge()
        var asked: Set<RowKey> = []
        while true {
            let fresh = verdict.shown.subtracting(asked).sorted()
            if fresh.isEmpty { break }
            asked.formUnion(fresh)
            for row in fresh { try visit(waiting(for: row)) }
            verdict = try judge()
        }
        for row in doubtful.union(certain).sorted() where someAreHeld || verdict.held.contains(row) {
            try records.hold(row, verdict.held.contains(row))
        }
        let refused = try show(certain.union(verdict.shown), hide: doubtful.subtracting(verdict.shown))
        for row in doubtful.union(certain).union(rows).sorted() { try substitute(around: row) }
        return refused
    }

    /// Sorts out rows that changed, or whose parents did, and what may depend on them: up, and down to those that wait.
    private func visit(_ rows: [RowKey]) throws {
        var stack = rows
        while let row = stack.popLast() {
            guard visited.insert(row).inserted else { continue }
            if try isRegular(row) {
                certain.insert(row)
                stack += try facts[row].parents(\.isHard).compactMap(\.self).filter { try !facts[$0].isShown }
            } else {
                stack += try doubt(row)
                // Rows below one that is not shown can bring it, once it is possible.
                if try !mayBeBrought(row) || !isPossible(row) { continue }
            }
            stack += try waiting(for: row)
        }
    }

    /// Takes up a row that is not regular, what was shown because of it, and what it was shown because of.
    ///
    /// - Returns: rows that should be shown without doubt, and are not.
    private func doubt(_ first: RowKey) throws -> [RowKey] {
        var stack = [first]
        var unshown: [RowKey] = []
        while let row = stack.popLast() {
            guard doubtful.insert(row).inserted else { continue }
            for reference in ledger.catalog[row.table]?.tracked?.referrers ?? [] where reference.isHard {
                stack += try children(of: row, reference)
            }
            for case let parent? in try facts[row].parents(\.isHard) where !doubtful.contains(parent) {
                if try isRegular(parent) {
                    if try !facts[parent].isShown { unshown.append(parent) }
                } else if try facts[parent].life != .absent, try !hasCertainChild(parent) {
                    stack.append(parent)
                }
            }
        }
        return unshown
    }

    /// Whether a row is shown for the sake of a child that stays, whatever becomes of the rows in doubt.
    private func hasCertainChild(_ row: RowKey) throws -> Bool {
        let own = try facts[row]
        guard own.isShown else { return false }
        for parent in own.parents(\.isHard) {
            guard let parent, try !doubtful.contains(parent) && facts[parent].isShown else { return false }
        }
        for reference in ledger.catalog[row.table]?.tracked?.referrers ?? [] where reference.rule == .restrict {
            let select = try selectChildren(of: row, reference)
            defer { select.reset() }
            // One is enough, of what may be very many.
            while let child = try records.nextRow(select) {
                guard !doubtful.contains(child), try facts[child].life == .alive else { continue }
                let stays = try facts[child].references.allSatisfy { entry in
                    guard let parent = entry.parent, entry.reference.isHard else { return !entry.reference.isHard }
                    if entry.reference.rule == .cascade { return try isRegular(parent) }
                    return try parent == row || !doubtful.contains(parent) && facts[parent].isShown
                }
                if stays { return true }
            }
        }
        return false
    }

    private func isRegular(_ row: RowKey) throws -> Bool {
        try isComplete(row, among: &regular) { $0 == .alive }
    }

    private func isPossible(_ row: RowKey) throws -> Bool {
        try isComplete(row, among: &possible) { $0 != .absent }
    }

    /// Whether a row is of the kind that is meant, and so are all its parents, however far.
    private func isComplete(_ row: RowKey, among known: inout [RowKey: Bool], _ isMeant: (RowFacts.Life) -> Bool) throws -> Bool {
        if let known = known[row] { return known }
        var ancestors: Set<RowKey> = []
        var stack = [row]
        while let row = stack.popLast() {
            guard known[row] == nil, try isMeant(facts[row].life), ancestors.insert(row).inserted else { continue }
            stack += try facts[row].parents(\.isHard).compactMap(\.self)
        }
        let part = try largestPart(of: ancestors, requires: { try facts[$0].parents(\.isHard) }, isGiven: { known[$0] ?? false })
        for row in ancestors { known[row] = part.contains(row) }
        return known[row] ?? false
    }

    private func mayBeBrought(_ row: RowKey) -> Bool {
        ledger.catalog[row.table]?.tracked?.mayBeBrought == true
    }

    /// Rows that refer to `row` without showing it.
    private func waiting(for row: RowKey) throws -> [RowKey] {
        guard someWait, let tracked = ledger.catalog.tracked(row.table) else { return [] }
        return try records.waiting(for: row, tracked.form)
    }

    /// Visible rows that refer to `row`.
    private func children(of row: RowKey, _ reference: Reference) throws -> [RowKey] {
        try records.rows(try selectChildren(of: row, reference)).sorted()
    }

    private func selectChildren(of row: RowKey, _ reference: Reference) throws -> PreparedStatement {
        guard let tracked = ledger.catalog[reference.child]?.tracked else { throw RowLedger.corruptRecord }
        let select = try ledger.connection.statement(
            "SELECT \(reference.child), \(quoted(tracked.key)) FROM \(tracked.mainName) WHERE \(reference.name) = ?")
        select.bind(1, row.id, as: reference.parentForm)
        return select
    }

    // MARK: The rule

    /// Which rows in doubt are shown, and which of them only because others need them.
    ///
    /// A row can be shown if all that it refers to can. Of those, an alive one is shown if its `CASCADE` parents are, and whoever
    /// is shown brings its `RESTRICT` parents; who is brought brings all of its own.
    private func judge() throws -> (shown: Set<RowKey>, held: Set<RowKey>) {
        let alive = try doubtful.filter { try facts[$0].life == .alive && isPossible($0) }
        var held: Set<RowKey> = []
        while true {
            let shown = try largestPart(
                of: alive.subtracting(held), requires: { try facts[$0].parents { $0.rule == .cascade } },
                isGiven: { try held.contains($0) || isGiven($0) })
            var more = held
            var stack: [RowKey] = []
            for row in shown { stack += try facts[row].parents { $0.rule == .restrict }.compactMap(\.self) }
            while let row = stack.popLast() {
                guard doubtful.contains(row), more.insert(row).inserted else { continue }
                stack += try facts[row].parents(\.isHard).compactMap(\.self)
            }
            if more == held { return (shown.union(held), held) }
            held = more
        }
    }

    /// Whether a row that is not in doubt is shown.
    private func isGiven(_ row: RowKey) throws -> Bool {
        if doubtful.contains(row) { return false }
        return try isRegular(row) || facts[row].isShown
    }

    // MARK: Making it so

    private func show(_ shown: Set<RowKey>, hide hidden: Set<RowKey>) throws -> [RowKey] {
        for row in hidden.sorted() {
            let before = try facts[row]
            // First: of a visible row the records say what was written where the table shows something else.
            if before.isShown {
                // Where a rule of the app keeps a deleted row, it stays, but not without what it refers to.
                let mayStay = try before.parents(\.isHard).allSatisfy { parent in
                    guard let parent, !hidden.contains(parent) else { return false }
                    return try shown.contains(parent) || facts[parent].isShown
                }
                try merger.hide(row, before.life == .alive ? .reference : .deleted, mayStay: mayStay)
                changed.insert(row.table)
                facts.forget(row)
            }
            if try before.life == .alive || before.life == .dead && mayBeBrought(row) && !isPossible(row) {
                try wait(row, before)
            } else {
                try records.stopWaiting(row)
            }
        }
        var refused: [RowKey] = []
        for row in shown.sorted() where try !facts[row].isShown {
            if try !merger.show(row) { refused.append(row) }
            facts.forget(row)
            changed.insert(row.table)
        }
        return refused
    }

    private func wait(_ row: RowKey, _ facts: RowFacts) throws {
        try records.stopWaiting(row)
        for entry in facts.references where entry.reference.isHard { try records.wait(row, entry.reference, for: entry.value) }
    }

    // MARK: References that something stands in for

    /// Lets columns show what they refer to, or what stands in for it, now that `row` is shown or not.
    private func substitute(around row: RowKey) throws {
        try substitute(in: row)
        let isShown = try facts[row].isShown
        for reference in ledger.catalog[row.table]?.tracked?.referrers ?? [] where !reference.isHard {
            if !isShown { for child in try children(of: row, reference) { try substitute(in: child) } }
            if isShown, reference.substitute == row.id {
                for child in try records.substituted(reference) { try substitute(in: child) }
            }
        }
        if isShown {
            for child in try waiting(for: row) where try facts[child].isShown { try substitute(in: child) }
        }
    }

    private func substitute(in row: RowKey) throws {
        let before = try facts[row]
        if !before.isShown { return }
        if before.references.contains(where: { !$0.reference.isHard }) { changed.insert(row.table) }
        for entry in before.references where !entry.reference.isHard {
            if let parent = entry.parent, try facts[parent].isShown {
                try records.stopWaiting(row, column: entry.reference.column)
                try merger.show(entry.value, in: row, entry.reference)
            } else {
                var value = ColumnValue.null
                if let id = entry.reference.substitute, try facts[RowKey(table: entry.reference.parent, id: id)].isShown {
                    value = entry.reference.parentForm.value(id)
                }
                try records.wait(row, entry.reference, for: entry.value)
                try merger.show(value, in: row, entry.reference)
            }
        }
    }
}
