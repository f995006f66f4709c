import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: bytes from a peer or a damaged disk crash the reader, or come back as another change.
@Suite struct CodecTests {
    @Test func `what is written is read back`() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var document = TextDocument()
            let rows = try document.merge(try RandomGraph.any(maybeRestarts: false, using: &random).changes).appended
            for row in rows {
                let operations = row.change.operations
                #expect(try TextOperations(steps: operations.encodedSteps, text: operations.encodedText) == operations)
            }
            let start = random.below(rows.count)
            let chunk = rows[start...]
            let headers = chunk.map(\.header)
            let graph = try TextChunk.encodeGraph(headers)
            #expect(try TextChunk.decodeGraph(graph, firstEvent: headers[0].firstEvent) == headers)
            let body = TextChunk.encodeBody(chunk.map(\.change.operations))
            #expect(try TextChunk.decodeBody(body, headers: headers) == chunk.map(\.change.operations))
        }
    }

    @Test func `the bytes are those of the format`() throws {
        let operations: TextOperations = [.insert("né", at: 300), .delete(count: 1, at: 301)]
        #expect(operations.encodedSteps == [4, 0xD8, 4, 3, 1])
        #expect(operations.encodedText == [0x6E, 0xC3, 0xA9])
        let headers = [
            TextChangeHeader(firstEvent: 10, length: 3, dot: dot(1, 7), parents: [9]),
            TextChangeHeader(firstEvent: 13, length: 1, dot: dot(1, 8), parents: [4, 9]),
        ]
        let replica = [UInt8](repeating: 0, count: 15) + [1]
        #expect(
            try TextChunk.encodeGraph(headers) == [1, 2, 1] + replica + [0, 2, 12, 0, 3, 1, 1, 1, 2, 9, 4])
    }

    @Test func `operations that do not add up are refused`() {
        let cases: [(steps: [UInt8], text: [UInt8])] = [
            ([], []),  // nothing
            ([0, 0], []),  // length 0
            ([4, 0], [0x61]),  // two scalars announced, one there
            ([2, 0], [0x61, 0x62]),  // one announced, two there
            ([2], [0x61]),  // no position
            ([2, 1], [0x61]),  // position -1
            ([2, 0x80], [0x61]),  // cut number
            ([0x82, 0], [0x61]),  // number with needless bytes
            ([2, 0], [0xFF]),  // invalid UTF-8
            ([2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x61]),  // more than 64 bits
            ([2, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0x61]),  // position of 2^63 - 1
        ]
        for (steps, text) in cases {
            #expect(throws: TextError.self, "\(steps)") { try TextOperations(steps: steps, text: text) }
        }
    }

    @Test func `headers that are not changes in a row are not written`() {
        let good = TextChangeHeader(firstEvent: 0, length: 2, dot: dot(1, 1), parents: [])
        let bad = [
            TextChangeHeader(firstEvent: 3, length: 1, dot: dot(1, 2), parents: []),
            TextChangeHeader(firstEvent: 2, length: 0, dot: dot(1, 2), parents: []),
            TextChangeHeader(firstEvent: 2, length: 1, dot: dot(1, 2), parents: [2]),
            TextChangeHeader(firstEvent: 2, length: 1, dot: dot(1, 2), parents: [1, 0]),
            TextChangeHeader(firstEvent: 2, length: 1, dot: dot(1, 2), parents: [-1]),
        ]
        for header in bad {
            #expect(throws: TextError.self) { try TextChunk.encodeGraph([good, header]) }
        }
        #expect(throws: TextError.self) { try TextChunk.encodeGraph([]) }
    }

    @Test func `mutated bytes are refused or read the same again`() throws {
        var random = SplitMix64(seed: 99)
        var readable = 0
        let corpus = try (0..<100).map { _ in try Self.packed(using: &random) }
        for _ in 0..<Soak.count(10_000) {
            let (graph, body, firstEvent) = Self.mutated(random.pick(corpus), using: &random)
            guard
                let headers = try decoded({ () throws(TextError) in
                    try TextChunk.decodeGraph(graph, firstEvent: firstEvent)
                })
            else { continue }
            readable += 1
            let again = try TextChunk.encodeGraph(headers)
            try #require(try TextChunk.decodeGraph(again, firstEvent: firstEvent) == headers)
            guard
                let operations = try decoded({ () throws(TextError) in
                    try TextChunk.decodeBody(body, headers: headers)
                })
            else { continue }
            try #require(TextChunk.encodeBody(operations) == body)
        }
        #expect(readable > 0)
    }

    @Test func `mutated operations are refused or written the same again`() throws {
        var random = SplitMix64(seed: 7)
        for _ in 0..<Soak.count(10_000) {
            var operations = TextOperations()
            for _ in 0..<1 + random.below(4) {
                if random.chance(50) {
                    operations.insert(random.pick(["a", "né", "😀"]), at: random.below(500))
                } else {
                    operations.delete(1 + random.below(300), at: random.below(500))
                }
            }
            let steps = operations.encodedSteps.mutated(using: &random)
            let text = random.chance(50) ? operations.encodedText.mutated(using: &random) : operations.encodedText
            if let read = try decoded({ () throws(TextError) in try TextOperations(steps: steps, text: text) }) {
                try #require(read.encodedSteps == steps && read.encodedText == text)
            }
        }
    }

    // MARK: Mutation

    private typealias Packed = (graph: [UInt8], body: [UInt8], firstEvent: Int)

    private static func packed(using random: inout SplitMix64) throws -> Packed {
        var document = TextDocument()
        let graph = try RandomGraph(sites: 3, changes: 6, using: &random)
        let rows = try document.merge(graph.changes).appended.dropFirst(random.below(3))
        return (
            try TextChunk.encodeGraph(rows.map(\.header)), TextChunk.encodeBody(rows.map(\.change.operations)),
            rows.first?.header.firstEvent ?? 0
        )
    }

    private static func mutated(_ packed: Packed, using random: inout SplitMix64) -> Packed {
        (
            random.chance(70) ? packed.graph.mutated(using: &random) : packed.graph,
            random.chance(70) ? packed.body.mutated(using: &random) : packed.body,
            random.chance(90) ? packed.firstEvent : random.below(30)
        )
    }

    /// The result, or `nil` when the bytes were refused with a proper error.
    private func decoded<T>(_ body: () throws(TextError) -> T) throws -> T? {
        do throws(TextError) { return try body() } catch {
            #expect(!error.description.isEmpty)
            return nil
        }
    }
}
