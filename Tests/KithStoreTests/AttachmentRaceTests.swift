import Foundation
import GRDB
import KithCausality
import KithLock
import KithSQLite
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Content is lost because two processes attach, fetch, prove or remove it at the same time, or one is interrupted")
struct AttachmentRaceTests {
    private let folder: TemporaryFolder
    private let content = AttachmentTests.content(1 << 20)

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Each store stands for one process.
    private func open(_ name: String = "a.sqlite", _ change: (inout SyncedDatabase.Options) -> Void = { _ in }) throws -> SyncedDatabase {
        let database = try DatabaseQueue(path: folder.file(name))
        try database.write { try $0.execute(sql: AttachmentTests.sql) }
        var options = TestStore.options()
        change(&options)
        return try SyncedDatabase(database, tables: AttachmentTests.tables, options: options)
    }

    private func show(_ id: AttachmentID, in store: SyncedDatabase) throws {
        try store.database.write { try $0.execute(sql: "INSERT INTO photo VALUES (randomblob(16), ?)", arguments: [id.description]) }
    }

    /// The file of an attachment, whether or not it is there.
    private func file(_ id: AttachmentID, _ ending: String = "") -> String {
        let name = id.description
        return folder.file("a.sqlite-kith-files/\(name.prefix(2))/\(name.dropFirst(2))\(ending)")
    }

