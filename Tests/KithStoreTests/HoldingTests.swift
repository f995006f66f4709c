import Foundation
import GRDB
import GRDBSQLite
import KithCausality
import KithLedger
import KithStore
import KithSync
import Testing

/// The risk: an attachment counts as being with a member that never had it, or has it no longer.
@Suite struct HoldingTests {
    private let ids = (0..<5).compactMap { AttachmentID(bytes: Array(repeating: UInt8($0), count: 32)) }

    private func news(_ messages: AttachmentHoldings...) -> HoldingNews {
        var news = HoldingNews()
        for message in messages { news.hear(message) }
        return news
    }

    @Test func `what was heard before could be noted counts as if it had come at once`() {
        let messages: [AttachmentHoldings] = [
            .init(.also, [ids[0], ids[1]]), .init(.noLonger, [ids[1], ids[2]]), .init(.only, [ids[3]]), .init(.also, [ids[2]]),
            .init(.noLonger, [ids[3]]),
        ]
        for start in messages.indices {
            for cut in start...messages.count {
                var (earlier, later, whole) = (HoldingNews(), HoldingNews(), HoldingNews())
                for message in messages[start..<cut] { earlier.hear(message) }
                for message in messages[cut...] { later.hear(message) }
                for message in messages[start...] { whole.hear(message) }
                later.follow(earlier)
                #expect(later.replacesAll == whole.replacesAll)
                for before in [Set<AttachmentID>(), Set(ids)] { #expect(apply(later, to: before) == apply(whole, to: before)) }
            }
        }
    }

    private func apply(_ news: HoldingNews, to known: Set<AttachmentID>) -> Set<AttachmentID> {
        (news.replacesAll ? [] : known).subtracting(news.removed).union(news.added)
    }

    @Test(arguments: KeyForm.allCases) func `a row shows its attachments whatever the form of its id`(form: KeyForm) throws {
        let sql = "CREATE TABLE photo (id \(form == .blob ? "BLOB" : "TEXT") PRIMARY KEY NOT NULL, file TEXT)"
        let photos = try TestStore(.queue, sql: sql, tables: [TrackedTable("photo", attachments: ["file"], ids: form)])
        let id = try photos.store.attach([1, 2, 3])
        try photos.execute("INSERT INTO photo VALUES (\(form.literal(rowID(7))), ?)", [id.description])
        let held = [HeldAttachment(id: id, sizeBytes: 3, isHere: true, holders: [])]
        #expect(try photos.store.heldAttachments() == held)
        #expect(try photos.store.heldAttachments(table: "photo", id: rowID(7)) == held)
        #expect(try photos.store.heldAttachments(table: "photo", id: rowID(8)) == [])
    }

    @Test func `only what rows show is listed, with the members that said last that they have it`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-holding-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let queue = try DatabaseQueue(path: folder.appending(path: "test.sqlite").path)
        try queue.write { try $0.execute(sql: "CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)") }
        let store = try SyncedDatabase(queue, tables: [TrackedTable("photo", attachments: ["file"])])
        let (shown, loose) = (try store.attach([1, 2, 3]), try store.attach([4]))
        let row = try #require(RowID(bytes: Array(repeating: 7, count: 16)))
        try queue.write { db in
            try db.execute(sql: "INSERT INTO photo (id, file) VALUES (?, ?)", arguments: [Data(row.bytes), shown.description])
            try db.execute(sql: "INSERT INTO photo (id, file) VALUES (randomblob(16), ?)", arguments: [ids[4].description])
        }
        #expect(store.attachmentsHere() == [shown, loose].sorted())
        let (desk, attic): ([UInt8], [UInt8]) = ([1], [2])
        try store.setMembers([desk, attic])
        func holders() throws -> [[[UInt8]]] { try store.heldAttachments().filter { $0.id == shown }.map(\.holders) }
        let elsewhere = HeldAttachment(id: ids[4], sizeBytes: 0, isHere: false, holders: [])
        let held = [elsewhere, HeldAttachment(id: shown, sizeBytes: 3, isHere: true, holders: [])]
        #expect(try store.heldAttachments() == held.sorted { $0.id < $1.id })
        try store.noteHoldings(news(.init(.only, [shown, loose])), of: desk)
        try store.noteHoldings(news(.init(.also, [shown])), of: attic)
        try store.noteHoldings(news(.init(.also, [shown])), of: [3])
        #expect(try holders() == [[desk, attic]])
        #expect(try store.heldAttachments(table: "photo", id: row).map(\.holders) == [[desk, attic]])
        try store.noteHoldings(news(.init(.noLonger, [shown])), of: attic)
        #expect(try holders() == [[desk]])
        try store.noteHoldings(news(.init(.only, [loose])), of: desk)
        #expect(try holders() == [[]])
        // Who leaves and comes back has to say it again.
        try store.noteHoldings(news(.init(.also, [shown])), of: desk)
        try store.setMembers([attic])
        try store.setMembers([attic, desk])
        #expect(try holders() == [[]])
        #expect(try store.heldAttachments(table: "photo", id: row).map(\.id) == [shown])
        store.close()
    }

