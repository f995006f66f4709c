import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

/// Risk: a member names attachments until the disk is full; or the limit against that keeps an honest member's from coming, or loses any.
@Suite struct AttachmentRoomTests {
    /// A store that keeps so many bytes of each device's attachments unasked, and two members that name some.
    private final class House {
        let folder: TemporaryFolder
        let database: DatabaseQueue
        let store: SyncedDatabase
        let hostile: TestStore
        let honest: TestStore

        init(limit: Int64, folder: TemporaryFolder? = nil, hostile: TestStore? = nil, honest: TestStore? = nil) throws {
            self.folder = try folder ?? TemporaryFolder()
            database = try DatabaseQueue(path: self.folder.file("home.sqlite"))
            try database.write { try $0.execute(sql: AttachmentTests.sql) }
            var options = TestStore.options()
            options.attachmentBytesFetchedOfDevice = limit
            store = try SyncedDatabase(database, tables: AttachmentTests.tables, options: options)
            self.hostile = try hostile ?? AttachmentTests.store()
            self.honest = try honest ?? AttachmentTests.store()
            try store.setMembers([[1], [2]])
            for (device, member) in [([1], self.hostile), ([2], self.honest)] as [([UInt8], TestStore)] {
                try store.noteMember(device, replica: member.store.summary().replica, durable: member.store.vector())
            }
        }

        /// The member attaches content of so many bytes, and names it in a row that the store takes.
        @discardableResult func name(_ bytes: Int, row: UInt64, by member: TestStore) throws -> AttachmentID {
            let id = try member.store.attach(AttachmentTests.content(bytes, seed: row))
            try member.execute("INSERT INTO photo VALUES (?, ?)", [key(row), id.description])
            try take(from: member)
            return id
        }

        func take(from member: TestStore) throws { _ = try store.apply(try member.store.delta(since: try store.vector())) }

        /// Fetches what is wanted, as a node would, from whoever has it.
        func fetch() throws {
            for id in try store.wantedAttachments() {
                for member in [hostile, honest] where try member.store.piece(AttachmentPiece(id, chunk: nil)) != nil {
                    try AttachmentTests.transfer(id, from: member.store, to: store)
                }
            }
        }

        func isHere(_ id: AttachmentID) -> Bool { if case .present = store.attachmentState(id) { true } else { false } }
    }

    /// What the smallest file counts, such as an outline.
    private static let block = 4_096

