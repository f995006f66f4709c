import Foundation
import GRDB
import KithCausality
import KithSQLite
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("The bytes of an attachment are lost, wrong, doubled, or kept for ever")
struct AttachmentTests {
    static let sql = "CREATE TABLE IF NOT EXISTS photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)"
    static let tables = [TrackedTable("photo", attachments: ["file"])]

    static func store(folder: TemporaryFolder? = nil, name: String = "a.sqlite") throws -> TestStore {
        try TestStore(.queue, sql: sql, tables: tables, folder: folder, name: name)
    }

    /// Content of `count` bytes that no other seed has.
    static func content(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        return Array(bytes.prefix(count))
    }

    private static func files(_ store: TestStore) throws -> [String] {
        let all = FileManager.default.enumerator(atPath: store.path + "-kith-files")?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: store.path + "-kith-files/" + name, isDirectory: &isFolder)
            return !isFolder.boolValue
        }.sorted()
    }

    /// Moves pieces as two nodes would, from where `receiver` is; at most `chunks` chunks.
    @discardableResult
    static func transfer(_ id: AttachmentID, from sender: SyncedDatabase, to receiver: SyncedDatabase, chunks: Int = .max) throws -> Int {
        var incoming = try receiver.incomingAttachment(id)
        if incoming == nil {
            guard case .outline(_, let outline)? = try sender.piece(AttachmentPiece(id, chunk: nil)) else { return 0 }
            incoming = try receiver.keepOutline(outline, of: id)
        }
        guard var incoming, try receiver.beginFetching(incoming) else { return 0 }
        var count = 0
        while !incoming.isComplete, count < chunks {
            guard case .chunk(_, let index, let bytes)? = try sender.piece(AttachmentPiece(id, chunk: incoming.chunksHeld)) else {
                return count
            }
            try incoming.append(bytes, chunk: index)
            count += 1
        }
        if incoming.isComplete { try receiver.finish(incoming) }
        return count
    }

    static func bytes(_ store: SyncedDatabase, _ id: AttachmentID) throws -> [UInt8]? {
        guard case .present(let file) = store.attachmentState(id) else { return nil }
        #expect(file.sizeBytes == Int64(try Data(contentsOf: file.url).count))
        return [UInt8](try Data(contentsOf: file.url))
    }

    // MARK: Names

    @Test func `ids are what the document says, whatever the size`() throws {
        let notes = try Self.store()
        // SHA-256 of "kith attachment 1\n", the size as eight bytes, and the SHA-256 of each 256 KiB: made with Python's hashlib.
        let vectors: [(count: Int, id: String)] = [
            (0, "b5f955f3e28ffb948cfc528531311bd922b99d7f6b0e82ffc4ba4495539cec8e"),
            (1, "c14f45890a78993bc509adf9fce5e7f1812dff1dd2e022dbcd6ec6f11e3edc5b"),
            (262_144, "44ff511fb2080ced3b14bd50d9bd85d3f26066cfc04d9b61f718ab62026934f9"),
            (262_145, "0fb0c3e3c63ff31d4b637cc39e7ca604514c41edd503eaabb21b156755601d21"),
            (1_000_000, "c9afa1ac41eb9234204c273b530f4a05380c7ae4b5fde5f5b5c1d16b265006a3"),
        ]
        for (count, id) in vectors {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            #expect(try notes.store.attach(bytes).description == id)
        }
    }

    @Test func `attached content is there, equal content once, for its owner's eyes alone`() throws {
        let notes = try Self.store()
        let content = Self.content(600_000)
        let id = try notes.store.attach(content)
        #expect(try Self.bytes(notes.store, id) == content)
        let file = notes.folder.file("picture")
        try Data(content).write(to: URL(filePath: file))
        #expect(try notes.store.attach(contentsOf: URL(filePath: file)) == id)
        #expect(try Self.files(notes).count == 2)
        guard case .present(let present) = notes.store.attachmentState(id) else { return }
        let mode = try FileManager.default.attributesOfItem(atPath: present.url.path)[.posixPermissions] as? Int
        let folderMode = try FileManager.default.attributesOfItem(atPath: notes.path + "-kith-files")[.posixPermissions] as? Int
        #expect(mode == 0o400 && folderMode == 0o700)
        try notes.expectSound()
    }

    @Test func `what is no regular file, or too large, is refused`() throws {
        let notes = try Self.store()
        #expect(throws: StoreError.self) { try notes.store.attach(contentsOf: URL(filePath: notes.folder.path)) }
        let missing = #expect(throws: StoreError.self) { try notes.store.attach(contentsOf: URL(filePath: notes.folder.file("none"))) }
        #expect(missing?.code == .notFound)
        let memory = try TestStore(.memory, sql: Self.sql, tables: Self.tables)
        #expect(throws: StoreError.self) { try memory.store.attach([1]) }
        let error = #expect(throws: StoreError.self) {
            try TestStore(.queue, sql: Self.sql, tables: [TrackedTable("photo", sets: ["file"], attachments: ["file"])])
        }
        #expect(error?.code == .tableRejected)
        #expect(throws: StoreError.self) { try TestStore(.queue, sql: Self.sql, tables: [TrackedTable("photo", attachments: ["none"])]) }
    }

    // MARK: On their way

    @Test(arguments: 0...5)
    func `a transfer goes on at every chunk, in a store that was opened anew, from another sender`(chunks: Int) throws {
        let content = Self.content(4 * AttachmentLimits.chunkBytes + 77)
        let (one, other, receiver) = (try Self.store(), try Self.store(), try Self.store())
        let id = try one.store.attach(content)
        #expect(try other.store.attach(content) == id)
        #expect(receiver.store.attachmentState(id) == .onItsWay(receivedBytes: 0, sizeBytes: nil))
        #expect(try Self.transfer(id, from: one.store, to: receiver.store, chunks: chunks) == min(chunks, 5))
        if chunks < 5 {
            let received = Int64(chunks * AttachmentLimits.chunkBytes)
            #expect(receiver.store.attachmentState(id) == .onItsWay(receivedBytes: received, sizeBytes: Int64(content.count)))
        }
        receiver.store.close()
        let again = try SyncedDatabase(try DatabaseQueue(path: receiver.path), tables: Self.tables)
        if chunks < 5 { #expect(try Self.transfer(id, from: other.store, to: again) == 5 - chunks) }
        #expect(try Self.bytes(again, id) == content)
        again.close()
    }

    @Test(arguments: [0, 1, 300_000, 524_288, 600_000])
    func `what a loss of power made of a part is found out, and fetched again`(size: Int) throws {
        let content = Self.content(1_000_000)
        let (sender, receiver) = (try Self.store(), try Self.store())
        let id = try sender.store.attach(content)
        try Self.transfer(id, from: sender.store, to: receiver.store, chunks: 2)
        let part = try #require(try Self.files(receiver).first { $0.hasSuffix(".part") })
        let path = receiver.path + "-kith-files/" + part
        // Cut off, or longer with bytes that were never written.
        let torn = content.prefix(min(size, 524_288)) + [UInt8](repeating: 0, count: max(0, size - 524_288))
        try Data(torn).write(to: URL(filePath: path))
        #expect(try Self.transfer(id, from: sender.store, to: receiver.store) == 4 - min(2, size / AttachmentLimits.chunkBytes))
        #expect(try Self.bytes(receiver.store, id) == content)
    }

    @Test func `a wrong outline or chunk is refused and changes nothing`() throws {
        let content = Self.content(700_000)
        let (sender, receiver) = (try Self.store(), try Self.store())
        let id = try sender.store.attach(content)
        let forged = try sender.store.attach(Self.content(700_000, seed: 2))
        guard case .outline(_, let wrong)? = try sender.store.piece(AttachmentPiece(forged, chunk: nil)),
            case .outline(_, let right)? = try sender.store.piece(AttachmentPiece(id, chunk: nil))
        else { return #expect(Bool(false)) }
        #expect(throws: StoreError.self) { try receiver.store.keepOutline(wrong, of: id) }
        let resized = try #require(AttachmentOutline(size: 699_999, hashes: right.hashes))
        #expect(throws: StoreError.self) { try receiver.store.keepOutline(resized, of: id) }
        #expect(try receiver.store.incomingAttachment(id) == nil)
        var incoming = try receiver.store.keepOutline(right, of: id)
        var chunk = Array(content.prefix(AttachmentLimits.chunkBytes))
        chunk[100_000] ^= 1
        for (bytes, index) in [(chunk, 0), (Array(chunk.dropLast()), 0), ([], 0), (Array(content.prefix(AttachmentLimits.chunkBytes)), 1)] {
            let error = #expect(throws: StoreError.self) { try incoming.append(bytes, chunk: index) }
            #expect(error?.code == .sliceRejected)
        }
        #expect(incoming.chunksHeld == 0)
        try Self.transfer(id, from: sender.store, to: receiver.store)
        #expect(try Self.bytes(receiver.store, id) == content)
    }

    @Test func `on a full disk nothing is lost, and it goes on when there is room`() throws {
        let room = Mutex(Int.max)
        var options = TestStore.options()
        options.writeFile = { descriptor, bytes in
            let count = room.withLock { room in
                defer { room -= min(room, bytes.count) }
                return min(room, bytes.count)
            }
            guard count > 0 || bytes.isEmpty else {
                errno = ENOSPC
                return -1
            }
            return systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        }
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("full.sqlite"))
        try database.write { try $0.execute(sql: Self.sql) }
        let store = try SyncedDatabase(database, tables: Self.tables, options: options)
        let sender = try Self.store()
        let content = Self.content(700_000)
        let id = try sender.store.attach(content)
        for bytes in [0, 1, 50, 262_143, 262_144, 400_000, 699_999] {
            room.withLock { $0 = bytes }
            let error = #expect(throws: StoreError.self) { try store.attach(content) }
            #expect(error?.code == .diskFull)
            #expect(store.attachmentState(id) == .onItsWay(receivedBytes: 0, sizeBytes: nil))
        }
        var held = 0
        for bytes in [10, 1_000, 300_000, 300_000, 100_000] {
            room.withLock { $0 = bytes }
            _ = try? Self.transfer(id, from: sender.store, to: store)
            room.withLock { $0 = .max }
            if try Self.bytes(store, id) == content { break }
            let now = try store.incomingAttachment(id)?.chunksHeld ?? 0
            #expect(now >= held)
            held = now
        }
        #expect(held > 0)
        try Self.transfer(id, from: sender.store, to: store)
        #expect(try Self.bytes(store, id) == content)
        store.close()
    }

    // MARK: What is wanted

    @Test func `what rows show is wanted, up to the size that is fetched unasked, and beyond it when somebody asks`() throws {
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("w.sqlite"))
        try database.write { try $0.execute(sql: Self.sql) }
        var options = TestStore.options()
        options.attachmentBytesFetched = 300_000
        let store = try SyncedDatabase(database, tables: Self.tables, options: options)
        let sender = try Self.store()
        let (exact, past) = (try sender.store.attach(Self.content(300_000)), try sender.store.attach(Self.content(300_001)))
        try database.write { db in
            for (number, value) in [exact.description, past.description, exact.description, "no id", nil].enumerated() {
                try db.execute(sql: "INSERT INTO photo VALUES (?, ?)", arguments: [key(UInt64(number)), value])
            }
        }
        #expect(Set(try store.wantedAttachments()) == [exact, past])
        try Self.transfer(exact, from: sender.store, to: store)
        try Self.transfer(past, from: sender.store, to: store)
        #expect(try store.wantedAttachments() == [])
        #expect(store.attachmentState(past) == .notFetched(sizeBytes: 300_001))
        let states = try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT kith_attachment_state(file), kith_attachment_received(file), kith_attachment_size(file)
                    FROM photo ORDER BY id
                    """)
        }
        #expect(states.map { $0[0] } == ["present", "not fetched", "present", nil, nil])
        #expect(states.map { $0[1] } == [300_000, 0, 300_000, nil, nil])
        #expect(states.map { $0[2] } == [300_000, 300_001, 300_000, nil, nil])
        let before = store.attachmentWishesChanged()
        try store.fetchAttachment(past)
        #expect(store.attachmentWishesChanged() != before)
        #expect(store.attachmentState(past) == .onItsWay(receivedBytes: 0, sizeBytes: 300_001))
        #expect(try store.wantedAttachments() == [past])
        try Self.transfer(past, from: sender.store, to: store)
        #expect(try store.wantedAttachments() == [] && Self.bytes(store, past)?.count == 300_001)
        #expect(try FileManager.default.contentsOfDirectory(atPath: database.path + "-kith-files/asked") == [])
        store.close()
    }

    // MARK: Garbage

    @Test func `bytes go when nothing has referred to them for the time of grace, and not before`() throws {
        let clock = Mutex<Int64>(1_700_000_000_000)
        var options = TestStore.options()
        options.clock = { HybridTimestamp(milliseconds: clock.withLock { $0 }) }
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("g.sqlite"))
        try database.write { try $0.execute(sql: Self.sql) }
        let store = try SyncedDatabase(database, tables: Self.tables, options: options)
        func wait(_ milliseconds: Int64) { clock.withLock { $0 += milliseconds } }
        func isPresent(_ id: AttachmentID) -> Bool { if case .present = store.attachmentState(id) { true } else { false } }
        func execute(_ sql: String, _ arguments: StatementArguments) throws {
            try database.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        let (shown, trashed, lost, loose) = (
            try store.attach(Self.content(300_000, seed: 1)), try store.attach(Self.content(10, seed: 2)),
            try store.attach(Self.content(10, seed: 3)), try store.attach(Self.content(600_000, seed: 4))
        )
        try execute("INSERT INTO photo VALUES (?, ?)", [key(1), shown.description])
        try execute("INSERT INTO photo VALUES (?, ?)", [key(2), trashed.description])
        try execute("DELETE FROM photo WHERE id = ?", [key(2)])
        // `lost` is an alternative: two wrote the same cell without seeing each other.
        let other = try Self.store()
        try execute("INSERT INTO photo VALUES (?, NULL)", [key(3)])
        _ = try other.store.apply(try store.delta(since: VersionVector()))
        try execute("UPDATE photo SET file = ? WHERE id = ?", [lost.description, key(3)])
        wait(10)
        try other.execute("UPDATE photo SET file = 'later' WHERE id = ?", [key(3)])
        try other.execute("UPDATE photo SET file = 'much later' WHERE id = ?", [key(3)])
        _ = try store.apply(try other.store.delta(since: try store.vector()))
        let alternatives = try store.alternatives(table: "photo", id: rowID(3)).map(\.value)
        let visible = try database.read { try String.fetchOne($0, sql: "SELECT file FROM photo WHERE id = ?", arguments: [key(3)]) }
        #expect(alternatives == [.text(lost.description)] || visible == lost.description)

        #expect(try store.collectAttachments() == 0)
        wait(SyncedDatabase.attachmentGraceMilliseconds - 1)
        #expect(try store.collectAttachments() == 0 && isPresent(loose))
        wait(1)
        // Just then somebody attaches it again and has not written the row.
        #expect(try store.attach(Self.content(600_000, seed: 4)) == loose)
        #expect(try store.collectAttachments() == 0 && isPresent(loose))
        wait(SyncedDatabase.attachmentGraceMilliseconds)
        #expect(try store.collectAttachments() == 1)
        #expect(!isPresent(loose) && isPresent(shown) && isPresent(trashed) && isPresent(lost))
        // What came back from the trash is whole; what leaves it goes.
        try store.restore(table: "photo", id: rowID(2))
        #expect(isPresent(trashed))
        try execute("DELETE FROM photo WHERE id = ?", [key(2)])
        try store.emptyTrash()
        try store.collectGarbage(acknowledged: [])
        try execute("UPDATE photo SET file = NULL WHERE id = ?", [key(1)])
        #expect(try store.collectAttachments() == 0)
        // A clock that was set back begins the time anew.
        wait(-100_000_000_000)
        #expect(try store.collectAttachments() == 0)
        wait(SyncedDatabase.attachmentGraceMilliseconds)
        #expect(try store.collectAttachments() == 2)
        #expect(!isPresent(shown) && !isPresent(trashed) && isPresent(lost))
        let remains = FileManager.default.enumerator(atPath: database.path + "-kith-files")?.allObjects.map { "\($0)" } ?? []
        #expect(!remains.contains { $0.hasSuffix(".outline") })
        store.close()
    }

    @Test func `a process that does not know the column, or not the table, keeps the bytes all the same`() throws {
        let notes = try Self.store()
        let (a, b) = (try notes.store.attach([1]), try notes.store.attach([2]))
        try notes.execute("INSERT INTO photo VALUES (?, ?)", [key(1), a.description])
        notes.store.close()
        let clock = Mutex<Int64>(1_700_000_000_000)
        var options = TestStore.options()
        options.clock = { HybridTimestamp(milliseconds: clock.withLock { $0 }) }
        for tables in [[TrackedTable("photo")], []] {
            let database = try DatabaseQueue(path: notes.path)
            let store = try SyncedDatabase(database, tables: tables, options: options)
            for _ in 0..<3 {
                try store.collectAttachments()
                clock.withLock { $0 += SyncedDatabase.attachmentGraceMilliseconds }
            }
            #expect(try Self.bytes(store, a) == [1] && Self.bytes(store, b) == nil)
            store.close()
        }
        // A replica without the table keeps the row for others, and with it the bytes.
        let other = try TestStore(.queue)
        let full = try SyncedDatabase(try DatabaseQueue(path: notes.path), tables: Self.tables)
        _ = try other.store.apply(try full.delta(since: VersionVector()))
        try Self.transfer(a, from: full, to: other.store)
        let late = Mutex<Int64>(1_800_000_000_000)
        var lateOptions = TestStore.options()
        lateOptions.clock = { HybridTimestamp(milliseconds: late.withLock { $0 }) }
        other.store.close()
        let again = try SyncedDatabase(try DatabaseQueue(path: other.path), tables: [TestStore.note], options: lateOptions)
        for _ in 0..<3 {
            try again.collectAttachments()
            late.withLock { $0 += SyncedDatabase.attachmentGraceMilliseconds }
        }
        #expect(try Self.bytes(again, a) == [1])
        again.close()
        full.close()
    }
}
