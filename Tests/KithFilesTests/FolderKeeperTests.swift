import Foundation
import KithNotes
import KithStore
import Synchronization
import Testing

@testable import KithFiles

#if os(Linux)
import Glibc
#endif

@Suite("What is saved while the keeper of folders runs does not arrive", .timeLimit(.minutes(2)))
struct FolderKeeperTests {
    private let place: TemporaryFolder
    private let notes: NotesStore
    private let folder: NotesFolder

    init() throws {
        place = try TemporaryFolder()
        notes = try NotesStore.open(place.url.appending(path: "store/notes.sqlite"))
        folder = try NotesFolder.add(place.path("Notes"), to: notes)
    }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    private func read(_ name: String) -> String? { try? String(contentsOf: URL(filePath: path(name)), encoding: .utf8) }

    /// Waits until something is so; the suite's limit ends a wait in vain.
    private func wait(until isSo: () throws -> Bool) async throws {
        while try !isSo() { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test("a save is in the notes, a change of a note in its file, in new and moved folders, too, and after the folder was away")
    func keeping() async throws {
        let keeper = FolderKeeper(notes) { _ in }
        let running = Task { await keeper.run() }
        let note = try notes.add(title: "Note", body: "one\n")
        try await wait { read("Note.md")?.hasSuffix("one\n") == true }
        try Data((try #require(read("Note.md")) + "two\n").utf8).write(to: URL(filePath: path("Note.md")), options: .atomic)
        try await wait { try notes.note(note.id)?.body == "one\ntwo\n" }
        try place.write("Notes/sub/deep/New.md", "new")
        try await wait { try notes.titled("New") != nil && read("sub/deep/New.md")?.hasPrefix("---") == true }
        try place.write("Notes/sub/deep/Second.md", "second")
        try await wait { try notes.titled("Second") != nil }
        rename(path("sub"), path("moved"))
        try notes.edit(try #require(try notes.titled("New")).id) { $0.body = "newer" }
        try await wait { read("moved/deep/New.md")?.hasSuffix("newer") == true }
        for number in 0..<4 { try notes.add(title: "Other \(number)") }
        try await wait { read("Other 3.md") != nil }
        unlink(path("Other 0.md"))
        try await wait { try notes.titled("Other 0") == nil }
        rename(folder.path, folder.path + "-away")
        try notes.edit(note.id) { $0.body = "meanwhile" }
        rename(folder.path + "-away", folder.path)
        try await wait { read("Note.md")?.hasSuffix("meanwhile") == true }
        #expect(try notes.list().count == 6)
        running.cancel()
        await running.value
    }

    #if os(Linux)
    /// Needs root, to mount.
    private static let mayMount = geteuid() == 0

    private func mount(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/mount")
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
    }

    @Test("a note that changed while the folder could not be written is in its file some time after it can be", .enabled(if: mayMount))
    func readOnly() async throws {
        let disk = place.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try mount("-t", "tmpfs", "none", disk)
        defer { umount2(disk, Int32(MNT_DETACH)) }
        let mounted = try NotesFolder.add(disk, to: notes)
        let note = try notes.add(title: "Note", body: "one")
        var options = NotesFolder.Options()
        options.leftMilliseconds = 100
        let keeper = FolderKeeper(notes, options) { _ in }
        let running = Task { await keeper.run() }
        func text() -> String? { try? String(contentsOf: URL(filePath: "\(disk)/Note.md"), encoding: .utf8) }
        try await wait { text()?.hasSuffix("one") == true }
        try mount("-o", "remount,ro", disk)
        try notes.edit(note.id) { $0.body = "two" }
        try await wait { try mounted.state(in: notes).left.count == 1 }
        #expect(try mounted.state(in: notes).behind == 1 && text()?.hasSuffix("one") == true)
        try mount("-o", "remount,rw", disk)
        try await wait { text()?.hasSuffix("two") == true }
        try await wait { try mounted.state(in: notes).behind == 0 && mounted.state(in: notes).left.isEmpty }
        running.cancel()
        await running.value
    }
    #endif

    #if os(Linux)
    @Test("a file of which the name is not UTF-8 is named as soon as it is there")
    func oddName() async throws {
        let keeper = FolderKeeper(notes) { _ in }
        let running = Task { await keeper.run() }
        try notes.add(title: "Note")
        try await wait { read("Note.md") != nil }
        let name = Array(path("caf").utf8CString.dropLast()) + [CChar(bitPattern: 0xE9), 0x2E, 0x6D, 0x64, 0]
        let made = name.withUnsafeBufferPointer { name in name.baseAddress.map { open($0, O_CREAT | O_WRONLY, 0o600) } ?? -1 }
        try #require(made >= 0)
        close(made)
        try await wait { try folder.state(in: notes).left.contains { $0.words == "Its name is not UTF-8." } }
        running.cancel()
        await running.value
    }
    #endif

    @Test("an attachment whose bytes come late gets its file, whatever else was kept meanwhile")
    func lateAttachment() async throws {
        let note = try notes.add(title: "Note")
        let attachment = try notes.attach(URL(filePath: place.write("late.bin", "bytes")), to: note.id)
        let content = try #require(try notes.provenFile(of: attachment)).url.path
        rename(content, place.path("aside"))
        let keeper = FolderKeeper(notes) { _ in }
        let running = Task { await keeper.run() }
        try await wait { read("Note.md") != nil }
        for number in 0..<3 {
            try notes.add(title: "Other \(number)")
            try await wait { read("Other \(number).md") != nil }
        }
        rename(place.path("aside"), content)
        try await wait { read("attachments/late.bin") == "bytes" }
        running.cancel()
        await running.value
    }

    @Test("a folder that is added while the keeper runs is kept, too, and one that is removed is not")
    func added() async throws {
        let keeper = FolderKeeper(notes) { _ in }
        let running = Task { await keeper.run() }
        let second = try NotesFolder.add(place.path("Second"), tag: "work", to: notes)
        try notes.add(title: "Tagged", tags: ["work"])
        try await wait { FileManager.default.fileExists(atPath: second.path + "/Tagged.md") }
        try folder.remove(from: notes)
        try place.write("Second/Mine.md", "mine")
        try await wait { try notes.titled("Mine")?.tags.contains("work") == true }
        running.cancel()
        await running.value
    }

    #if os(Linux)
    @Test(
        "an editor that has an old text open takes back nothing that others wrote since; one that has read it may",
        arguments: [false, true])
    func openForLong(isRead: Bool) async throws {
        let keeper = FolderKeeper(notes) { _ in }
        let running = Task { await keeper.run() }
        let note = try notes.add(title: "Note", body: "one\ntwo\n", tags: ["old"])
        try await wait { read("Note.md")?.hasSuffix("two\n") == true }
        let old = try #require(read("Note.md"))
        for line in ["first", "second"] {
            let before = ForeignFile.kind(path("Note.md"))
            try notes.edit(note.id) {
                $0.body = "\(line)\n" + $0.body
                $0.tags.insert(line)
            }
            try await wait { ForeignFile.kind(path("Note.md")) != before }
        }
        if isRead { #expect(read("Note.md")?.contains("second\nfirst\none") == true) }
        try Data((old + "three\n").utf8).write(to: URL(filePath: path("Note.md")), options: isRead ? .atomic : [])
        try await wait { try notes.note(note.id)?.body.hasSuffix("three\n") == true }
        let merged = try #require(try notes.note(note.id))
        #expect(merged.body == (isRead ? "one\ntwo\nthree\n" : "second\nfirst\none\ntwo\nthree\n"))
        #expect(Array(merged.tags).sorted() == (isRead ? ["old"] : ["first", "old", "second"]))
        try await wait { read("Note.md")?.hasSuffix(merged.body) == true }
        running.cancel()
        await running.value
    }

    @Test("a folder that was moved away is not watched any more")
    func movedAway() throws {
        try place.write("Notes/sub/Old.md", "old")
        let events = try #require(InotifyEvents(folder.path, foldersMax: .max))
        #expect(rename(path("sub"), place.path("away")) == 0)
        #expect(events.take() == .everything)
        try place.write("away/new/New.md", "new")
        #expect(events.take() == .nothing)
        try place.write("Notes/Here.md", "here")
        #expect(events.take() == .some([FolderPath("Here.md")]))
    }

    @Test("where the system watches no more folders, what is saved arrives later, and the person is told")
    func unwatched() async throws {
        let told = Mutex<[String]>([])
        var options = NotesFolder.Options()
        options.watchedMax = 2
        try place.write("Notes/sub/Old.md", "old")
        let keeper = FolderKeeper(notes, options) { words in told.withLock { $0.append(words) } }
        let running = Task { await keeper.run() }
        try await wait { read("sub/Old.md")?.hasPrefix("---") == true }
        #expect(told.withLock { $0 } == [])
        for name in ["a", "b", "c"] { try place.write("Notes/\(name)/First.md", "first") }
        try await wait { try notes.list().count == 4 }
        #expect(told.withLock { $0.count { $0.contains("does not watch") } } == 1)
        for name in ["a", "b", "c"] { try place.write("Notes/\(name)/Second.md", "second") }
        try await wait { try notes.list().count == 7 }
        running.cancel()
        await running.value
    }
    #endif
}