    private func endings(of id: AttachmentID) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("a.sqlite-kith-files/\(id.description.prefix(2))"))
            .map { String($0.dropFirst(62)) }.sorted()
    }

    private static func isOutline(_ descriptor: Int32) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)"))?.hasSuffix(".outline") == true
    }

    // MARK: Attaching

    @Test(arguments: [true, false])
    func `attaching what rows show already leaves it in place, though a node looks meanwhile`(wasHere: Bool) throws {
        let look = Mutex<(@Sendable () -> Void)?>(nil)
        let store = try open { options in
            options.writeFile = { descriptor, bytes in
                if Self.isOutline(descriptor) { look.withLock { $0 }?() }
                return systemWrite(descriptor, bytes)
            }
        }
        let id = try (wasHere ? store : open("b.sqlite")).attach(content)
        try show(id, in: store)
        look.withLock { $0 = { _ = try? store.wantedAttachments() } }
        #expect(try store.attach(content) == id)
        look.withLock { $0 = nil }
        #expect(try store.wantedAttachments() == [] && store.verifyAttachments() == [])
        #expect(try AttachmentTests.bytes(store, id) == content)
        #expect(try endings(of: id) == ["", ".outline"])
    }

    @Test func `without room for its outline the content is there all the same`() throws {
        let store = try open { options in
            options.writeFile = { descriptor, bytes in
                if !Self.isOutline(descriptor) { return systemWrite(descriptor, bytes) }
                errno = ENOSPC
                return -1
            }
        }
        let id = try store.attach(content)
        try show(id, in: store)
        #expect(try store.wantedAttachments() == [] && store.attachmentsHere() == [id])
        #expect(try AttachmentTests.bytes(store, id) == content)
        #expect(try store.piece(AttachmentPiece(id, chunk: 3)) != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("a.sqlite-kith-files/new")) == [])
    }

    @Test(arguments: [0, 26, 60, 200])
    func `an outline that is torn, or another one's, says nothing of the content`(size: Int) throws {
        let store = try open()
        let id = try store.attach(content)
        let other = try store.attach(AttachmentTests.content(600_000))
        try show(id, in: store)
        let outline = size == 200 ? file(other, ".outline") : file(id, ".outline")
        try Data(contentsOf: URL(filePath: outline)).prefix(size).write(to: URL(filePath: file(id, ".outline")))
        #expect(try store.wantedAttachments() == [] && store.verifyAttachments() == [])
        #expect(try AttachmentTests.bytes(store, id) == content)
        // It is made again, and finds then what was cut off.
        #expect(try store.piece(AttachmentPiece(id, chunk: 3)) != nil)
        #expect(chmod(file(id), 0o600) == 0 && truncate(file(id), 500_000) == 0)
        #expect(store.attachmentState(id) == .damaged(receivedBytes: 0, sizeBytes: 1 << 20))
        #expect(try store.wantedAttachments() == [id] && store.verifyAttachments() == [id])
    }

    @Test func `damaged content goes out of the way under the lock under which others attach, if it is still there then`() throws {
        let (store, other) = (try open(), try open())
        let id = try store.attach(content)
        try show(id, in: store)
        let whole = folder.file("whole")
        try FileManager.default.copyItem(atPath: file(id), toPath: whole)
        #expect(chmod(file(id), 0o600) == 0)
        try Data(content.dropLast() + [content[content.count - 1] ^ 1]).write(to: URL(filePath: file(id)))
        let found = Mutex<[AttachmentID]?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        try store.database.write { _ in
            Thread.detachNewThread {
                found.withLock { $0 = try? other.verifyAttachments() }
                isDone.signal()
            }
            #expect(isDone.wait(timeout: .now() + 0.5) == .timedOut)
            #expect(rename(whole, file(id)) == 0)
        }
        _ = isDone.wait(timeout: .now() + 10)
        #expect(found.withLock { $0 } == [])
        #expect(try AttachmentTests.bytes(store, id) == content)
    }

    // MARK: Fetching

    /// The chunk of the content with this number.
    private func chunk(_ index: Int) -> [UInt8] {
        Array(content[index * AttachmentLimits.chunkBytes..<(index + 1) * AttachmentLimits.chunkBytes])
    }

    private func begin(_ id: AttachmentID, of sender: SyncedDatabase, in store: SyncedDatabase) throws -> IncomingAttachment {
        guard case .outline(_, let outline)? = try sender.piece(AttachmentPiece(id, chunk: nil)) else { throw StoreError(.failed, "none") }
        let incoming = try store.keepOutline(outline, of: id)
        #expect(try store.beginFetching(incoming))
        return incoming
    }

    @Test func `two processes that fetch the same leave it whole, and each goes on from what the other one brought`() throws {
        let (sender, one, other) = (try open("s.sqlite"), try open(), try open())
        let id = try sender.attach(content)
        var first = try begin(id, of: sender, in: one)
        try first.append(chunk(0), chunk: 0)
        var second = try begin(id, of: sender, in: other)
        #expect(second.chunksHeld == 1)
        for index in 1...2 { try second.append(chunk(index), chunk: index) }
        // It is passed over: there is more already.
        try first.append(chunk(1), chunk: 1)
        #expect(first.chunksHeld == 3)
        try first.append(chunk(3), chunk: 3)
        try second.append(chunk(3), chunk: 3)
        #expect(first.isComplete && second.isComplete)
        try other.finish(second)
        try one.finish(first)
        #expect(try one.verifyAttachments() == [] && AttachmentTests.bytes(one, id) == content)
    }

    @Test(arguments: [true, false])
    func `what is attached or removed while it is fetched is not half of it afterwards`(isAttached: Bool) throws {
        let (sender, store) = (try open("s.sqlite"), try open())
        let id = try sender.attach(content)
        var incoming = try begin(id, of: sender, in: store)
        for index in 0...1 { try incoming.append(chunk(index), chunk: index) }
        if isAttached { _ = try store.attach(content) } else { #expect(unlink(file(id, ".part")) == 0) }
        try incoming.append(chunk(2), chunk: 2)
        #expect(incoming.chunksHeld == 0)
        #expect(try store.beginFetching(incoming) == !isAttached)
        if !isAttached { try AttachmentTests.transfer(id, from: sender, to: store) }
        #expect(try store.verifyAttachments() == [] && AttachmentTests.bytes(store, id) == content)
        #expect(try endings(of: id) == ["", ".outline"] + (isAttached ? [] : [".unasked"]))
    }

    @Test func `a process waits while another one writes the part, and begins anew if that has made it content`() throws {
        let (sender, store) = (try open("s.sqlite"), try open())
        let id = try sender.attach(content)
        var incoming = try begin(id, of: sender, in: store)
        try incoming.append(chunk(0), chunk: 0)
        let lock = try #require(FileLock(reading: file(id, ".part")))
        #expect(try lock.tryToTake(.exclusive))
        let (from, to) = (file(id, ".part"), file(id))
        // A thread of its own: those of the queues may all be held by other tests.
        Thread.detachNewThread {
            usleep(50_000)
            rename(from, to)
            lock.release()
        }
        try incoming.append(chunk(1), chunk: 1)
        #expect(incoming.chunksHeld == 0 && FileManager.default.fileExists(atPath: to))
    }

    @Test func `content comes to its place under the write lock of the database`() throws {
        let (sender, store) = (try open("s.sqlite"), try open())
        let id = try sender.attach(content)
        var incoming = try begin(id, of: sender, in: store)
        for index in 0...3 { try incoming.append(chunk(index), chunk: index) }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let isReleased = Mutex(false)
        Thread.detachNewThread {
            usleep(200_000)
            isReleased.withLock { $0 = true }
            try? other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        }
        try store.finish(incoming)
        #expect(isReleased.withLock { $0 })
        #expect(try AttachmentTests.bytes(store, id) == content)
    }

    @Test func `what was changed before it was made content is found out`() throws {
        let (sender, store) = (try open("s.sqlite"), try open())
        let id = try sender.attach(content)
        var incoming = try begin(id, of: sender, in: store)
        for index in 0...3 { try incoming.append(chunk(index), chunk: index) }
        try Data(count: content.count).write(to: URL(filePath: file(id, ".part")))
        #expect(throws: StoreError.self) { try store.finish(incoming) }
        #expect(store.attachmentsHere() == [])
        try AttachmentTests.transfer(id, from: sender, to: store)
        #expect(try AttachmentTests.bytes(store, id) == content)
    }

    @Test func `a process that ended before it gave content its name is of no harm`() throws {
        let (sender, store) = (try open("s.sqlite"), try open())
        let id = try sender.attach(content)
        var incoming = try begin(id, of: sender, in: store)
        for index in 0...3 { try incoming.append(chunk(index), chunk: index) }
        // Without a superuser's rights such a part cannot be opened: a test of `kith carry in` gives these up.
        #expect(chmod(file(id, ".part"), 0o400) == 0)
        try AttachmentTests.transfer(id, from: sender, to: store)
        #expect(try AttachmentTests.bytes(store, id) == content)
        #expect(try FileManager.default.attributesOfItem(atPath: file(id))[.posixPermissions] as? Int == 0o400)
    }
}