    @Test func `a device that names ten thousand attachments of nothing does not keep those of another one waiting`() throws {
        let house = try House(limit: 1_000_000)
        try house.hostile.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10100)
            INSERT INTO photo SELECT randomblob(16), lower(hex(randomblob(32))) FROM n
            """)
        try house.take(from: house.hostile)
        let names = try (1...3).map { try house.name(10, row: UInt64($0), by: house.honest) }
        #expect(try Set(names).isSubset(of: house.store.wantedAttachments(max: 10)))
        let all = try house.store.wantedAttachments()
        #expect(all.count == 10_103 && Set(all).count == all.count)
        try house.store.fetchAttachment(all[5_000])
        #expect(try house.store.wantedAttachments(max: 1) == [all[5_000]])
    }

    @Test func `what one device names is fetched up to the limit, what others name and what is asked for in any case`() throws {
        let house = try House(limit: Int64(6 * Self.block))
        let (first, second) = (try house.name(400, row: 1, by: house.hostile), try house.name(Self.block + 1, row: 2, by: house.hostile))
        try house.fetch()
        #expect(house.isHere(first) && house.isHere(second))
        // Its outline takes the last block.
        let beyond = try house.name(1, row: 3, by: house.hostile)
        try house.fetch()
        #expect(house.store.attachmentState(beyond) == .notFetched(sizeBytes: 1))
        #expect(try house.store.wantedAttachments() == [])
        let honest = try (4...5).map { try house.name(200, row: $0, by: house.honest) }
        try house.fetch()
        #expect(honest.allSatisfy(house.isHere))
        // What both name has the honest one's room.
        try house.honest.execute("INSERT INTO photo VALUES (?, ?)", [key(8), beyond.description])
        let asked = try house.name(999, row: 9, by: house.hostile)
        try house.fetch()
        #expect(house.store.attachmentState(asked) == .notFetched(sizeBytes: 999))
        try house.store.fetchAttachment(asked)
        try house.take(from: house.honest)
        try house.fetch()
        #expect(house.isHere(asked) && house.isHere(beyond))
        house.store.close()
    }

    @Test func `what fills the room comes, and with a byte more is left`() throws {
        for (bytes, comes) in [(2 * Self.block, true), (2 * Self.block + 1, false)] {
            let house = try House(limit: Int64(3 * Self.block))
            let id = try house.name(bytes, row: 1, by: house.hostile)
            try house.fetch()
            #expect(house.isHere(id) == comes)
            house.store.close()
        }
    }

    @Test func `deleted rows count until they are collected, and then the next attachment comes`() throws {
        let house = try House(limit: Int64(3 * Self.block))
        let first = try house.name(900, row: 1, by: house.hostile)
        try house.fetch()
        try house.hostile.execute("DELETE FROM photo")
        let second = try house.name(2 * Self.block, row: 2, by: house.hostile)
        try house.fetch()
        #expect(house.isHere(first) && !house.isHere(second))
        try house.store.emptyTrash()
        #expect(try house.store.collectGarbage(acknowledged: []) == 1)
        try house.fetch()
        #expect(house.isHere(second))
        house.store.close()
    }

    @Test func `an alternative that was resolved counts for as long as it is kept`() throws {
        let house = try House(limit: Int64(3 * Self.block))
        try house.honest.execute("INSERT INTO photo VALUES (?, NULL)", [key(1)])
        try house.take(from: house.honest)
        _ = try house.hostile.store.apply(try house.honest.store.delta(since: VersionVector()))
        let first = try house.hostile.store.attach(AttachmentTests.content(900, seed: 1))
        try house.hostile.execute("UPDATE photo SET file = ?", [first.description])
        try house.take(from: house.hostile)
        try house.fetch()
        #expect(house.isHere(first))
        // Another one wrote later, and beside it; that is chosen.
        for number in 0..<20 { try house.honest.execute("UPDATE photo SET file = ?", ["later \(number)"]) }
        try house.take(from: house.honest)
        try house.database.write { try house.store.resolve($0, table: "photo", id: rowID(1), column: "file", keeping: .text("later 19")) }
        #expect(try house.store.supersededValues(table: "photo", id: rowID(1)).map(\.value) == [.text(first.description)])
        let second = try house.name(2 * Self.block, row: 2, by: house.hostile)
        try house.fetch()
        #expect(!house.isHere(second))
        house.store.close()
    }

    @Test func `with a higher limit everything comes`() throws {
        let house = try House(limit: Int64(3 * Self.block))
        let ids = try (1...5).map { try house.name(200, row: $0, by: house.hostile) }
        try house.fetch()
        #expect(ids.count(where: house.isHere) == 1)
        let shares = try house.store.size().shares
        let share = try #require(shares.first { $0.author == .device([1]) })
        #expect(share.attachmentBytes >= 2 * Self.block && share.attachmentsNotFetched > 0 && shares.first == share)
        house.store.close()
        let again = try House(limit: .max, folder: house.folder, hostile: house.hostile, honest: house.honest)
        try again.fetch()
        #expect(ids.allSatisfy(again.isHere))
        #expect(try again.store.size().shares.first?.attachmentsNotFetched == 0)
        again.store.close()
    }

    /// What lies beside the database, in whole blocks.
    private func bytesOnDisk(_ house: House) -> Int {
        let folder = house.folder.file("home.sqlite-kith-files")
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = attributes?[.size] as? Int else { return sum }
            return sum + (size + Self.block - 1) / Self.block * Self.block
        }
    }

    @Test(arguments: [400, 6 * block])
    func `who names ever other content, and takes the names back, fills no more than twice its room`(bytes: Int) throws {
        let limit = 12 * Self.block
        let house = try House(limit: Int64(limit))
        // What is of use to this device's user is not in the way: attached and not yet named, asked for, named by another.
        let own = try house.store.attach(AttachmentTests.content(bytes, seed: 1))
        let honest = try house.name(bytes, row: 2, by: house.honest)
        let asked = try house.name(bytes, row: 3, by: house.hostile)
        try house.store.fetchAttachment(asked)
        try house.fetch()
        try house.hostile.execute("UPDATE photo SET file = NULL WHERE id = ?", [key(3)])
        try house.hostile.execute("INSERT INTO photo VALUES (?, NULL)", [key(4)])
        let before = bytesOnDisk(house)
        for seed in 10..<60 {
            let id = try house.hostile.store.attach(AttachmentTests.content(bytes, seed: UInt64(seed)))
            try house.hostile.execute("UPDATE photo SET file = ? WHERE id = ?", [id.description, key(4)])
            try house.take(from: house.hostile)
            try house.fetch()
            #expect(house.isHere(id), "what is named now has room")
        }
        #expect(bytesOnDisk(house) - before <= 2 * limit)
        #expect(house.isHere(own) && house.isHere(honest) && house.isHere(asked))
        house.store.close()
    }

    @Test func `with the room used up, all rows are read once however many attachments wait`() throws {
        let house = try House(limit: Int64(3 * Self.block))
        for row in 1...20 { try house.name(200, row: UInt64(row), by: house.hostile) }
        try house.fetch()
        let ids = try (21...40).map { try house.name(200, row: $0, by: house.hostile) }
        #expect(try house.store.wantedAttachments() == [])
        // What is measured stays until the store looks again, as a name shows that came since, and is nobody's so far.
        let late = try house.name(200, row: 41, by: house.hostile)
        #expect(try ids.allSatisfy { try !house.store.mayAskForOutline($0) } && house.store.mayAskForOutline(late))
        #expect(try house.store.wantedAttachments() == [] && !house.store.mayAskForOutline(late))
        house.store.close()
    }

    @Test func `what this device has named itself comes whatever there is`() throws {
        let house = try House(limit: 100)
        let id = try house.honest.store.attach(AttachmentTests.content(5_000, seed: 1))
        try house.database.write { try $0.execute(sql: "INSERT INTO photo VALUES (?, ?)", arguments: [key(1), id.description]) }
        try house.fetch()
        #expect(house.isHere(id))
        house.store.close()
    }

    @Test(arguments: [Int64.min, -1, .max - 1, .max]) func `no limit is too large or too small to reckon with`(limit: Int64) throws {
        let house = try House(limit: limit)
        let id = try house.name(900, row: 1, by: house.hostile)
        #expect(try house.store.wantedAttachments() == [id], "its size may be told in any case")
    }
}
