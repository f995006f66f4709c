import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Text cells with their history: what an edit or changes of others do to one.
package struct TextCells {
    package let archive: TextArchive

    package init(_ ledger: RowLedger) {
        archive = TextArchive(ledger: ledger)
    }

    /// A cell's document, and where the changes lie that it has not in memory.
    package struct Opened {
        package var document: TextDocument
        package var archived: ArchivedText?
        package let history: PastOfText
        /// How many steps a merge may take.
        var stepsMax = Int.max
    }

    /// - Parameters:
    ///   - needsText: whether the current text is read, too; the graph of changes does without it.
    ///   - readMax: how many older changes may be read; beyond, ``PastOfText/withinAllowance(_:)`` gives up.
    ///   - isForEachPurpose: see ``StoredTextHistory/init(archive:text:applied:readMax:isForEachPurpose:)``.
    package func open(
        _ state: TextState, at cell: TextKey, needsText: Bool = true, readMax: Int = .max, isForEachPurpose: Bool = false
    ) throws -> Opened {
        let key = cell.of(state)
        switch state.past {
        case .none:
            return Opened(document: TextDocument(), history: .inMemory)
        case .one(let stamp):
            var document = TextDocument()
            try document.edit([.insert(try TextBuffer(utf8: state.text ?? []).string, at: 0)], as: stamp.dot)
            return Opened(document: document, history: .inMemory)
        case .kept:
            guard let archived = try archive.find(key) else { throw TextArchive.corrupt }
            let document = TextDocument(
                text: needsText ? try TextBuffer(utf8: state.text ?? []) : TextBuffer(), heads: archived.heads,
                nextEvent: archived.nextEvent)
            let history = StoredTextHistory(
                archive: archive, text: archived.number, applied: archived.applied, readMax: readMax, isForEachPurpose: isForEachPurpose)
            return Opened(document: document, archived: archived, history: .stored(history))
        }
    }

    /// Keeps changes that were appended to an opened document, and makes `state` say what the cell is now.
    package func keep(
        _ appended: [ArchivedChange], of opened: Opened, in state: inout TextState, at cell: TextKey
    ) throws {
        let key = cell.of(state)
        guard let first = appended.first else { return }
        let text = opened.document.text.utf8
        defer { state.text = text }
        if case .none = state.past, appended.count == 1, first.isPlainRoot(of: opened.document.text.count) {
            state.past = .one(Stamp(dot: first.header.dot, timestamp: first.timestamp))
            return
        }
        var archived = try opened.archived ?? begun(of: state, at: key)
        if opened.archived != nil { try archive.dropStaged(archived) }
        for change in appended { try archive.append(change, to: archived) }
        try keepVersion(of: opened.document, appended, &archived)
        try archive.packIfLarge(archived)
        state.past = .kept
    }

    /// Keeps what an opened text, which has no history yet, has of one.
    func keepHistory(of opened: Opened, in state: inout TextState, at key: TextKey) throws {
        var archived = try begun(of: state, at: key)
        try keepVersion(of: opened.document, [], &archived)
        if state.text == nil { state.text = [] }
        state.past = .kept
    }

    /// Begins the history of a text with the change that inserted it.
    private func begun(of state: TextState, at key: TextKey) throws -> ArchivedText {
        var archived = try archive.create(key)
        if case .one(let stamp) = state.past {
            try archive.append(try root(stamp, state.text ?? []), to: archived)
            archived.note(stamp.dot)
        }
        return archived
    }

    /// Makes appended changes, which are in the history already, part of it.
    func keepVersion(of document: TextDocument, _ appended: [ArchivedChange], _ archived: inout ArchivedText) throws {
        for change in appended { archived.note(change.header.dot) }
        archived.heads = document.heads
        archived.nextEvent = document.nextEvent
        try archive.save(archived)
        if archived.heads.count > 1 || appended.contains(where: { $0.header.parents.count > 1 }) {
            try MergedTexts(ledger: archive.ledger).note(archived.number)
        }
    }

    /// The change that inserted a whole text.
    private func root(_ stamp: Stamp, _ text: [UInt8]) throws -> ArchivedChange {
        let operations = TextOperations([.insert(try TextBuffer(utf8: text).string, at: 0)])
        let header = TextChangeHeader(firstEvent: 0, length: operations.eventCount, dot: stamp.dot, parents: [])
        return ArchivedChange(header: header, timestamp: stamp.timestamp, operations: operations)
    }
}

/// Where older changes of an opened text are.
package enum PastOfText: TextHistory {
    case inMemory
    case stored(StoredTextHistory)

    package func headers(endingAt end: Int) throws -> [TextChangeHeader] {
        if case .stored(let history) = self { try history.headers(endingAt: end) } else { [] }
    }

    package func operations(in events: Range<Int>) throws -> [TextOperations] {
        if case .stored(let history) = self { try history.operations(in: events) } else { [] }
    }

    package func lastEvent(of dot: Dot, before end: Int) throws -> Int? {
        if case .stored(let history) = self { try history.lastEvent(of: dot, before: end) } else { nil }
    }

    /// What `body` gives; `nil` if it would have to read more older changes than it may.
    func withinAllowance<Result>(_ body: () throws -> Result) throws -> Result? {
        if case .stored(let history) = self { try history.withinAllowance(body) } else { try body() }
    }
}

extension ArchivedChange {
    /// Whether the change is just the insertion of a text of `length` scalars, made on nothing.
    fileprivate func isPlainRoot(of length: Int) -> Bool {
        header.parents.isEmpty && replacedScalars == nil && operations.count == 1 && header.length == length
    }
}

extension StoreError {
    /// Turns what is wrong with a text into the error of a statement or call of the app.
    package static func rejectingText<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as TextError {
            let code: StoreError.Code =
                switch error {
                case .damagedHistory: .corrupt
                case .unknownVersion: .notFound
                default: .valueRejected
                }
            throw StoreError(code, error.description)
        }
    }
}