    @Test func `a member is believed to have so many attachments, and the others are believed beside it`() throws {
        let queue = try DatabaseQueue()
        let store = try SyncedDatabase(queue, tables: [])
        try store.setMembers([[1], [2]])
        let many = (0...AttachmentLimits.holdingsMax).compactMap { number in
            AttachmentID(bytes: withUnsafeBytes(of: number.bigEndian, Array.init) + [UInt8](repeating: 0, count: 24))
        }
        try store.noteHoldings(news(.init(.also, many)), of: [1])
        try store.noteHoldings(news(.init(.also, Array(many.prefix(2)))), of: [2])
        func counts() throws -> [Int] {
            try queue.read { try Int.fetchAll($0, sql: "SELECT count(*) FROM kith_holding GROUP BY device ORDER BY device") }
        }
        #expect(try counts() == [AttachmentLimits.holdingsMax, 2])
        // What it has no longer makes room for others.
        try store.noteHoldings(news(.init(.noLonger, Array(many.prefix(2)))), of: [1])
        try store.noteHoldings(news(.init(.noLonger, Array(many.prefix(2)))), of: [1])
        #expect(try counts() == [AttachmentLimits.holdingsMax - 2, 2])
        try store.noteHoldings(news(.init(.also, Array(many.suffix(4))), .init(.also, Array(many.prefix(3)))), of: [1])
        #expect(try counts() == [AttachmentLimits.holdingsMax, 2])
        try store.noteHoldings(news(.init(.only, Array(many.suffix(4)))), of: [1])
        #expect(try counts() == [4, 2])
        // Who comes back begins anew.
        try store.setMembers([[2]])
        try store.setMembers([[1], [2]])
        try store.noteHoldings(news(.init(.also, many)), of: [1])
        #expect(try counts() == [AttachmentLimits.holdingsMax, 2])
        store.close()
    }

