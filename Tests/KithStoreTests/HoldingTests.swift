import Foundation
import GRDB
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
        let counts = try queue.read { try Int.fetchAll($0, sql: "SELECT count(*) FROM kith_holding GROUP BY device ORDER BY device") }
        #expect(counts == [AttachmentLimits.holdingsMax, 2])
        store.close()
    }
}
