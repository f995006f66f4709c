import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A text whose history is too long for one slice never arrives, or arrives in pieces")
struct LongTextTests {
    /// A store whose page 2 has a history of 20 changes, between two pages that were never edited.
    private static func author() throws -> TextStore {
        let author = try TextStore(1)
        for row in 1...3 { try author.insert("page \(row)", row: UInt64(row)) }
        for number in 1..<20 { try author.save("page 2, and \(number) words of about the same length", row: 2) }
        return author
    }

    /// The slices of a delta, as a session asks for them.
    private static func slices(of author: TextStore, for reader: TextStore, _ limits: SliceLimits) throws -> [Slice] {
        let summary = try reader.store.summary()
        var slices: [Slice] = []
        var preludes = 0
        while slices.last?.isLast != true {
            let request = SliceRequest(
                since: summary.vector, resumption: summary.resumption, after: slices.last?.position, target: slices.last?.target,
                preludes: preludes)
            let slice = try author.store.slice(request, limits: limits)
            preludes = slice.isPrelude ? preludes + 1 : 0
            let frame = try FrameCodec.decode(FrameCodec.encode(.slice(slice, alsoSentTo: [])))
            #expect(frame == .slice(slice, alsoSentTo: []))
            slices.append(slice)
        }
        return slices
    }

    private static func apply(_ slices: some Sequence<Slice>, to reader: TextStore) throws {
        for slice in slices {
            guard case .applied = try reader.store.apply(slice) else { throw StoreError(.failed, "refused") }
        }
    }

    private static func expectWhole(_ reader: TextStore, as author: TextStore, _ location: SourceLocation = #_sourceLocation) throws {
        #expect(try reader.body(row: 2) == author.body(row: 2), sourceLocation: location)
        #expect(try reader.revisions(row: 2).count == author.revisions(row: 2).count, sourceLocation: location)
        #expect(try reader.store.digest() == author.store.digest(), sourceLocation: location)
        #expect(try reader.count("SELECT count(*) FROM kith_text_aside") == 0, sourceLocation: location)
        #expect(try reader.store.refusedTextChanges().isEmpty, sourceLocation: location)
        try reader.expectSound(location)
    }

    @Test func `as many changes as a slice takes travel with their row, one more travels ahead`() throws {
        let author = try Self.author()
        for (limit, expected) in [(20, [false]), (19, [true, false]), (10, [true, false]), (9, [true, true, false])] {
            let reader = try TextStore(2)
            // The first page stands in a slice of its own before a beginning.
            let slices = try Self.slices(of: author, for: reader, SliceLimits(textChangesMax: limit))
            #expect(slices.map(\.isPrelude) == (expected.count > 1 ? [false] : []) + expected, "\(limit)")
            try Self.apply(slices, to: reader)
            try Self.expectWhole(reader, as: author)
        }
    }

    @Test func `a row is shown as it was until all of it is there`() throws {
        let author = try Self.author()
        let reader = try TextStore(2)
        try reader.receive(from: author)
        let before = try author.body(row: 2)
        for number in 0..<10 { try author.save("edited again, \(number)", row: 2) }
        let slices = try Self.slices(of: author, for: reader, SliceLimits(textBytesMax: 1))
        #expect(slices.count(where: \.isPrelude) == 9)
        for slice in slices {
            #expect(try reader.body(row: 2) == before)
            #expect(try reader.revisions(row: 2).count == 20)
            #expect(try reader.store.verify().isSound)
            try Self.apply([slice], to: reader)
        }
        try Self.expectWhole(reader, as: author)
    }

    @Test func `a history that broke off is completed by another device, and one that came late is not needed`() throws {
        let author = try Self.author()
        let other = try TextStore(3)
        try other.receive(from: author)
        try other.save("quite another text", row: 2)
        let reader = try TextStore(2)
        let limits = SliceLimits(rowsMax: 1, textChangesMax: 3)
        let broken = try Self.slices(of: author, for: reader, limits)
        let count = (broken.firstIndex { $0.isPrelude } ?? 0) + 3
        try Self.apply(broken[..<count], to: reader)
        #expect(try !reader.exists(row: 2))
        #expect(try reader.count("SELECT count(*) FROM kith_text_aside") == 9)
        // What is kept for later is not said to anybody.
        #expect(try reader.store.refusedTextChanges().isEmpty)
        let third = try TextStore(4)
        try third.receive(from: reader)
        #expect(try !third.exists(row: 2))

        let rest = try Self.slices(of: other, for: reader, limits)
        #expect(rest.allSatisfy { slice in !slice.rows.contains { $0.id == rowID(1) } })
        try Self.apply(rest, to: reader)
        try Self.expectWhole(reader, as: other)
        try Self.apply([broken[count]], to: reader)
        try reader.receive(from: author)
        #expect(try reader.body(row: 2) == other.body(row: 2))
        try reader.expectSound()
        try third.receive(from: reader)
        try Self.expectWhole(third, as: other)
    }

    @Test func `sessions bring a long history to a new device`() throws {
        let author = try Self.author()
        let reader = try TextStore(2)
        let pair = try SessionPair(author.store, reader.store, limits: SliceLimits(textBytesMax: 200))
        #expect(pair.closings.isEmpty)
        try Self.expectWhole(reader, as: author)
    }

    @Test func `a beginning that claims to be more is refused`() throws {
        let author = try Self.author()
        let slices = try Self.slices(of: author, for: try TextStore(2), SliceLimits(textChangesMax: 5))
        let good = slices[1]
        #expect(good.isPrelude)
        func decoded(_ change: (inout Slice) -> Void) throws -> Frame? {
            var slice = good
            change(&slice)
            return try FrameCodec.decode(FrameCodec.encode(.slice(slice, alsoSentTo: [])))
        }
        #expect(try decoded { _ in } != nil)
        #expect(throws: WireError.self) { try decoded { $0.isLast = true } }
        #expect(throws: WireError.self) { try decoded { $0.rows.append($0.rows[0]) } }
        #expect(throws: WireError.self) {
            try decoded { $0.rows[0].state.tombstones = [Tombstone(dot: $0.target[0].dot, seen: $0.vector)] }
        }
    }
}
