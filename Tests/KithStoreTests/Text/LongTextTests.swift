import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A text whose history is too long for one slice never arrives, or arrives in pieces")
struct LongTextTests {
    /// Counts what waits for its row or its turn, and what was put aside.
    private static let waiting = """
        SELECT (SELECT coalesce(sum(count), 0) FROM kith_text_portion) + (SELECT count(*) FROM kith_text_turn) + (SELECT count(*) FROM kith_text_aside)
        """

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
        var preludes = Preludes()
        while slices.last?.isLast != true {
            let request = SliceRequest(
                since: summary.vector, resumption: summary.resumption, after: slices.last?.position, target: slices.last?.target,
                preludes: preludes)
            let slice = try author.store.slice(request, limits: limits)
            preludes.follow(slice)
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
        #expect(try reader.count(Self.waiting) == 0, sourceLocation: location)
        #expect(try reader.store.refusedTextChanges().isEmpty, sourceLocation: location)
        try reader.expectSound(location)
    }

    @Test func `as many changes as a slice takes travel with their row, one more travels ahead`() throws {
        let author = try Self.author()
        // The page has 20 changes, those around it one each, which stand in the same slice where there is room.
        let cases = [
            (22, [false]), (21, [false, false]), (20, [false, false, false]), (19, [false, true, false]),
            (10, [false, true, false, false]), (9, [false, true, true, false]),
        ]
        for (limit, expected) in cases {
            let reader = try TextStore(2)
            let slices = try Self.slices(of: author, for: reader, SliceLimits(textChangesMax: limit))
            #expect(slices.map(\.isPrelude) == expected, "\(limit)")
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
        #expect(try reader.count(Self.waiting) == 9)
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
        #expect(try reader.count(Self.waiting) == 0)
        try reader.receive(from: author)
        #expect(try reader.body(row: 2) == other.body(row: 2))
        try reader.expectSound()
        try third.receive(from: reader)
        try Self.expectWhole(third, as: other)
    }

    @Test func `the beginning of a row that was collected waits for the rest, whatever else arrives`() throws {
        let author = try TextStore(1)
        try author.insert("one", row: 2)
        for number in 1..<20 { try author.save("one, and \(number)", row: 2) }
        let (reader, silent) = (try TextStore(2), try TextStore(3))
        for store in [reader, silent] { try store.receive(from: author) }
        try silent.save("one, and more by who was silent", row: 2)
        try author.delete(row: 2)
        try reader.receive(from: author)
        try reader.store.emptyTrash()
        #expect(try reader.store.collectGarbage(acknowledged: [try author.store.vector()]) == 1)
        // All of it once more, as for somebody who has nothing.
        let slices = try Self.slices(of: silent, for: try TextStore(4), SliceLimits(textChangesMax: 5))
        try Self.apply(slices.dropLast(), to: reader)
        let count = try reader.count(Self.waiting)
        #expect(count > 0)
        try author.insert("another", row: 9)
        try reader.receive(from: author)
        #expect(try reader.count(Self.waiting) == count)
        try Self.apply(slices.suffix(1), to: reader)
        #expect(try reader.body(row: 2) == "one, and more by who was silent")
        #expect(try reader.count(Self.waiting) == 0)
        try reader.expectSound()
    }

    @Test func `beginnings alone do not keep the digest from being read`() throws {
        let author = try Self.author()
        let reader = try TextStore(2)
        let slices = try Self.slices(of: author, for: reader, SliceLimits(rowsMax: 1, textChangesMax: 3))
        let prelude = try #require(slices.first { $0.isPrelude })
        try Self.apply([prelude], to: reader)
        #expect(try reader.store.digest() != nil)
    }

    @Test func `sessions bring a long history to a new device`() throws {
        let author = try Self.author()
        let reader = try TextStore(2)
        let pair = try SessionPair(author.store, reader.store, limits: SliceLimits(textBytesMax: 200))
        #expect(pair.closings.isEmpty)
        try Self.expectWhole(reader, as: author)
    }

    @Test func `what is edited while a row with several long texts travels arrives, and no slice takes more than it may`() throws {
        let (columns, limit) = (["a", "b", "c", "d"], 5)
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, a TEXT, b TEXT, c TEXT, d TEXT)"
        let tables = [TrackedTable("note", texts: columns)]
        let (author, reader) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        try author.execute("INSERT INTO note VALUES (?, 'a', 'b', 'c', 'd')", [key(1)])
        for number in 1...3 {
            for column in columns { try author.execute("UPDATE note SET \(column) = \(column) || ' \(number)'") }
        }
        var request = SliceRequest(since: VersionVector())
        var preludes = Preludes()
        while true {
            let slice = try author.store.slice(request, limits: SliceLimits(textChangesMax: limit))
            #expect(slice.rows[0].state.cells.reduce(0) { $0 + $1.cell.changeCount } <= limit)
            _ = try reader.store.apply(slice)
            if slice.isLast { break }
            preludes.follow(slice)
            request = SliceRequest(since: request.since, after: slice.position, target: slice.target, preludes: preludes)
            for column in columns.prefix(2) { try author.execute("UPDATE note SET \(column) = \(column) || ' again'") }
        }
        #expect(try reader.row(rowID(1)) == author.row(rowID(1)))
        try reader.receive(from: author)
        for column in columns {
            let revisions = try reader.store.textRevisions(table: "note", id: rowID(1), column: column)
            #expect(try revisions == author.store.textRevisions(table: "note", id: rowID(1), column: column))
        }
        #expect(try reader.store.digest() == author.store.digest())
        try reader.expectSound()
    }

