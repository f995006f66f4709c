import Foundation
import GRDB
import KithCausality
import KithNotes
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("An attachment goes astray, or takes its note or the file system with it")
struct NoteAttachmentTests {
    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try NotesStore.open(folder.url("a/notes.sqlite"), options: .deterministic(seed: 1))
    }

    private func file(_ name: String, _ text: String = "content") throws -> URL {
        try Data(text.utf8).write(to: folder.url(name))
        return folder.url(name)
    }

    @Test func `an attachment is listed, found, and gone with its note, which brings it back from the trash`() throws {
        let note = try notes.add(title: "Trip")
        let photo = try notes.attach(file("photo.jpg"), to: note.id)
        let ticket = try notes.attach(file("ticket.pdf", "other"), to: note.id, name: "Ticket")
        #expect(photo.name == "photo.jpg" && photo.sizeBytes == 7 && photo.fractionReceived == 1)
        #expect(try notes.attachments(of: note.id).map(\.name) == ["Ticket", "photo.jpg"])
        #expect(try notes.findAttachment("Ticket", of: note).id == ticket.id)
        #expect(try notes.findAttachment(String(photo.id.uuidString.suffix(8)), of: note).id == photo.id)
        #expect(code { _ = try notes.findAttachment("none", of: note) } == .notFound)
        #expect(try notes.find("Trip").updatedMilliseconds > note.updatedMilliseconds)
        try notes.detach(ticket)
        let again = try notes.attach(file("photo.jpg"), to: note.id)
        #expect(code { _ = try notes.findAttachment("photo.jpg", of: note) } == .ambiguous)
        #expect(again.content == photo.content)
        try notes.delete([note.id])
        #expect(try notes.attachments(of: note.id) == [])
        try notes.restore(note.id)
        #expect(Set(try notes.attachments(of: note.id).map(\.id)) == [photo.id, again.id])
        try notes.close()
    }

    @Test func `a note that went on another device's word brings its attachments back, and the trash says whose word it was`() throws {
        let note = try notes.add(title: "Trip")
        let photo = try notes.attach(file("photo.jpg"), to: note.id)
        let ticket = try notes.attach(file("ticket.pdf", "other"), to: note.id, name: "Ticket")
        try notes.detach(ticket)
        // A member that knows all of it says that it holds nothing of any row.
        var slice = try notes.store.delta(since: VersionVector())
        let head = Head(dot: Dot(replica: ReplicaID(high: 9, low: 9), sequence: 1), timestamp: HybridTimestamp(milliseconds: 1))
        slice.vector.join(VersionVector([head.dot]))
        slice.target = (slice.target + [head]).sorted { $0.dot < $1.dot }
        for index in slice.rows.indices { slice.rows[index].state = RowState() }
        _ = try notes.store.apply(slice, from: [9])
        #expect(try notes.list().isEmpty)
        let trashed = try #require(try notes.trash().first)
        #expect(trashed.isOnlySaid && trashed.deletedBy == .device([9]) && !trashed.isDeletedHere)
        try notes.restore(note.id)
        #expect(try notes.attachments(of: note.id).map(\.id) == [photo.id])
        // What is deleted by a commit is not only said.
        try notes.delete([note.id])
        #expect(try notes.trash().map(\.isOnlySaid) == [false])
        try notes.close()
    }

    @Test func `a note that is deleted while somebody changes it keeps its attachments, but for those that were removed before`()
        async throws
    {
        let other = try NotesStore.open(folder.url("b/notes.sqlite"), options: .deterministic(seed: 2))
        let third = try NotesStore.open(folder.url("c/notes.sqlite"), options: .deterministic(seed: 3))
        let note = try notes.add(title: "Trip")
        let photo = try notes.attach(file("photo.jpg"), to: note.id)
        let old = try notes.attach(file("old.jpg", "old"), to: note.id)
        for store in [other, third] { try store.pull(from: notes) }
        try notes.detach(old)
        try notes.delete([note.id])
        try other.edit(note.id) { $0.color = .red }
        // One hears of the deletion first, one of the change, and one of both through another.
        try other.pull(from: notes)
        try third.pull(from: notes)
        try third.pull(from: other)
        try notes.pull(from: third)
        for store in [notes, other, third] {
            #expect(try store.find("Trip").color == .red)
            try await until { try store.attachments(of: note.id).map(\.id) == [photo.id] }
        }
        // Each of them has brought it back, so that who removes it must have heard of all.
        for store in [notes, third] { try other.pull(from: store) }
        try other.detach(photo)
        for store in [notes, third] { try store.pull(from: other) }
        for store in [notes, other, third] {
            #expect(try store.bringBackAttachments() == 0 && store.attachments(of: note.id).isEmpty)
            try store.close()
        }
    }

    @Test func `a process that ends right after a merge, as one that reads a stick, has brought the attachments back`() throws {
        let other = try NotesStore.open(folder.url("b/notes.sqlite"), options: .deterministic(seed: 2))
        let note = try notes.add(title: "Trip")
        let photo = try notes.attach(file("photo.jpg"), to: note.id)
        try other.pull(from: notes)
        try notes.delete([note.id])
        try other.edit(note.id) { $0.color = .red }
        try other.pull(from: notes)
        try other.close()
        let again = try NotesStore.open(folder.url("b/notes.sqlite"), options: .deterministic(seed: 4))
        #expect(try again.attachments(of: note.id).map(\.id) == [photo.id])
        try again.close()
    }

    private func until(_ isTrue: () throws -> Bool) async throws {
        for _ in 0..<1_000 {
            if try isTrue() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("It did not become true in ten seconds.")
    }

    @Test func `a note that is deleted while somebody attaches a file to it comes back with the file`() throws {
        let other = try NotesStore.open(folder.url("b/notes.sqlite"), options: .deterministic(seed: 2))
        let note = try notes.add(title: "Trip")
        try other.pull(from: notes)
        let photo = try other.attach(file("photo.jpg"), to: note.id)
        try notes.delete([note.id])
        try notes.pull(from: other)
        try other.pull(from: notes)
        for store in [notes, other] {
            #expect(try store.find("Trip").id == note.id)
            #expect(try store.attachments(of: note.id).map(\.id) == [photo.id])
        }
        // Where the bytes are not, they are on their way.
        #expect(try notes.attachments(of: note.id).first?.state == .onItsWay(receivedBytes: 0, sizeBytes: nil))
        #expect(try notes.attachments(of: note.id).first?.sizeBytes == 7)
        try notes.close()
        try other.close()
    }

    @Test func `what is no file, no note, or past a limit is refused, and nothing is attached`() throws {
        let note = try notes.add(title: "Trip")
        let photo = try file("photo.jpg")
        #expect(code { try notes.attach(folder.url("none"), to: note.id) } == .notFound)
        #expect(code { try notes.attach(folder.url, to: note.id) } == .valueRejected)
        #expect(code { try notes.attach(photo, to: UUID()) } == .notFound)
        #expect(code { try notes.attach(photo, to: note.id, name: "") } == .valueRejected)
        #expect(code { try notes.attach(photo, to: note.id, name: "a\nb") } == .valueRejected)
        let longest = String(repeating: "n", count: NoteLimits.attachmentNameBytesMax)
        #expect(code { try notes.attach(photo, to: note.id, name: longest) } == nil)
        #expect(code { try notes.attach(photo, to: note.id, name: longest + "n") } == .valueRejected)
        try notes.store.database.write { db in
            for _ in 1..<NoteLimits.attachmentsMax - 1 {
                try db.execute(sql: "INSERT INTO attachment (id, note) VALUES (randomblob(16), ?)", arguments: [Data(RowBytes.of(note.id))])
            }
        }
        #expect(code { try notes.attach(photo, to: note.id) } == nil)
        #expect(code { try notes.attach(photo, to: note.id) } == .valueRejected)
        try notes.close()
    }

    @Test(
        arguments: [
            ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("..", "attachment-"), ("/", "attachment-"), ("", "attachment-"),
            (".profile", "profile"), ("C:\\x\\y.txt", "y.txt"), ("a\nb\u{7}c", "abc"), ("été 1.png", "été 1.png"),
        ])
    func `a name from elsewhere stays in the folder where it is saved`(name: String, saved: String) throws {
        let note = try notes.add(title: "Trip")
        try notes.attach(file("photo.jpg"), to: note.id)
        try notes.store.database.write { try $0.execute(sql: "UPDATE attachment SET name = ?", arguments: [name]) }
        let attachment = try #require(try notes.attachments(of: note.id).first)
        #expect(attachment.fileName.hasPrefix(saved) && !attachment.fileName.contains("/"))
        try notes.close()
    }

    @Test func `rows that hold anything at all are shown as on their way, or left out`() throws {
        let note = try notes.add(title: "Trip")
        let id = Data(RowBytes.of(note.id))
        try notes.store.database.write { db in
            for (name, size, file): ((any DatabaseValueConvertible)?, (any DatabaseValueConvertible)?, (any DatabaseValueConvertible)?) in [
                (1, "x", 2), ("a", -5, "not a hash"), ("b", Int64.max, String(repeating: "f", count: 64)), ("c", 1.5, Data([1])),
            ] {
                try db.execute(
                    sql: "INSERT INTO attachment (id, note, name, size, file) VALUES (randomblob(16), ?, ?, ?, ?)",
                    arguments: [id, name, size, file])
            }
        }
        let attachments = try notes.attachments(of: note.id)
        #expect(attachments.count == 4)
        #expect(attachments.allSatisfy { $0.fractionReceived == 0 && $0.sizeBytes >= 0 && !$0.fileName.isEmpty })
        try notes.close()
    }
}

private enum RowBytes {
    static func of(_ id: UUID) -> [UInt8] { withUnsafeBytes(of: id.uuid) { Array($0) } }
}
