import Foundation
import GRDB
import KithSQLite
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("Attachments take the room that rows need, or come torn from a file that is written")
struct AttachmentDiskTests {
    @Test func `a file that is too large, or for which there is no room, is refused before a byte is copied`() throws {
        let written = Mutex(0)
        let room = Mutex<Int64?>(nil)
        var options = TestStore.options()
        options.freeBytes = { _ in room.withLock { $0 } }
        options.writeFile = { descriptor, bytes in
            written.withLock { $0 += bytes.count }
            return systemWrite(descriptor, bytes)
        }
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("room.sqlite"))
        try database.write { try $0.execute(sql: AttachmentTests.sql) }
        let store = try SyncedDatabase(database, tables: AttachmentTests.tables, options: options)
        let file = URL(filePath: folder.file("film"))
        // A file with a hole takes no room itself.
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        #expect(truncate(file.path, off_t(AttachmentLimits.bytesMax) + 1) == 0)
        #expect(#expect(throws: StoreError.self) { try store.attach(contentsOf: file) }?.code == .valueRejected)
        #expect(truncate(file.path, 300_000) == 0)
        room.withLock { $0 = 299_999 }
        #expect(#expect(throws: StoreError.self) { try store.attach(contentsOf: file) }?.code == .diskFull)
        #expect(written.withLock { $0 } == 0)
        room.withLock { $0 = 300_000 }
        _ = try store.attach(contentsOf: file)
        room.withLock { $0 = nil }
        _ = try store.attach(contentsOf: file)
        #expect(systemFreeBytes(folder.path).map { $0 > 0 } == true && systemFreeBytes("/nowhere") == nil)
        store.close()
    }

    @Test func `a file that is written while it is read is not attached`() throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.file("film"))
        try Data(AttachmentTests.content(3 * AttachmentLimits.chunkBytes)).write(to: file)
        let isCut = Mutex(true)
        var options = TestStore.options()
        options.writeFile = { descriptor, bytes in
            if isCut.withLock({ $0 }) { truncate(file.path, off_t(AttachmentLimits.chunkBytes) + 1) }
            return systemWrite(descriptor, bytes)
        }
        let database = try DatabaseQueue(path: folder.file("a.sqlite"))
        try database.write { try $0.execute(sql: AttachmentTests.sql) }
        let store = try SyncedDatabase(database, tables: AttachmentTests.tables, options: options)
        let error = #expect(throws: StoreError.self) { try store.attach(contentsOf: file) }
        #expect(error?.code == .valueRejected && error?.message.contains("was written while it was read") == true)
        isCut.withLock { $0 = false }
        #expect(try store.provenAttachment(store.attach(contentsOf: file)) != nil)
    }

    @Test func `what a peer sends leaves room on the disk for rows, and goes on when there is more`() throws {
        let room = Mutex<Int64>(.max)
        var options = TestStore.options()
        options.freeBytes = { _ in room.withLock { $0 } }
        let sender = try AttachmentTests.store()
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("room.sqlite"))
        try database.write { try $0.execute(sql: AttachmentTests.sql) }
        let receiver = try SyncedDatabase(database, tables: AttachmentTests.tables, options: options)
        let content = AttachmentTests.content(3 * AttachmentLimits.chunkBytes)
        let id = try sender.store.attach(content)
        #expect(try AttachmentTests.transfer(id, from: sender.store, to: receiver, chunks: 1) == 1)
        room.withLock { $0 = 64 << 20 }
        let error = #expect(throws: StoreError.self) { try AttachmentTests.transfer(id, from: sender.store, to: receiver) }
        #expect(error?.code == .diskFull)
        #expect(try receiver.incomingAttachment(id)?.chunksHeld == 1)
        room.withLock { $0 = 65 << 20 }
        #expect(try AttachmentTests.transfer(id, from: sender.store, to: receiver) == 2)
        #expect(try receiver.provenAttachment(id) != nil)
    }
}