    @Test func `of a text is kept what the limits allow, and a slice beyond is refused`() throws {
        let slices = try Self.slices(of: Self.author(), for: TextStore(2), SliceLimits(textChangesMax: 5))
        func kept(_ change: (inout SyncedDatabase.Options) -> Void) throws -> (changes: Int, bytes: Int, isRefused: Bool) {
            let database = try DatabaseQueue()
            try database.write { try $0.execute(sql: TextStore.sql) }
            var options = TestStore.options()
            change(&options)
            let store = try SyncedDatabase(database, tables: [TextStore.page], options: options)
            var isRefused = false
            do {
                for slice in slices.dropLast(2) { _ = try store.apply(slice) }
            } catch let error as StoreError where error.code == .sliceRejected {
                isRefused = true
            }
            let sums = try database.read { try Row.fetchOne($0, sql: "SELECT sum(count), sum(length(changes)) FROM kith_text_portion") }
            return (sums?[0] ?? 0, sums?[1] ?? 0, isRefused)
        }
        let all = try kept { _ in }
        #expect(all.changes == 15 && !all.isRefused)
        #expect(try kept { $0.earlyChanges.changesMax = 15 } == all)
        #expect(try kept { $0.earlyChanges.bytesMax = all.bytes } == all)
        for tooLittle in [try kept { $0.earlyChanges.changesMax = 14 }, try kept { $0.earlyChanges.bytesMax = all.bytes - 1 }] {
            #expect(tooLittle.isRefused && tooLittle.changes == 10)
        }
    }

    @Test func `what came ahead of a row that will not come goes, and is not kept twice`() throws {
        let author = try Self.author()
        let reader = try TextStore(2, .queue)
        let slices = try Self.slices(of: author, for: reader, SliceLimits(textChangesMax: 5))
        try Self.apply(slices.dropLast(2), to: reader)
        // What comes once more is not kept twice.
        try Self.apply([slices[1]], to: reader)
        #expect(try reader.count(Self.waiting) == 15)
        // Nobody can be bringing the row when the store is opened.
        reader.store.close()
        let again = try TextStore(2, .queue, folder: reader.inner.folder)
        #expect(try again.count(Self.waiting) == 0)
        try Self.apply(slices.dropLast(2), to: again)
        #expect(try again.count(Self.waiting) == 15)
        try author.delete(row: 2)
        try author.store.emptyTrash()
        #expect(try author.store.collectGarbage(acknowledged: []) == 1)
        try again.receive(from: author)
        #expect(try again.count(Self.waiting) == 0)
        try again.expectSound()
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

extension Cell {
    fileprivate var changeCount: Int { if case .text(let text) = self { text.changes.count } else { 0 } }
}