    @Test func `what a member says without end takes bounded room, and is never more than it said`() {
        let limit = AttachmentLimits.holdingsMax
        let many = Self.many(limit + 2_048)
        func hear(_ kind: AttachmentHoldings.Kind, _ ids: ArraySlice<AttachmentID>, _ news: inout HoldingNews) {
            for start in stride(from: ids.startIndex, to: ids.endIndex, by: 1_024) {
                news.hear(AttachmentHoldings(kind, Array(ids[start..<min(start + 1_024, ids.endIndex)])))
            }
        }
        var news = HoldingNews()
        hear(.also, many[...], &news)
        #expect(news.added.count == limit && news.removed.isEmpty && !news.replacesAll)
        // More are gone than can be named: what it has for sure is all that is known.
        hear(.also, ids[...], &news)
        hear(.noLonger, many[1...], &news)
        #expect(news.added == [many[0]] && news.removed.isEmpty && news.replacesAll)
        hear(.noLonger, many[...], &news)
        hear(.also, many[..<3], &news)
        #expect(news.added == Set(many[..<3]) && news.count == 3)
        var (earlier, later) = (HoldingNews(), HoldingNews())
        hear(.also, many[..<limit], &earlier)
        hear(.also, many[1_024...], &later)
        later.follow(earlier)
        #expect(later.added.count == limit)
        (earlier, later) = (HoldingNews(), HoldingNews())
        hear(.noLonger, many[..<limit], &earlier)
        hear(.noLonger, many[2_000...], &later)
        hear(.also, many[..<5], &later)
        later.follow(earlier)
        #expect(later.replacesAll && later.added == Set(many[..<5]) && later.count == 5)
    }

    /// Counts what SQLite computes, and what each transaction changes.
    private final class Work: TransactionObserver {
        var steps = 0
        private(set) var changes: [Int] = []
        private var total: Int

        init(_ database: DatabaseQueue) {
            total = database.writeWithoutTransaction { $0.totalChangesCount }
            database.add(transactionObserver: self, extent: .databaseLifetime)
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}

        func databaseDidCommit(_ db: Database) {
            changes.append(db.totalChangesCount - total)
            total = db.totalChangesCount
        }
    }

    /// A store that knows of so many attachments of each of two members.
    private func store(_ many: [AttachmentID], _ body: (SyncedDatabase, Work) throws -> Void) throws {
        let queue = try DatabaseQueue()
        let store = try SyncedDatabase(queue, tables: [])
        try store.setMembers([[1], [2]])
        for device: [UInt8] in [[1], [2]] { try store.noteHoldings(news(.init(.also, many)), of: device) }
        let work = Work(queue)
        queue.writeWithoutTransaction { db in
            let counter = Unmanaged.passUnretained(work).toOpaque()
            sqlite3_progress_handler(
                db.sqliteConnection, 1,
                { counter in
                    if let counter { Unmanaged<Work>.fromOpaque(counter).takeUnretainedValue().steps += 1 }
                    return 0
                }, counter)
        }
        try body(store, work)
        queue.writeWithoutTransaction { sqlite3_progress_handler($0.sqliteConnection, 0, nil, nil) }
        store.close()
    }

    private static func many(_ count: Int) -> [AttachmentID] {
        (1...count).compactMap { number in
            AttachmentID(bytes: withUnsafeBytes(of: number.bigEndian, Array.init) + [UInt8](repeating: 9, count: 24))
        }
    }

    @Test func `to note news of an attachment takes as much work however many a member is known to have`() throws {
        let messages: [[AttachmentHoldings]] = [
            [.init(.also, [ids[0]])], [.init(.also, [ids[0]])], [.init(.noLonger, [ids[0], ids[1]])], [.init(.noLonger, [ids[0]])],
            [.init(.also, ids)], [.init(.noLonger, ids)],
        ]
        var steps: [[Int]] = []
        for count in [100, 20_000] {
            try store(Self.many(count)) { store, work in
                steps.append(
                    try messages.map { messages in
                        var news = HoldingNews()
                        for message in messages { news.hear(message) }
                        work.steps = 0
                        try store.noteHoldings(news, of: [1])
                        return work.steps
                    })
            }
        }
        #expect(steps[0] == steps[1])
    }

    @Test func `news of many attachments is noted in portions`() throws {
        try store(Self.many(9_000)) { store, work in
            for message: AttachmentHoldings in [.init(.only, []), .init(.also, Self.many(9_000)), .init(.noLonger, Self.many(9_000))] {
                try store.noteHoldings(news(message), of: [1])
            }
            #expect(work.changes.reduce(0, +) >= 27_000)
            #expect(work.changes.allSatisfy { $0 < 3_000 })
        }
    }
}
