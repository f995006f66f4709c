import Foundation
import GRDB
import KithNotes
import KithStore
import Synchronization
import Testing

@testable import KithFiles

@Suite("A folder and its notes lose what somebody wrote, or do not become the same")
struct FolderSyncTests {
    private let place: TemporaryFolder
    private let machine: FolderMachine

    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a")
    }

    private var notes: NotesStore { machine.notes }

    @Test("notes become files, files notes, and then nothing is left to do")
    func firstTime() throws {
        try notes.add(title: "Shopping", body: "Bread\r\n", color: .red, tags: ["home"])
        try notes.add(title: "a/b")
        try machine.save("# Plan\n", as: "Plan.md")
        try machine.save("---\ntags: [x]\naliases: [p]\n---\ntext", as: "Tagged.md")
        let report = try machine.sync()
        #expect(report.added == 2 && report.left.isEmpty, "\(report)")
        #expect(try machine.files() == ["Plan.md", "Shopping.md", "Tagged.md", "a-b.md"])
        #expect(try machine.read("Shopping.md").hasSuffix("---\r\nBread\r\n"))
        #expect(try notes.titled("Plan")?.body == "# Plan\n")
        #expect(try machine.read("Plan.md").hasPrefix("---\nid: ") && machine.read("Plan.md").hasSuffix("---\n# Plan\n"))
        #expect(try notes.titled("Tagged")?.body == "---\naliases: [p]\n---\ntext")
        #expect(try machine.contents() == machine.noteContents())
        for _ in 0..<2 { #expect(try machine.sync().isQuiet) }
    }

    @Test("a save is merged with what others wrote meanwhile, whatever the editor's way", arguments: FolderMachine.Editor.allCases)
    func merge(editor: FolderMachine.Editor) throws {
        let note = try notes.add(title: "List", body: "one\ntwo\nthree\n")
        try machine.sync()
        try notes.edit(note.id) { $0.body = "zero\none\ntwo\nthree\n" }
        try machine.sync()
        #expect(try machine.read("List.md").hasSuffix("zero\none\ntwo\nthree\n"))
        try notes.edit(note.id) { $0.body += "five\n" }
        let mine = try machine.read("List.md").replacingOccurrences(of: "\none", with: "\none\nhalf")
        try machine.save(mine, as: "List.md", with: editor)
        try machine.sync()
        #expect(try notes.note(note.id)?.body == "zero\none\nhalf\ntwo\nthree\nfive\n")
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }

    @Test("a title and a color that were changed in a file and elsewhere are both kept, to choose from", arguments: [true, false])
    func bothChanged(isRenamed: Bool) throws {
        let note = try notes.add(title: "Two", body: "b", color: .red)
        try machine.sync()
        try notes.edit(note.id) { ($0.title, $0.color) = ("Zwei", .blue) }
        let text = try machine.read("Two.md").replacing("color: red", with: "color: green")
        machine.remove("Two.md")
        let titled = isRenamed ? text : text.replacing("color: green", with: "title: Deux\ncolor: green")
        try machine.save(titled, as: isRenamed ? "Deux.md" : "Two.md")
        try machine.sync()
        #expect(try notes.note(note.id)?.title == "Deux" && notes.note(note.id)?.color == .green)
        let versions = try notes.conflicts().map { $0.versions.map(\.text).sorted() }
        #expect(Set(versions) == [["Deux", "Zwei"], ["blue", "green"]], "\(versions)")
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }

    @Test("notes that take each other's titles take each other's names, and no number stays", arguments: [2, 3], [true, false])
    func exchangedTitles(count: Int, hasRoomMeanwhile: Bool) throws {
        let titles = (0..<count).map { "Title \($0)" }
        let ids = try titles.map { try notes.add(title: $0, body: "body of \($0)").id }
        let twin = try notes.add(title: titles[0], body: "another one").id
        try machine.sync()
        // As a change of several notes comes from another machine.
        for (place, id) in ids.enumerated() {
            try notes.edit(id) { $0.title = titles[(place + 1) % count] }
            if !hasRoomMeanwhile, place == 0 { try notes.add(title: titles[0], body: "a third one") }
        }
        try machine.sync()
        let bodies = try machine.contents()
        for (place, title) in titles.enumerated() where place > 0 {
            let text = try machine.read("\(title).md")
            #expect(text.hasSuffix("body of \(titles[place - 1])"), "\(bodies.keys.sorted())")
        }
        let expected = titles.map { "\($0).md" } + ["\(titles[0]) (2).md"] + (hasRoomMeanwhile ? [] : ["\(titles[0]) (3).md"])
        #expect(try machine.files() == expected.sorted())
        #expect(try notes.note(twin)?.title == titles[0])
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
        // A file of a note that is deleted makes room, too.
        let (first, last) = (ids[0], ids[count - 1])
        try notes.delete([first])
        try notes.edit(last) { $0.title = titles[1] }
        try machine.sync()
        let text = try machine.read("\(titles[1]).md")
        #expect(text.hasSuffix("body of \(titles[count - 1])"), "\(text)")
        #expect(try machine.sync().isQuiet)
    }

    @Test("a save in the last moment before a file is written is merged, too")
    func lastMoment() throws {
        let note = try notes.add(title: "List", body: "one\n")
        try machine.sync()
        try notes.edit(note.id) { $0.body = "zero\none\n" }
        let text = try machine.read("List.md") + "two\n"
        machine.options.beforeExchange = { path in try? Data(text.utf8).write(to: URL(filePath: path)) }
        machine.clock.advance(1_000)
        try machine.pass()
        machine.options.beforeExchange = { _ in }
        try machine.sync()
        #expect(try notes.note(note.id)?.body == "zero\none\ntwo\n")
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }

    @Test("a file that was there before keeps its date as that of the note, and those who may read it")
    func olderFile() throws {
        try machine.save("text", as: "Old.md")
        let path = machine.path("Old.md")
        let date = Date(timeIntervalSince1970: 1_400_000_000)
        try FileManager.default.setAttributes([.modificationDate: date, .posixPermissions: 0o644], ofItemAtPath: path)
        machine.clock.advance(1_000)
        try machine.sync()
        let note = try #require(try notes.titled("Old"))
        #expect(note.createdMilliseconds == 1_400_000_000_000 && note.updatedMilliseconds == 1_400_000_000_000)
        try notes.edit(note.id) { $0.body = "other" }
        try machine.sync()
        #expect(try machine.read("Old.md").contains("other"))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o644)
    }

    @Test("renaming a file renames the note, and the other way round; moving it changes nothing")
    func renaming() throws {
        let note = try notes.add(title: "Old", body: "text")
        let odd = try notes.add(title: "what/ever")
        try machine.sync()
        rename(machine.path("Old.md"), machine.path("New.md"))
        rename(machine.path("what-ever.md"), machine.path("Plain.md"))
        try machine.sync()
        #expect(try notes.note(note.id)?.title == "New" && notes.note(odd.id)?.title == "Plain")
        try notes.edit(note.id) { $0.title = "Newer: still" }
        try machine.sync()
        #expect(try machine.files() == ["Newer- still.md", "Plain.md"])
        try FileManager.default.createDirectory(atPath: machine.path("sub"), withIntermediateDirectories: false)
        rename(machine.path("Plain.md"), machine.path("sub/Plain.md"))
        try machine.sync()
        #expect(try notes.list().count == 2 && notes.note(odd.id)?.title == "Plain")
        #expect(try machine.contents()[note.id]?[0] == "Newer: still")
        #expect(try machine.sync().isQuiet)
    }

    @Test func `a file of which only capital letters are renamed renames its note, but for what no name can hold`() throws {
        let titles = ["fish", "fish", "what/ever"]
        let notes = try titles.map { try self.notes.add(title: $0, body: "text") }
        try machine.sync()
        for (old, new) in [("fish", "Fish"), ("fish (2)", "FISH (2)"), ("what-ever", "What-ever")] {
            rename(machine.path("\(old).md"), machine.path("\(new).md"))
        }
        try machine.sync()
        func titlesNow() throws -> [String?] { try notes.map { try self.notes.note($0.id)?.title } }
        #expect(try Set(titlesNow()) == ["Fish", "FISH", "what/ever"])
        let files = ["FISH (2).md", "Fish.md", "What-ever.md"]
        #expect(try machine.files() == files)
        #expect(try machine.sync().isQuiet)
        // A title that differs from the name in capital letters alone leaves the file where it is.
        try self.notes.edit(notes[0].id) { $0.title = "fIsH" }
        try machine.sync()
        #expect(try titlesNow()[0] == "fIsH" && machine.files() == files)
        #expect(try machine.sync().isQuiet)
    }

    @Test("tags and colors go both ways, and what another machine added stays")
    func tags() throws {
        let note = try notes.add(title: "Note", body: "text", tags: ["a", "b"])
        try machine.sync()
        try notes.edit(note.id) { $0.tags.insert("c") }
        let text = try machine.read("Note.md").replacingOccurrences(of: "tags: [a, b]", with: "tags: [b, d]\ncolor: blue")
        try machine.save(text, as: "Note.md")
        try machine.sync()
        #expect(try notes.note(note.id).map { Array($0.tags) } == ["b", "c", "d"])
        #expect(try notes.note(note.id)?.color == .blue)
        #expect(try machine.read("Note.md").contains("tags: [b, c, d]"))
    }

    @Test("a file that is deleted is a note in the trash, unless it was written elsewhere meanwhile; brought back, it is a note again")
    func deletion() throws {
        let gone = try notes.add(title: "Gone", body: "x")
        let kept = try notes.add(title: "Kept", body: "x")
        for number in 0..<5 { try notes.add(title: "Other \(number)") }
        try machine.sync()
        let text = try machine.read("Gone.md")
        for name in ["Gone.md", "Kept.md"] { unlink(machine.path(name)) }
        try notes.edit(kept.id) { $0.body = "written elsewhere" }
        #expect(try machine.sync().deleted == 1)
        #expect(try notes.trash().map(\.id) == [gone.id])
        #expect(try machine.read("Kept.md").hasSuffix("written elsewhere"))
        try machine.save(text + " and more", as: "Gone.md")
        try machine.sync()
        #expect(try notes.note(gone.id)?.body == "x and more")
        #expect(try notes.steps.nextUndo()?.title == "Edit \u{201C}Kept\u{201D}")
        // The other way round: an edit of the file is worth more than a deletion of the note.
        try machine.save(text + " again", as: "Gone.md")
        try notes.delete([gone.id, kept.id])
        #expect(try machine.sync().removed == 1)
        #expect(try notes.note(gone.id) != nil && !machine.files().contains("Kept.md"))
        #expect(try machine.sync().isQuiet)
    }

    @Test("many files that are gone at once delete nothing until somebody says so; a folder that is not there deletes nothing at all")
    func brake() throws {
        for number in 0..<20 { try notes.add(title: "Note \(number)") }
        try machine.sync()
        for number in 0..<10 { unlink(machine.path("Note \(number).md")) }
        for _ in 0..<2 { #expect(try machine.sync().held == 10) }
        #expect(try notes.list().count == 20 && machine.files().count == 10)
        machine.options.writesAgain = true
        #expect(try machine.sync().written == 10)
        machine.options.writesAgain = false
        for number in 0..<10 { unlink(machine.path("Note \(number).md")) }
        machine.options.deletesMany = true
        #expect(try machine.sync().deleted == 10)
        #expect(try notes.list().count == 10)
        rename(machine.folder.path, machine.folder.path + "-elsewhere")
        #expect { try machine.sync() } throws: { ($0 as? FilesError)?.code == .notFound }
        try FileManager.default.createDirectory(atPath: machine.folder.path, withIntermediateDirectories: false)
        #expect { try machine.sync() } throws: { ($0 as? FilesError)?.code == .notFound }
        #expect(try notes.list().count == 10)
    }

    @Test("fifty files that are gone within a minute delete nothing, forty-nine do")
    func fifty() throws {
        for number in 0..<210 { try notes.add(title: "Note \(number)") }
        try machine.sync()
        for number in 0..<49 { machine.remove("Note \(number).md") }
        #expect(try machine.sync().deleted == 49)
        // One more within the same minute makes fifty.
        machine.remove("Note 49.md")
        #expect(try machine.sync().held == 1)
        machine.clock.advance(61_000)
        #expect(try machine.sync().deleted == 1)
        machine.clock.advance(61_000)
        for number in 50..<100 { machine.remove("Note \(number).md") }
        let report = try machine.sync()
        #expect(report.held == 50 && report.deleted == 0, "\(report)")
        #expect(try notes.list().count == 160 && notes.trash().count == 50)
    }

    @Test("a file leaves a folder of one tag when its note loses the tag, and nothing else goes")
    func oneTag() throws {
        let machine = try FolderMachine(place, "work", tag: "work")
        let notes = machine.notes
        let note = try notes.add(title: "Plan", body: "one\n", tags: ["work", "x"])
        try notes.add(title: "Private", tags: ["home"])
        try machine.sync()
        #expect(try machine.files() == ["Plan.md"])
        // An editor saves in the moment in which the note loses the tag.
        try machine.save(try machine.read("Plan.md") + "two\n", as: "Plan.md")
        try notes.edit(note.id) { $0.tags.remove("work") }
        #expect(try machine.sync().removed == 1)
        #expect(try machine.files().isEmpty && notes.trash().isEmpty && notes.note(note.id)?.body == "one\ntwo\n")
        #expect(try machine.sync().isQuiet)
        try notes.edit(note.id) { $0.tags.insert("work") }
        try machine.sync()
        #expect(try machine.files() == ["Plan.md"])
        // Taken out of the file, the tag takes the file with it.
        try machine.save(try machine.read("Plan.md").replacingOccurrences(of: "tags: [work, x]", with: "tags: [x]"), as: "Plan.md")
        try machine.sync()
        #expect(try machine.files().isEmpty && notes.trash().isEmpty)
        #expect(try notes.note(note.id).map { Array($0.tags) } == ["x"])
    }

    @Test("a file that was written 199 ms ago is not read yet, and one of 200 ms is")
    func quiet() throws {
        let note = try notes.add(title: "Note", body: "one\n")
        try machine.sync()
        machine.clock.advance(10_000)
        try machine.save(try machine.read("Note.md") + "two\n", as: "Note.md")
        machine.clock.advance(199)
        let early = try machine.folder.pass(notes, machine.options)
        #expect(early.read == 0 && early.busy > 0, "\(early)")
        #expect(try notes.note(note.id)?.body == "one\n")
        machine.clock.advance(1)
        #expect(try machine.folder.pass(notes, machine.options).read == 1)
        #expect(try notes.note(note.id)?.body == "one\ntwo\n")
    }

    @Test("what cannot be understood is left as it is, named, and written no more")
    func left() throws {
        let note = try notes.add(title: "Note", body: "text", tags: ["a"])
        try machine.sync()
        let whole = try machine.read("Note.md")
        try machine.save(whole.replacingOccurrences(of: "tags: [a]", with: "tags: [a"), as: "Note.md")
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(filePath: machine.path("binary.md")))
        mkfifo(machine.path("pipe.md"), 0o600)
        symlink("/etc/passwd", machine.path("link.md"))
        try notes.edit(note.id) { $0.body = "newer" }
        let before = try machine.read("Note.md")
        let report = try machine.sync()
        #expect(Set(report.left.map(\.path)) == ["Note.md", "binary.md", "pipe.md", "link.md"], "\(report)")
        #expect(try machine.read("Note.md") == before && notes.note(note.id)?.body == "newer")
        try machine.save(whole, as: "Note.md")
        try machine.sync()
        #expect(try machine.read("Note.md").hasSuffix("newer") && notes.list().count == 1)
    }

    @Test("copies of a file are notes of their own")
    func copies() throws {
        let note = try notes.add(title: "Note", body: "text")
        try machine.sync()
        try FileManager.default.copyItem(atPath: machine.path("Note.md"), toPath: machine.path("Copy.md"))
        #expect(try machine.sync().added == 1)
        #expect(try notes.list().count == 2 && notes.titled("Note")?.id == note.id)
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }

    @Test("attachments lie in the folder, and the notes' front matter links to them")
    func attachments() throws {
        let note = try notes.add(title: "Note", body: "![](attachments/p.png)")
        try notes.attach(URL(filePath: place.write("p.png", "png")), to: note.id)
        try machine.sync()
        #expect(try machine.read("attachments/p.png") == "png")
        #expect(try machine.read("Note.md").contains("[[attachments/p.png|p.png]]"))
        #expect(try machine.sync().isQuiet)
    }

    #if os(Linux)
    /// `cat >> file`, a logger, a download that stalls: nobody knows when they write next.
    @Test func `what a program writes late into a file that it has open is not lost, and its note's change waits`() throws {
        let note = try notes.add(title: "List", body: "one\n")
        try machine.sync()
        machine.options.openMilliseconds = 0
        let list = try FileHandle(forUpdating: URL(filePath: machine.path("List.md")))
        try list.seekToEnd()
        try notes.edit(note.id) { $0.body = "zero\none\n" }
        let waiting = try machine.sync()
        #expect(waiting.left.count == 1 && waiting.left.first?.words.contains("open to write") == true, "\(waiting)")
        #expect(try machine.read("List.md").hasSuffix("---\none\n"))
        try list.write(contentsOf: Data("two\n".utf8))
        try list.close()
        #expect(try machine.sync().left.isEmpty)
        #expect(try notes.note(note.id)?.body == "zero\none\ntwo\n")
        // A program may open it in the last moment before Kith replaces it.
        let late = Mutex<FileHandle?>(nil)
        machine.options.beforeExchange = { path in
            late.withLock { late in
                late = FileHandle(forUpdatingAtPath: path)
                _ = try? late?.seekToEnd()
            }
        }
        try notes.edit(note.id) { $0.body += "three\n" }
        #expect(try machine.sync().left.count == 1)
        try late.withLock { late in
            try late?.write(contentsOf: Data("four\n".utf8))
            try late?.close()
        }
        machine.options.beforeExchange = { _ in }
        #expect(try machine.sync().left.isEmpty)
        #expect(try Set(notes.note(note.id)?.body.split(separator: "\n") ?? []) == ["zero", "one", "two", "three", "four"])
        // One that is new is read, and gets no front matter before it is closed.
        try Data().write(to: URL(filePath: machine.path("Typed.md")))
        let typed = try FileHandle(forWritingTo: URL(filePath: machine.path("Typed.md")))
        try typed.write(contentsOf: Data("first\n".utf8))
        try machine.sync()
        #expect(try notes.titled("Typed")?.body == "first\n" && machine.read("Typed.md") == "first\n")
        try typed.write(contentsOf: Data("second\n".utf8))
        try typed.close()
        try machine.sync()
        #expect(try notes.titled("Typed")?.body == "first\nsecond\n")
        #expect(try machine.read("Typed.md").hasSuffix("---\nfirst\nsecond\n"))
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }
    #endif
}
