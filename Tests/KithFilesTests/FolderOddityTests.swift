import Foundation
import GRDB
import KithNotes
import KithStore
import Synchronization
import TestSupport
import Testing

@testable import KithFiles

@Suite("A folder with odd files, or on an odd system, loses notes or stops")
struct FolderOddityTests {
    private let machine: FolderMachine
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a")
    }

    private var notes: NotesStore { machine.notes }

    @Test("names that some systems take for one are notes of their own, and so are names that fill a file system's limit")
    func names() throws {
        let long = String(repeating: "n", count: 252) + ".md"
        for (index, name) in ["Caf\u{E9}.md", "Cafe\u{301}.md", "case.md", "CASE.md", long].enumerated() {
            try machine.save("text \(index)", as: name)
        }
        machine.clock.advance(1_000)
        #expect(try machine.sync().added == 5)
        #expect(try notes.list().map(\.body).sorted() == (0..<5).map { "text \($0)" })
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
        // What another system cannot hold gets another name there.
        let other = try FolderMachine(place, "b", clock: machine.clock, seed: 2)
        try other.pull(machine)
        try other.sync()
        #expect(try Set(other.files().map { FileName.key($0) }).count == 5)
        #expect(try other.files().allSatisfy { $0.utf8.count <= FileName.bytesMax })
        #expect(try other.contents().mapValues { $0[1] } == machine.contents().mapValues { $0[1] })
        // An edit of one of two twins is not one of the other.
        try machine.save(machine.read("Caf\u{E9}.md") + " more", as: "Caf\u{E9}.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.list().map(\.body).sorted() == ["text 0 more"] + (1..<5).map { "text \($0)" })
    }

    @Test(
        "a byte order mark, Windows' line ends and front matter of others stay as they are",
        arguments: [
            "\u{FEFF}text\n", "one\r\ntwo\r\n", "---\r\naliases: [x]\r\n---\r\ntext", "---\nno front matter\n---\ntext", "--- \n", "",
            "\u{FEFF}---\na: b\n---\n",
        ])
    func bytes(text: String) throws {
        try machine.save(text, as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let note = try #require(try notes.list().first)
        #expect(note.body.utf8.elementsEqual(text.utf8))
        try notes.edit(note.id) { $0.body += "end" }
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try FolderContent([UInt8](Data(contentsOf: URL(filePath: machine.path("Note.md")))), path: "Note.md").body == text + "end")
        #expect(try machine.sync().isQuiet)
    }

    @Test("what is no file of text is left as it is and named, and named no more when it is gone")
    func odd() throws {
        try notes.add(title: "Note")
        try machine.sync()
        try Data("a\u{0}b".utf8).write(to: URL(filePath: machine.path("nul.md")))
        try Data([0x66, 0xFF]).write(to: URL(filePath: machine.path("latin.md")))
        mkfifo(machine.path("pipe.md"), 0o600)
        symlink("/etc/passwd", machine.path("link.md"))
        try machine.makeSocket("socket.md")
        try Data(repeating: 0x61, count: MarkdownNote.bytesMax + 1).write(to: URL(filePath: machine.path("large.md")))
        machine.clock.advance(1_000)
        let names = ["large.md", "latin.md", "link.md", "nul.md", "pipe.md", "socket.md"]
        #expect(try machine.sync().left.map(\.path) == names)
        machine.tell("pipe.md", "link.md", "socket.md", "nul.md")
        #expect(try machine.pass()?.left.map(\.path) == names)
        #expect(try machine.folder.state(in: notes).left.map(\.path) == names)
        for name in names { unlink(machine.path(name)) }
        #expect(try machine.sync().left.isEmpty && notes.list().count == 1)
    }

    @Test("a file makes no note too long, whatever id it has, and one that machines have made too long is kept in step")
    func tooLong() throws {
        let log = try notes.add(title: "Log", body: "start")
        try machine.sync()
        let long = String(repeating: "x", count: NoteLimits.bodyBytesMax + 1)
        for id in [log.id.uuidString, UUID().uuidString] {
            try machine.save("---\nid: \(id)\n---\n\n\(long)", as: "Other.md")
            machine.clock.advance(1_000)
            #expect(try machine.sync().left.first?.words.contains("at most \(NoteLimits.bodyBytesMax)") == true, "\(id)")
        }
        unlink(machine.path("Other.md"))
        #expect(try notes.list().map(\.id) == [log.id] && notes.note(log.id)?.body == "start")
        try notes.store.database.write { try $0.execute(sql: "UPDATE note SET body = ?", arguments: [long]) }
        machine.clock.advance(1_000)
        #expect(try machine.sync().written == 1)
        let text = try machine.read("Log.md")
        try machine.save(String(text.dropLast(10)), as: "Log.md")
        machine.clock.advance(1_000)
        #expect(try machine.sync().left.isEmpty)
        #expect(try notes.note(log.id)?.body.utf8.count == long.utf8.count - 10)
    }

    @Test("a name that is not UTF-8 is named, and hurts nothing beside it")
    func oddName() throws {
        try notes.add(title: "Note")
        try machine.sync()
        var name = Array(machine.path("caf").utf8CString.dropLast())
        name += [CChar(bitPattern: 0xE9), CChar(bitPattern: 0x2E), 0x6D, 0x64, 0]
        let made = name.withUnsafeBufferPointer { name in name.baseAddress.map { open($0, O_CREAT | O_WRONLY, 0o600) } ?? -1 }
        try #require(made >= 0)
        close(made)
        try machine.save("text", as: "New.md")
        machine.clock.advance(1_000)
        let report = try machine.sync()
        #expect(report.left.map(\.words) == ["Its name is not UTF-8."] && report.added == 1, "\(report)")
        #expect(try notes.list().count == 2 && machine.sync().isQuiet)
    }

    @Test(
        "a file that the system does not let go is named, and not tried again without a pause",
        .enabled(if: canProtect, "chattr does not work here"))
    func protected() throws {
        let note = try notes.add(title: "Note", body: "text")
        try machine.sync()
        let file = machine.path("Note.md")
        try #require(try Self.protect(file, true))
        defer { _ = try? Self.protect(file, false) }
        let changes: [() throws -> Void] = [
            { try notes.edit(note.id) { $0.body = "newer" } }, { try notes.edit(note.id) { $0.title = "Other" } },
            { try notes.delete([note.id]) },
        ]
        for change in changes {
            try change()
            machine.clock.advance(1_000)
            let report = try #require(try machine.pass(ofEverything: true))
            #expect(report.left.map(\.path) == ["Note.md"] && report.busy == 0, "\(report)")
            #expect(report.left.first?.words.contains("cannot be written") == true)
        }
        #expect(try Self.protect(file, false) && machine.read("Note.md").hasSuffix("text"))
        machine.clock.advance(1_000)
        #expect(try machine.sync().left.isEmpty && machine.files().isEmpty)
    }

    private static let canProtect: Bool = {
        guard let place = try? TemporaryFolder(), let file = try? place.write("file", "text"), (try? protect(file, true)) == true else {
            return false
        }
        return (try? protect(file, false)) == true
    }()

    /// Forbids everybody, root too, to write or rename a file.
    private static func protect(_ file: String, _ isProtected: Bool) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/chattr")
        process.arguments = [isProtected ? "+i" : "-i", file]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test("folders that are moved, and files that are moved before they have an id, keep their notes")
    func moving() throws {
        for number in 0..<6 { try machine.save("text \(number)", as: "work/old/Note \(number).md") }
        machine.clock.advance(1_000)
        try machine.sync()
        let before = try machine.noteContents()
        rename(machine.path("work/old"), machine.path("plans"))
        #expect(try machine.sync().deleted == 0)
        #expect(try machine.noteContents() == before && machine.files().allSatisfy { $0.hasPrefix("plans/") })
        #expect(try machine.sync().isQuiet)
        // A pass that is killed before it wrote the id.
        try machine.save("no id yet", as: "New.md")
        machine.clock.advance(1_000)
        machine.options.step = { if $0 == "temporary" { throw Killed() } }
        #expect(throws: Killed.self) { try machine.sync() }
        machine.options.step = { _ in }
        try machine.move("New.md", to: "plans/Newer.md")
        try machine.sync()
        #expect(try notes.list().count == 7 && notes.titled("Newer")?.body == "no id yet")
    }

    @Test("two files that change places keep their notes, and a copy over another file is an edit of it")
    func swapping() throws {
        let (first, second) = (try notes.add(title: "One", body: "first"), try notes.add(title: "Two", body: "second"))
        try machine.sync()
        for (old, new) in [("One.md", "x.txt"), ("Two.md", "One.md"), ("x.txt", "Two.md")] { rename(machine.path(old), machine.path(new)) }
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.note(first.id)?.title == "Two" && notes.note(first.id)?.body == "first")
        #expect(try notes.note(second.id)?.title == "One" && notes.note(second.id)?.body == "second")
        try machine.save(machine.read("Two.md"), as: "One.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.list().count == 2 && notes.note(second.id)?.body == "first")
        #expect(try machine.contents() == machine.noteContents())
    }

    @Test("two files that change places while the folder is looked at keep their notes", arguments: [false, true])
    func swappingMeanwhile(isFresh: Bool) throws {
        let (first, second) = (try notes.add(title: "One", body: "first"), try notes.add(title: "Two", body: "second"))
        try machine.sync()
        machine.clock.advance(5_000)
        try machine.sync()
        rename(machine.path("One.md"), machine.path("x.txt"))
        try machine.save(machine.read("Two.md"), as: "One.md")
        machine.clock.advance(1_000)
        let (clock, one, two) = (machine.clock, machine.path("x.txt"), machine.path("Two.md"))
        let isSwapped = Mutex(false)
        // The first question about the time is whether the first file is quiet, when all were looked at.
        machine.options.nowMilliseconds = {
            let isFirst = isSwapped.withLock { isSwapped in
                defer { isSwapped = true }
                return !isSwapped
            }
            if isFirst {
                rename(one, two)
                if isFresh { clock.stamp(two) }
            }
            return clock.milliseconds
        }
        try machine.sync()
        #expect(try notes.note(first.id)?.title == "Two" && notes.note(first.id)?.body == "first")
        #expect(try notes.note(second.id)?.title == "One" && notes.note(second.id)?.body == "second")
        #expect(try machine.contents() == machine.noteContents())
    }

    @Test("a file that was rewritten with the size and the time that it had does not keep others' changes out for ever")
    func sameStamp() throws {
        let note = try notes.add(title: "Note", body: "aaaa\n")
        try machine.sync()
        machine.clock.advance(10_000)
        machine.options.readsAll = true
        try machine.sync()
        machine.options.readsAll = false
        let file = machine.path("Note.md")
        let before = ForeignFile.kind(file)
        var status = stat()
        #expect(stat(file, &status) == 0)
        try machine.save(machine.read("Note.md").replacingOccurrences(of: "aaaa", with: "bbbb"), as: "Note.md")
        let times = [status.st_mtim, status.st_mtim]
        #expect(utimensat(AT_FDCWD, file, times, 0) == 0 && ForeignFile.kind(file) == before)
        try notes.edit(note.id) { $0.body += "theirs\n" }
        machine.clock.advance(1_000)
        #expect(try machine.sync().busy == 0)
        #expect(try notes.note(note.id)?.body == "bbbb\ntheirs\n")
        #expect(try machine.contents() == machine.noteContents())
    }

    @Test("a file that gave way to a folder of its name is gone, also if only this place is looked at")
    func folderInPlace() throws {
        let note = try notes.add(title: "Note", body: "text")
        try notes.add(title: "Other")
        try machine.pass()
        try machine.pass()
        unlink(machine.path("Note.md"))
        #expect(mkdir(machine.path("Note.md"), 0o700) == 0)
        machine.tell("Note.md")
        for _ in 0..<3 {
            machine.clock.advance(1_000)
            try machine.pass()
        }
        #expect(try notes.note(note.id) == nil && notes.list().count == 1)
    }

    @Test("a tag that is too long, and tags that are too many, leave the file as it is, and name it")
    func tooManyTags() throws {
        let note = try notes.add(title: "Note", body: "text", tags: ["a"])
        try machine.sync()
        let text = try machine.read("Note.md")
        let long = String(repeating: "x", count: 65)
        let many = (0..<65).map { "t\($0)" }.joined(separator: ", ")
        for (tags, words) in [("a, \(long)", "65 bytes"), (many, "65 tags")] {
            let mine = text.replacingOccurrences(of: "tags: [a]", with: "tags: [\(tags)]")
            for name in ["Note.md", "New.md"] {
                let said = name == "New.md" ? "---\ntags: [\(tags)]\n---\ntext" : mine
                try machine.save(said, as: name)
                machine.clock.advance(1_000)
                let left = try machine.sync().left
                #expect(left.count == 1 && left.first?.path == name && left.first?.words.contains(words) == true, "\(left)")
                #expect(try machine.read(name) == said && Array(notes.note(note.id)?.tags ?? []) == ["a"] && notes.list().count == 1)
                if name == "New.md" { machine.remove(name) } else { try machine.save(text, as: name) }
            }
        }
        // What machines have added at the same time may stay, and be fewer.
        let json = "[" + (0..<70).map { "\"u\(String($0 + 100))\"" }.joined(separator: ",") + "]"
        try notes.store.database.write { try $0.execute(sql: "UPDATE note SET tags = ?", arguments: [json]) }
        machine.clock.advance(1_000)
        try machine.sync()
        try machine.save(machine.read("Note.md").replacingOccurrences(of: ", u169", with: ""), as: "Note.md")
        machine.clock.advance(1_000)
        #expect(try machine.sync().left.isEmpty && notes.note(note.id)?.tags.count == 69)
    }

    @Test("files that go one after another are braked like those that go at once")
    func slowDeletion() throws {
        for number in 0..<30 { try notes.add(title: "Note \(number)") }
        try machine.pass()
        var deleted = 0
        for number in 0..<30 {
            machine.remove("Note \(number).md")
            machine.clock.advance(300)
            deleted += try machine.pass()?.deleted ?? 0
            machine.clock.advance(300)
            deleted += try machine.pass()?.deleted ?? 0
        }
        #expect(deleted < 12 && deleted > 0)
        #expect(try notes.list().count == 30 - deleted && machine.folder.state(in: notes).held == 30 - deleted)
    }

    @Test("a folder that is emptied or replaced while it is looked at deletes nothing")
    func vanished() throws {
        for number in 0..<3 { try notes.add(title: "Note \(number)") }
        try machine.sync()
        let path = machine.folder.path
        machine.options.step = { _ in }
        for name in try machine.files() { unlink(machine.path(name)) }
        machine.clock.advance(1_000)
        #expect(try machine.sync().held == 3 && notes.list().count == 3)
        rename(path, path + "-away")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        machine.options.deletesMany = true
        #expect { try machine.sync() } throws: { ($0 as? FilesError)?.code == .notFound }
        #expect(try notes.list().count == 3)
    }

    @Test("a file that a program is writing is not read, and what it writes after the file was exchanged is not lost")
    func slowWriter() throws {
        let note = try notes.add(title: "Note", body: "one\n")
        try machine.sync()
        machine.clock.advance(1_000)
        let text = try machine.read("Note.md") + "two\n"
        machine.writers.begin(machine.path("Note.md"), text, empties: true, machine.clock)
        machine.clock.advance(1_000)
        try machine.pass()
        #expect(try notes.note(note.id)?.body == "one\n")
        _ = machine.writers.finish(.max, machine.clock)
        try notes.edit(note.id) { $0.body = "zero\n" + $0.body }
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.note(note.id)?.body == "zero\none\ntwo\n")
        let (writers, clock) = (machine.writers, machine.clock)
        let later = try machine.read("Note.md") + "three\n"
        machine.options.beforeExchange = { writers.begin($0, later, empties: true, clock) }
        try notes.edit(note.id) { $0.body = "minus\n" + $0.body }
        machine.clock.advance(1_000)
        try machine.pass(ofEverything: true)
        machine.options.beforeExchange = { _ in }
        _ = writers.finish(.max, clock)
        try machine.sync()
        #expect(try notes.note(note.id)?.body == "minus\nzero\none\ntwo\nthree\n")
        #expect(try machine.contents() == machine.noteContents())
    }

    @Test("a file that lost its front matter keeps tags, color and note")
    func bare() throws {
        let note = try notes.add(title: "Note", body: "text", color: .red, tags: ["a"])
        try machine.sync()
        try machine.save("plain", as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let now = try #require(try notes.note(note.id))
        #expect(now.body == "plain" && now.color == .red && Array(now.tags) == ["a"])
        #expect(try machine.contents() == machine.noteContents())
    }

    @Test("a NUL of another device keeps nothing behind it out of the file")
    func nul() throws {
        let note = try notes.add(title: "Log", body: "one")
        try machine.sync()
        try notes.store.database.write { try $0.execute(sql: "UPDATE note SET body = 'one' || char(0) || 'two'") }
        try machine.sync()
        #expect(try machine.read("Log.md").contains("one\u{FFFD}two"))
        machine.clock.advance(1_000)
        #expect(try machine.sync().isQuiet)
        try machine.save(machine.read("Log.md") + " three", as: "Log.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.note(note.id)?.body == "one\u{FFFD}two three")
    }
}
