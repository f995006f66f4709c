import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Carries over what was written to a column when it was still a register.
///
/// A column of another kind is another column to peers. So each write of the register becomes the change that inserts its
/// value, under the write's own commit: all replicas that carry a write over make the same change of it, and a text that two
/// of them have carried over stands there once. Concurrent writes, of which a register shows one, all become part of the text.
/// What a later write of the register replaced is deleted again, by a commit of the store that carries it over.
package struct RegistersMadeTexts {
    private let table: Int
    /// For each text column of the app the register of the same name.
    private let pairs: [(register: Int, text: Int)]

    /// `nil` if the table has no such column.
    package init?(_ table: CatalogTable) {
        guard let tracked = table.tracked else { return nil }
        var pairs: [(register: Int, text: Int)] = []
        for (column, kind) in zip(tracked.columns, tracked.kinds) where kind == .text {
            let name = table.columns[column].key.name
            guard let register = table.columns.first(where: { $0.key.name == name && $0.key.kind == .register }) else { continue }
            pairs.append((register.number, column))
        }
        if pairs.isEmpty { return nil }
        self.table = table.number
        self.pairs = pairs
    }

    /// Writes of a register that became changes of a text.
    package struct Carried {
        let column: Int
        /// Of all of them.
        var dots: Set<Dot> = []
        /// Those that were not known yet; NULL as an empty text.
        var new: [Dot: String] = [:]
        /// Of those that came to a text with other changes. Whoever changed the text or made it NULL may have seen them or not.
        var marks: [Dot] = []
        /// Whether each of them is NULL.
        var isNull = true
    }

    /// Puts changes of texts in the place of writes of registers. What it returns is for ``settle(_:in:id:_:knowing:stamp:)``.
    ///
    /// - Parameters:
    ///   - held: what is held of the row, if `state` is a part of it that a peer has sent.
    ///   - shown: for a text column, what its register shows where the state does not say it.
    package func carryOver(
        _ state: inout RowState, beside held: RowState? = nil, shown: (Int) -> ColumnValue? = { _ in nil }
    ) -> [Carried] {
        var all: [Carried] = []
        for (registerColumn, textColumn) in pairs {
            guard case .register(var register)? = state[registerColumn] else { continue }
            var touched = VersionVector()
            if case .text(let text)? = held?[textColumn] {
                touched = text.touched
                // A newer version has made a register of the text, and found there what stands in it.
                if text.isWritten, register.writes.contains(where: \.stamp.isAdopted) {
                    register.writes.removeAll(where: \.stamp.isAdopted)
                    if register.writes.isEmpty { continue }
                }
            }
            state[registerColumn] = nil
            if register.writes.isEmpty { continue }
            var text = TextState()
            if case .text(let known)? = state[textColumn] { text = known }
            let isNew = text.touched.isEmpty
            let shownDot = register.shown?.stamp.dot
            var carried = Carried(column: textColumn)
            for write in register.writes {
                let dot = write.stamp.dot
                carried.dots.insert(dot)
                text.touched.insert(dot)
                let value = dot == shownDot ? shown(textColumn) ?? write.value : write.value
                let string = value.utf8.flatMap { String(validating: $0, as: UTF8.self) }
                if value == .null || string != nil, !touched.covers(dot) { carried.new[dot] = string ?? "" }
                if value != .null { carried.isNull = false }
                guard let string else { continue }
                if isNew { text.present.append(dot) } else { carried.marks.append(dot) }
                if !string.isEmpty { text.changes.append(TextState.Change(insertingAll: Array(string.utf8), write.stamp)) }
            }
            state[textColumn] = .text(text)
            all.append(carried)
        }
        return all
    }

    /// Lets those of `carried` keep their text from being NULL on which no later change builds, and deletes what they replaced.
    ///
    /// - Parameters:
    ///   - theirs: what a peer that has sent the writes knows.
    ///   - stamp: makes a commit of this store, if one is needed; without it nothing is deleted.
    package func settle(
        _ carried: [Carried], in state: inout RowState, id: RowID, _ cells: TextCells, knowing theirs: VersionVector = VersionVector(),
        stamp: (() throws -> Stamp)? = nil
    ) throws {
        for writes in carried {
            guard case .text(var text)? = state[writes.column] else { continue }
            let key = TextKey(table: table, id: id, column: writes.column)
            try mark(writes.marks, in: &text, cells, at: key)
            if let stamp, !writes.new.isEmpty {
                var left = Carried.comparedMax
                try cells.removeInsertions(
                    in: &text, at: key, besides: writes.dots, where: { writes.replace($0, $1, knowing: theirs, comparing: &left) },
                    isNull: writes.isNull, stamp: stamp)
            }
            state[writes.column] = .text(text)
        }
    }

    private func mark(_ marks: [Dot], in text: inout TextState, _ cells: TextCells, at key: TextKey) throws {
        for dot in marks where !text.present.contains(dot) {
            let opened = try cells.open(text, at: key)
            if opened.document.version.contains(dot) { text.present = (text.present + [dot]).sorted() }
        }
    }
}

extension RegistersMadeTexts.Carried {
    /// Bytes that one merge of a text compares: a member can send any number of writes.
    static let comparedMax = 16 << 20

    /// Whether these writes make the insertion of `text` by the commit `dot` superfluous: the same device has written later, or another
    /// device that knows `dot` has written all lines of the text.
    ///
    /// A device that knows a commit need not have shown it: the older app shows nothing of what was typed with the newer one. So where
    /// lines are missing, the insertion stays.
    ///
    /// - Parameter left: how many bytes may be compared yet; without any the insertion stays.
    fileprivate func replace(_ dot: Dot, _ text: String, knowing theirs: VersionVector, comparing left: inout Int) -> Bool {
        if dots.contains(dot) { return false }
        if new.keys.contains(where: { $0.replica == dot.replica && $0.sequence > dot.sequence }) { return true }
        return theirs.covers(dot)
            && new.values.contains { value in
                left -= value.utf8.count + text.utf8.count
                return left >= 0 && value.keepsLines(of: text)
            }
    }
}

extension TextState {
    /// Whether somebody has written the text, so that it is not just one that was found.
    fileprivate var isWritten: Bool {
        switch past {
        case .none: false
        case .one(let stamp): !stamp.isAdopted
        case .kept: true
        }
    }
}

extension Cell {
    /// Whether the record of a cell holds its text: it came before the app's table had the column.
    package var holdsText: Bool {
        if case .text(let state) = self { state.text != nil } else { false }
    }
}
