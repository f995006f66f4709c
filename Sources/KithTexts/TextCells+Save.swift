import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Edits made here. Each becomes part of the transaction's one change of the text.
extension TextCells {
    /// A plain save: what differs from the current text is inserted and deleted. `nil` is NULL.
    package func save(_ new: [UInt8]?, in state: inout TextState, at key: TextKey, _ stamp: Stamp) throws {
        try StoreError.rejectingText {
            let old = state.text
            let current = state.past == .none ? [] : state.text ?? []
            if new ?? [] != current {
                let operations = TextOperations(from: try TextBuffer(utf8: current), to: try TextBuffer(utf8: new ?? []))
                try edit(operations, in: &state, at: key, stamp)
            }
            state.mark(isNull: new == nil, stamp, replacing: old)
        }
    }

    /// A save of which it is known what it does to the current text.
    package func save(_ operations: TextOperations, in state: inout TextState, at key: TextKey, _ stamp: Stamp) throws {
        let old = state.text
        try StoreError.rejectingText { try edit(operations, in: &state, at: key, stamp) }
        state.mark(isNull: false, stamp, replacing: old)
    }

    /// Applies operations to the current text.
    package func edit(_ operations: TextOperations, in state: inout TextState, at key: TextKey, _ stamp: Stamp) throws {
        if operations.isEmpty { return }
        switch state.past {
        case .one(let first) where first.dot == stamp.dot:
            // Nobody has seen what this transaction wrote before.
            var text = try TextBuffer(utf8: state.text ?? [])
            try text.apply(operations)
            state.text = text.utf8
            if text.isEmpty { state.past = .none }
        case .kept where try archive.find(key.of(state))?.heads.map(\.dot) == [stamp.dot]:
            try extend(operations, in: &state, at: key)
        default:
            var opened = try open(state, at: key)
            let appended = try opened.document.edit(operations, as: stamp.dot)
            try keep([ArchivedChange(appended, stamp.timestamp)], of: opened, in: &state, at: key)
        }
    }

    /// Begins a new life of the cell with the text `new`: all that was there is deleted, and `new` can be understood without
    /// what was before, for others may have collected it. `nil` is NULL.
    package func restart(with new: [UInt8]?, in state: inout TextState, at key: TextKey, _ stamp: Stamp) throws {
        // Whatever was found belongs to the life that ends, and the new one is a document that nobody found.
        state.dismissVersions()
        state.show(0)
        guard state.past == .kept || (state.past != .none && state.past != .one(stamp)) else {
            return try save(new, in: &state, at: key, stamp)
        }
        try StoreError.rejectingText {
            var opened = try open(state, at: key)
            let length = opened.document.text.count
            if opened.archived?.heads.map(\.dot) == [stamp.dot] {
                // The transaction has changed the text before: the new life begins with what it left.
                return try save(new, in: &state, at: key, stamp)
            }
            let appended = try opened.document.restart(with: TextBuffer(utf8: new ?? []).string, as: stamp.dot)
            try keep(
                [ArchivedChange(appended, stamp.timestamp, replacedScalars: length)], of: opened, in: &state, at: key)
            state.mark(isNull: new == nil, stamp, replacing: nil)
        }
    }

    /// Adds operations to the change that the open transaction has made already.
    private func extend(_ operations: TextOperations, in state: inout TextState, at key: TextKey) throws {
        guard var archived = try archive.find(key.of(state)),
            let last = try archive.unpacked(archived.number, endingAt: archived.nextEvent, max: 1, operations: true).first
        else { throw TextArchive.corrupt }
        var text = try TextBuffer(utf8: state.text ?? [])
        try text.apply(operations)
        var all = last.operations
        all.append(operations)
        guard all.count <= TextLimits.operationsMax, all.eventCount <= TextLimits.changeEventsMax,
            text.count <= TextLimits.textScalarsMax
        else {
            throw TextError.limitExceeded(
                limit: "What one transaction changes in a text", value: all.eventCount, maximum: TextLimits.changeEventsMax)
        }
        let header = TextChangeHeader(
            firstEvent: last.header.firstEvent, length: all.eventCount, dot: last.header.dot, parents: last.header.parents,
            isRestart: last.header.isRestart)
        try archive.append(
            ArchivedChange(
                header: header, timestamp: last.timestamp, replacedScalars: last.replacedScalars, outside: last.outside,
                operations: all),
            to: archived)
        archived.heads = [TextHead(dot: header.dot, lastEvent: header.lastEvent)]
        archived.nextEvent = header.end
        try archive.save(archived)
        state.text = text.utf8
    }
}

extension TextState {
    /// Notes that a commit has written the cell.
    ///
    /// - Parameter old: what the text was before.
    package mutating func mark(isNull: Bool, _ stamp: Stamp, replacing old: [UInt8]?) {
        touched.insert(stamp.dot)
        present = isNull ? [] : [stamp.dot]
        if text == nil { text = [] }
        noteEdit(stamp, replacing: old)
    }
}

extension ArchivedChange {
    package init(_ appended: AppendedTextChange, _ timestamp: HybridTimestamp, replacedScalars: Int? = nil, outside: [Dot]? = nil) {
        self.init(
            header: appended.header, timestamp: timestamp, replacedScalars: replacedScalars, outside: outside,
            operations: appended.change.operations)
    }
}
