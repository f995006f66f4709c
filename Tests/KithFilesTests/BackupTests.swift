import Foundation
import KithNotes
import KithStore
import KithSync
import Testing

@testable import KithFiles

@Suite("A backup lacks something, is lost with the store, or hurts the other machines")
struct BackupTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func filled() throws -> NotesStore {
        let notes = try folder.notes("first")
        for number in 0..<30 { try notes.add(title: "Note \(number)", body: "text \(number)", tags: ["t"]) }
        let note = try notes.add(title: "With a file")
        try notes.attach(URL(filePath: folder.write("photo.jpg", String(repeating: "photo", count: 100_000))), to: note.id)
        try notes.edit(note.id) { $0.body = "changed" }
        let gone = try notes.add(title: "Gone")
        try notes.delete([gone.id])
        return notes
    }

    private func restored(_ file: String, _ name: String, passphrase: String = "") throws -> NotesStore {
        let place = folder.url.appending(path: "\(name)-store/notes.sqlite")
        _ = try NotesBackup.restore(folder.path(file), to: place) { passphrase }
        return try folder.notes(name)
    }

    @Test("all is there again, with history, trash and attachments", arguments: [nil, "five words that fit together"])
    func whole(passphrase: String?) throws {
        let first = try filled()
        let report = try NotesBackup.write(first, to: folder.path("b"), passphrase: passphrase, logN: 10)
        #expect(report.notes == 31 && report.attachments == 1 && report.missing.isEmpty && report.bytes > 0)
        let second = try restored("b", "second", passphrase: passphrase ?? "")
        #expect(try second.everything() == first.everything())
        let note = try #require(try second.titled("With a file"))
        #expect(try second.history(of: note.id).count == first.history(of: note.id).count)
        #expect(try second.provenFile(of: second.attachments(of: note.id)[0])?.sizeBytes == 500_000)
        #expect(try second.store.verify().isSound)
        #expect(SealedStream.isSealed(folder.path("b")) == (passphrase != nil))
    }

    @Test("a damaged store that is opened by a link is restored where the link leads")
    func linkedStore() throws {
        let first = try filled()
        let all = try first.everything()
        _ = try NotesBackup.write(first, to: folder.path("b"))
        try first.close()
        let (link, file) = (folder.url.appending(path: "links/notes.sqlite"), folder.url.appending(path: "first-store/notes.sqlite"))
        try FileManager.default.createDirectory(atPath: folder.path("links"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let report = try NotesBackup.restore(folder.path("b"), to: link, passphrase: { "" }) {
            _ = try SyncedDatabase.setAside(at: link.path, ending: ".before")
        }
        #expect(report.notes == 31 && FileManager.default.fileExists(atPath: file.path + ".before"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("links")) == ["notes.sqlite"])
        #expect(try folder.notes("first").everything() == all)
    }

    @Test("what is not here is named, and a link that a person names is followed; what is no file is called that")
    func lackingAndLinked() throws {
        let first = try filled()
        let note = try #require(try first.titled("With a file"))
        let file = try #require(try first.provenFile(of: first.attachments(of: note.id)[0]))
        try FileManager.default.removeItem(at: file.url)
        let trashed = try first.add(title: "Thrown away")
        let other = try #require(try first.provenFile(of: first.attach(URL(filePath: folder.write("a.txt", "damaged")), to: trashed.id)))
        try first.delete([trashed.id])
        chmod(other.url.path, 0o600)
        try Data("changed".utf8).write(to: other.url)
        let report = try NotesBackup.write(first, to: folder.path("b"), passphrase: "five words that fit together", logN: 10)
        #expect(report.attachments == 0)
        #expect(report.missing.map { [$0.note, $0.attachment] } == [["With a file", "photo.jpg"], ["Thrown away", "a.txt"]])
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "b")
        #expect(NotesBackup.isSealed(folder.path("link")))
        let second = try restored("link", "second", passphrase: "five words that fit together")
        #expect(try second.list().count == 31)
        mkfifo(folder.path("pipe"), 0o600)
        #expect(!NotesBackup.isSealed(folder.path("pipe")))
        for name in ["pipe", "first-store"] {
            let error = #expect(throws: FilesError.self) { try restored(name, "third") }
            #expect(error?.message.contains("not a regular file") == true, "\(String(describing: error))")
        }
    }

    @Test("a restored store is a new replica and catches up, and what was deleted since stays deleted")
    func catchesUp() throws {
        let (first, other) = (try filled(), try folder.notes("other"))
        _ = try other.store.apply(first.store.delta(since: other.store.vector()))
        _ = try NotesBackup.write(first, to: folder.path("b"))
        // Written after the backup, and known to the other machine; then the first machine is lost.
        try first.add(title: "Later")
        let victim = try #require(try first.titled("Note 3"))
        try first.delete([victim.id])
        let edited = try #require(try first.titled("Note 4"))
        try first.edit(edited.id) { $0.body += " and more" }
        _ = try other.store.apply(first.store.delta(since: other.store.vector()))
        let again = try restored("b", "again")
        #expect(try again.store.summary().replica != first.store.summary().replica)
        try again.edit(edited.id) { $0.body = "before: " + $0.body }
        for _ in 0..<2 {
            _ = try again.store.apply(other.store.delta(since: again.store.vector()))
            _ = try other.store.apply(again.store.delta(since: other.store.vector()))
        }
        #expect(try again.list(NoteQuery()) == other.list(NoteQuery()))
        #expect(try again.titled("Later") != nil && again.titled("Note 3") == nil)
        #expect(try again.note(edited.id)?.body == "before: text 4 and more")
    }

    @Test("a backup is made while others write, and is as of one moment")
    func whileWriting() async throws {
        var options = NotesStore.Options()
        options.readsWhileWriting = true
        let notes = try NotesStore.open(folder.url.appending(path: "busy/notes.sqlite"), options: options)
        for number in 0..<20 { try notes.add(title: "Note \(number)", body: String(repeating: "x", count: 5_000)) }
        let writer = Task.detached {
            var count = 0
            while !Task.isCancelled {
                try notes.add(title: "More \(count)")
                count += 1
            }
        }
        for round in 0..<3 {
            _ = try NotesBackup.write(notes, to: folder.path("b\(round)"))
            #expect(try restored("b\(round)", "r\(round)").store.verify().isSound)
        }
        writer.cancel()
        try await writer.value
    }

    @Test("a file that is damaged, cut off, or opened with the wrong passphrase restores nothing")
    func damaged() throws {
        let first = try filled()
        _ = try NotesBackup.write(first, to: folder.path("plain"))
        _ = try NotesBackup.write(first, to: folder.path("sealed"), passphrase: "five words that fit together", logN: 10)
        let place = folder.url.appending(path: "r-store/notes.sqlite")
        func expectRefused(_ path: String, _ codes: Set<FilesError.Code>, _ passphrase: String = "five words that fit together") throws {
            do {
                _ = try NotesBackup.restore(path, to: place) { passphrase }
                Issue.record("\(path) was restored")
            } catch let error as FilesError {
                #expect(codes.contains(error.code), "\(error)")
            }
            #expect(!FileManager.default.fileExists(atPath: place.path))
        }
        for name in ["plain", "sealed"] {
            let bytes = try folder.bytes(name)
            for part in [0, 3, 20, 40, bytes.count / 2, bytes.count * 9 / 10] {
                try expectRefused(try folder.write("\(name)-\(part)", bytes[..<part]), [.data, .wrongPassphrase])
            }
            var changed = bytes
            changed[bytes.count / 2] ^= 1
            try expectRefused(try folder.write("\(name)-changed", changed), [.data, .wrongPassphrase])
        }
        try expectRefused(try folder.write("sealed-longer", folder.bytes("sealed") + [0]), [.data, .wrongPassphrase])
        try expectRefused(folder.path("sealed"), [.wrongPassphrase], "other words altogether")
        try expectRefused(folder.path("missing"), [.notFound])
        let left = try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path)
        #expect(left.isEmpty, "\(left)")
    }

    @Test("nothing is written over, and a short passphrase is refused")
    func refusals() throws {
        let notes = try filled()
        try folder.write("there", "mine")
        #expect { try NotesBackup.write(notes, to: folder.path("there")) } throws: { ($0 as? FilesError)?.code == .cannotCreate }
        #expect { try NotesBackup.write(notes, to: folder.path("b"), passphrase: "short") } throws: {
            ($0 as? FilesError)?.code == .wrongPassphrase
        }
        _ = try NotesBackup.write(notes, to: folder.path("b"))
        #expect(throws: FilesError.self) {
            try NotesBackup.restore(folder.path("b"), to: folder.url.appending(path: "first-store/notes.sqlite")) { "" }
        }
        #expect(try folder.bytes("there") == Array("mine".utf8))
    }

    @Test("notes that were lost come back in their place")
    func lostStore() throws {
        let notes = try filled()
        let before = try notes.everything()
        _ = try NotesBackup.write(notes, to: folder.path("b"))
        try notes.close()
        let place = folder.url.appending(path: "first-store/notes.sqlite")
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path + ending) }
        #expect { try folder.notes("first") } throws: { ($0 as? NotesError)?.code == .lost }
        _ = try NotesBackup.restore(folder.path("b"), to: place) { "" }
        #expect(try folder.notes("first").everything() == before)
    }

    @Test("an import of a backup, or of what has no note, says so", arguments: [nil, "five words that fit together"])
    func imported(passphrase: String?) throws {
        let notes = try filled()
        _ = try NotesBackup.write(notes, to: folder.path("b.kithbackup"), passphrase: passphrase, logN: 10)
        let error = #expect(throws: FilesError.self) { try NoteImport.run(folder.path("b.kithbackup"), into: notes) }
        #expect(error?.code == .data && error?.message.contains("b.kithbackup is a backup of Kith") == true, "\(error?.message ?? "")")
        try folder.write("empty/photo.jpg", "photo")
        let nothing = #expect(throws: FilesError.self) { try NoteImport.run(folder.path("empty"), into: notes) }
        #expect(nothing?.code == .data && nothing?.message.contains("There is no note in \(folder.path("empty"))") == true)
    }
}
