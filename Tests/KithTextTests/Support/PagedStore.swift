import KithCausality
import KithText

/// A store in miniature: keeps changes as rows and packed chunks, and opens the document anew for every merge.
struct PagedStore: TextHistory {
    private(set) var text: [UInt8] = []
    private(set) var heads: [TextHead] = []
    private(set) var nextEvent = 0
    private var pages: [Page] = []
    private var ends: [Dot: Int] = [:]
    private let changesPerPage: Int

    private struct Page {
        let firstEvent: Int
        let graph: [UInt8]
        let isRestart: Bool
        let body: [UInt8]
    }

    init(changesPerPage: Int) {
        self.changesPerPage = changesPerPage
    }

    var string: String { String(decoding: text, as: UTF8.self) }

    func open() throws -> TextDocument {
        TextDocument(text: try TextBuffer(utf8: text), heads: heads, nextEvent: nextEvent)
    }

    func conflicts() throws -> TextConflicts {
        var document = try open()
        return try document.conflicts(history: self)
    }

    @discardableResult
    mutating func merge(_ changes: [TextChange]) throws -> TextMerge {
        try merge(changes, history: self)
    }

    /// The same with another view of what is stored.
    @discardableResult
    mutating func merge(_ changes: [TextChange], history: some TextHistory) throws -> TextMerge {
        var document = try open()
        var patched = document.text
        let outcome = try document.merge(changes, history: history)
        try patched.apply(outcome.patch)
        precondition(patched == document.text, "the patch must lead to the new text")
        try save(document, outcome.appended)
        return outcome
    }

    mutating func save(_ document: TextDocument, _ rows: [AppendedTextChange]) throws {
        var rest = rows[...]
        while let first = rest.first {
            // What the format of a chunk cannot say stands on a page of its own.
            let isRestart = first.header.isRestart
            let page = isRestart ? rest.prefix(1) : rest.prefix(changesPerPage).prefix { !$0.header.isRestart }
            pages.append(
                Page(
                    firstEvent: first.header.firstEvent,
                    graph: try TextChunk.encodeGraph(page.map { $0.header.with(isRestart: false) }), isRestart: isRestart,
                    body: TextChunk.encodeBody(page.map(\.change.operations))))
            rest = rest.dropFirst(page.count)
        }
        for row in rows { ends[row.header.dot] = row.header.lastEvent }
        (text, heads, nextEvent) = (document.text.utf8, document.heads, document.nextEvent)
    }

    func headers(endingAt end: Int) throws -> [TextChangeHeader] {
        guard let page = pages.last(where: { $0.firstEvent < end }) else { return [] }
        return try TextChunk.decodeGraph(page.graph, firstEvent: page.firstEvent).map { $0.with(isRestart: page.isRestart) }
    }

    func operations(in events: Range<Int>) throws -> [TextOperations] {
        return try pages.flatMap { page in
            let headers = try TextChunk.decodeGraph(page.graph, firstEvent: page.firstEvent)
            return zip(headers, try TextChunk.decodeBody(page.body, headers: headers))
                .filter { events.contains($0.0.firstEvent) }.map(\.1)
        }
    }

    func lastEvent(of dot: Dot, before end: Int) throws -> Int? {
        ends[dot].flatMap { $0 < end ? $0 : nil }
    }
}

extension TextChangeHeader {
    fileprivate func with(isRestart: Bool) -> TextChangeHeader {
        TextChangeHeader(firstEvent: firstEvent, length: length, dot: dot, parents: parents, isRestart: isRestart)
    }
}
