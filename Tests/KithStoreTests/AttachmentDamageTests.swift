import Foundation
import GRDB
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("Content that the disk has changed is used, sent or called present")
struct AttachmentDamageTests {
    @Test func `content that the disk has changed is never sent, set aside, and fetched again`() throws {
        let content = AttachmentTests.content(600_000)
        let (sender, receiver) = (try AttachmentTests.store(), try AttachmentTests.store())
        let id = try sender.store.attach(content)
        try AttachmentTests.transfer(id, from: sender.store, to: receiver.store)
        guard case .present(let file) = sender.store.attachmentState(id) else { return }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        var damaged = content
        damaged[300_000] ^= 1
        try Data(damaged).write(to: file.url)
        #expect(try sender.store.piece(AttachmentPiece(id, chunk: 0)) != nil)
        #expect(try sender.store.piece(AttachmentPiece(id, chunk: 1)) == nil)
        #expect(try AttachmentTests.bytes(sender.store, id) == nil)
        try AttachmentTests.transfer(id, from: receiver.store, to: sender.store)
        #expect(try AttachmentTests.bytes(sender.store, id) == content)
        #expect(try sender.store.verifyAttachments() == [])
        // The same is found by a look at all of them.
        guard case .present(let again) = sender.store.attachmentState(id) else { return }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: again.url.path)
        try Data(damaged).write(to: again.url)
        #expect(try sender.store.verifyAttachments() == [id])
        #expect(try AttachmentTests.bytes(sender.store, id) == nil)
        // It stays damaged until it is mended.
        #expect(try sender.store.verifyAttachments() == [id])
        #expect(sender.store.attachmentState(id) == .damaged(receivedBytes: 0, sizeBytes: 600_000))
    }

    /// Changes the content of an attachment behind the store's back.
    private static func spoil(_ store: TestStore, _ id: AttachmentID, _ change: (inout [UInt8]) -> Void) throws {
        guard case .present(let file) = store.store.attachmentState(id) else { return #expect(Bool(false)) }
        var bytes = [UInt8](try Data(contentsOf: file.url))
        change(&bytes)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        try Data(bytes).write(to: file.url)
    }

    @Test(arguments: [10, 600_000])
    func `a single changed bit is found by whoever is to use the content, and it is asked for again`(count: Int) throws {
        var options = TestStore.options()
        options.attachmentBytesFetched = 0
        let folder = try TemporaryFolder()
        let database = try DatabaseQueue(path: folder.file("spoilt.sqlite"))
        try database.write { try $0.execute(sql: AttachmentTests.sql) }
        let store = try SyncedDatabase(database, tables: AttachmentTests.tables, options: options)
        let other = try AttachmentTests.store()
        let content = AttachmentTests.content(count)
        let id = try store.attach(content)
        #expect(try other.store.attach(content) == id)
        #expect(try store.provenAttachment(id)?.sizeBytes == Int64(count))
        try store.fetchAttachment(id)
        #expect(try store.wantedAttachments() == [], "what is here and whole is not asked for")
        guard case .present(let file) = store.attachmentState(id) else { return }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
        try Data(content.dropLast() + [content[count - 1] ^ 1]).write(to: file.url)
        let before = store.attachmentWishesChanged()
        try store.fetchAttachment(id)
        #expect(store.attachmentWishesChanged() != before, "a node in another process hears of it")
        guard case .damaged = store.attachmentState(id) else { return #expect(Bool(false)) }
        #expect(try store.provenAttachment(id) == nil)
        #expect(try store.wantedAttachments() == [id])
        let state = try database.read { try String.fetchOne($0, sql: "SELECT kith_attachment_state(?)", arguments: [id.description]) }
        #expect(state == "damaged")
        try AttachmentTests.transfer(id, from: other.store, to: store)
        #expect(try store.provenAttachment(id) != nil && AttachmentTests.bytes(store, id) == content)
        #expect(try store.wantedAttachments() == [])
        let remains = FileManager.default.enumerator(atPath: database.path + "-kith-files")?.allObjects.map { "\($0)" } ?? []
        #expect(!remains.contains { $0.hasSuffix(".damaged") })
        store.close()
    }

    @Test func `content that was cut off is not called present, and attaching it again mends it`() throws {
        let notes = try AttachmentTests.store()
        let content = AttachmentTests.content(600_000)
        let id = try notes.store.attach(content)
        try notes.execute("INSERT INTO photo VALUES (?, ?)", [key(1), id.description])
        try Self.spoil(notes, id) { $0 = [] }
        #expect(notes.store.attachmentState(id) == .damaged(receivedBytes: 0, sizeBytes: 600_000))
        #expect(try notes.store.wantedAttachments() == [id])
        #expect(notes.store.attachmentsHere() == [])
        #expect(try notes.store.attach(content) == id)
        #expect(try AttachmentTests.bytes(notes.store, id) == content && notes.store.wantedAttachments() == [])
        // Damage that has not been noticed is mended by that as well.
        try Self.spoil(notes, id) { $0[5] ^= 1 }
        #expect(try notes.store.attach(content) == id)
        #expect(try notes.store.verifyAttachments() == [])
    }
}
