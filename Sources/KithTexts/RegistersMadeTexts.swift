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
package struct RegistersMadeTexts {
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
        self.pairs = pairs
    }

    /// Puts changes of texts in the place of writes of registers.
    ///
    /// - Parameters:
    ///   - held: what is held of the row, if `state` is a part of it that a peer has sent.
    ///   - shown: for a text column, what its register shows where the state does not say it.
    /// - Returns: writes that may have been seen by whoever edited the text since: see ``mark(_:in:table:id:_:)``.
    package func carryOver(_ state: inout RowState, beside held: RowState? = nil, shown: (Int) -> ColumnValue? = { _ in nil }) -> [Mark] {
        var marks: [Mark] = []
        for (registerColumn, textColumn) in pairs {
            guard case .register(var register)? = state[registerColumn] else { continue }
            // A newer version has made a register of the text, and found there what stands in it.
            if case .text(let text)? = held?[textColumn], text.isWritten, register.writes.contains(where: \.stamp.isAdopted) {
                register.writes.removeAll(where: \.stamp.isAdopted)
                if register.writes.isEmpty { continue }
            }
            state[registerColumn] = nil
            if register.writes.isEmpty { continue }
            var text = TextState()
            if case .text(let known)? = state[textColumn] { text = known }
            let isNew = text.touched.isEmpty
            let shownDot = register.shown?.stamp.dot
            for write in register.writes {
                let dot = write.stamp.dot
                text.touched.insert(dot)
                let value = dot == shownDot ? shown(textColumn) ?? write.value : write.value
                guard let bytes = value.utf8, String(validating: bytes, as: UTF8.self) != nil else { continue }
                if isNew { text.present.append(dot) } else { marks.append(Mark(column: textColumn, dot: dot)) }
                if !bytes.isEmpty { text.changes.append(TextState.Change(insertingAll: bytes, write.stamp)) }
            }
            state[textColumn] = .text(text)
        }
        return marks
    }

    /// A write that became a change of a text which had others already.
    package struct Mark {
        package let column: Int
        package let dot: Dot
    }

    /// Lets those of `marks` keep their text from being NULL on which no later change builds.
    package func mark(_ marks: [Mark], in state: inout RowState, table: Int, id: RowID, _ cells: TextCells) throws {
        for mark in marks {
            guard case .text(var text)? = state[mark.column], !text.present.contains(mark.dot) else { continue }
            let opened = try cells.open(text, at: TextKey(table: table, id: id, column: mark.column))
            guard opened.document.version.contains(mark.dot) else { continue }
            text.present = (text.present + [mark.dot]).sorted()
            state[mark.column] = .text(text)
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
