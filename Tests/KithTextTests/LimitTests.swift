import KithCausality
import Testing

@testable import KithText

/// Risk: a limit that is not one, or that refuses what it promises.
@Suite struct LimitTests {
    private func isWithinLimits(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch TextError.limitExceeded(_, let value, let maximum) {
            #expect(value > maximum)
            return false
        }
    }

    private func shape(_ operations: TextOperations, parents: Int = 0) -> TextChange {
        TextChange(dot: dot(1, 1), parents: (0..<parents).map { dot(2, UInt64($0) + 1) }, operations: operations)
    }

    @Test(arguments: [(0, true), (1, false)])
    func `a change at each limit is accepted and one past it is not`(_ excess: Int, _ expected: Bool) throws {
        let parents = shape([.insert("x", at: 0)], parents: TextLimits.parentsMax + excess)
        #expect(try isWithinLimits { try parents.validateShape() } == expected)
        let large = shape([.delete(count: TextLimits.changeEventsMax + excess, at: 0)])
        #expect(try isWithinLimits { try large.validateShape() } == expected)
        let many = shape(TextOperations(repeatElement(.delete(count: 1, at: 0), count: TextLimits.operationsMax + excess)))
        #expect(try isWithinLimits { try many.validateShape() } == expected)
        #expect(
            try isWithinLimits {
                _ = try TextOperations(steps: many.operations.encodedSteps, text: [])
            } == expected)
        #expect(
            try isWithinLimits {
                _ = try TextOperations(steps: large.operations.encodedSteps, text: [])
            } == expected)
    }

    @Test func `a text at the limit can shrink and not grow`() throws {
        let longest = TextLimits.textScalarsMax
        func after(_ operations: TextOperations, _ before: Int) throws -> Bool {
            try isWithinLimits {
                _ = try TextChange.lengthAfter(operations, operations.steps.indices, before: before, stated: nil)
            }
        }
        #expect(try after([.insert("x", at: 0)], longest - 1))
        #expect(try !after([.insert("x", at: 0)], longest))
        #expect(try after([.insert("x", at: 0), .delete(count: 1, at: 9)], longest))
        #expect(try after([.delete(count: 1, at: 0)], longest + 10))
        #expect(try !after([.insert("x", at: 0)], longest + 10))
    }

    @Test func `a history at its limit takes no more events`() throws {
        func edit(_ events: Int) throws -> Bool {
            var document = TextDocument(
                text: TextBuffer("x"), heads: [TextHead(dot: dot(1, 1), lastEvent: events - 1)], nextEvent: events)
            return try isWithinLimits { try document.edit([.insert("y", at: 0)], as: dot(1, 2)) }
        }
        #expect(try edit(TextLimits.historyEventsMax))
        #expect(try !edit(TextLimits.historyEventsMax + 1))
    }

    @Test func `a chunk at its limit is packed and one past it is not`() throws {
        let headers = (0...TextLimits.chunkChangesMax).map {
            TextChangeHeader(firstEvent: $0, length: 1, dot: dot(1, UInt64($0) + 1), parents: $0 == 0 ? [] : [$0 - 1])
        }
        let longest = headers.dropLast()
        let packed = try TextChunk.encodeGraph(Array(longest))
        #expect(try TextChunk.decodeGraph(packed, firstEvent: 0).elementsEqual(longest))
        #expect(try !isWithinLimits { _ = try TextChunk.encodeGraph(headers) })
        var writer = ByteWriter()
        writer.append(CollectionOfOne(TextChunk.format))
        writer.count(TextLimits.chunkChangesMax + 1)
        #expect(try !isWithinLimits { _ = try TextChunk.decodeGraph(writer.bytes, firstEvent: 0) })
    }

    @Test func `more bytes than the limit are not even read`() throws {
        let bytes = [UInt8](repeating: 0, count: TextLimits.encodedBytesMax + 1)
        #expect(try !isWithinLimits { _ = try TextOperations(steps: bytes, text: []) })
        #expect(try !isWithinLimits { _ = try TextOperations(steps: [], text: bytes) })
        #expect(try !isWithinLimits { _ = try TextChunk.decodeGraph(bytes, firstEvent: 0) })
        #expect(try !isWithinLimits { _ = try TextChunk.decodeBody(bytes, headers: []) })
    }

    @Test func `a save with more edits than a change holds replaces the text`() throws {
        let places = TextLimits.operationsMax / 2 + 1
        let old = TextBuffer(String(repeating: "a b\n", count: places))
        let new = TextBuffer(String(repeating: "c b\n", count: places))
        #expect(
            Array(TextOperations(from: old, to: new).map { if case .delete = $0 { true } else { false } }) == [true, false])
    }

    @Test func `the fast path reads no history`() throws {
        var store = PagedStore(changesPerPage: 10)
        var parents: [Dot] = []
        for sequence in 1...300 as ClosedRange<UInt64> {
            let change = TextChange(dot: dot(1, sequence), parents: parents, operations: [.insert("x", at: 0)])
            let history = CountedHistory(store)
            try store.merge([change], history: history)
            #expect(history.reads == 0)
            parents = [change.dot]
        }
        let concurrent = TextChange(dot: dot(2, 1), parents: [dot(1, 299)], operations: [.insert("y", at: 0)])
        let history = CountedHistory(store)
        try store.merge([concurrent], history: history)
        #expect(history.reads > 0)
        #expect(history.reads <= 4)
    }
}
