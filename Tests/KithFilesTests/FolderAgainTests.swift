import Foundation
import GRDB
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("A folder that is added again, or of which the notes were copied or restored, doubles notes or loses what files say")
struct FolderAgainTests {
    private let place: TemporaryFolder
    private let machine: FolderMachine

    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a")
    }

    private var notes: NotesStore { machine.notes }

    @Test func `a file that was just written gives its note no second one`() throws {
        let note = try notes.add(title: "Note", body: "text")
        try machine.sync()
        let text = try machine.read("Note.md")
        try machine.folder.remove(from: notes)
        // As if it were copied to here a moment ago.
        try machine.save(text, as: "sub/Note.md")
        machine.remove("Note.md")
        let folder = try NotesFolder.add(machine.folder.path, to: notes)
        let report = try folder.sync(notes, options: machine.options)
        #expect(report.left.isEmpty)
        #expect(try notes.list().map(\.id) == [note.id] && machine.files() == ["sub/Note.md"])
    }

    @Test func `a folder that was moved goes on where it is added now, and a copy of it does not`() throws {
        let note = try notes.add(title: "Note", body: "one\n", tags: ["home"])
        try machine.sync()
        try machine.save("x", as: "pictures/p.png")
        let place = machine.folder.path
        try FileManager.default.moveItem(atPath: place, toPath: place + "-moved")
        let error = #expect(throws: FilesError.self) { try machine.folder.sync(notes, options: machine.options) }
        #expect(error?.message.contains("kith folder add") == true)
        try notes.edit(note.id) { $0.body += "two\n" }
        #expect(throws: FilesError.self) { try NotesFolder.add(place + "-moved", tag: "home", to: notes) }
        let moved = try NotesFolder.add(place + "-moved", to: notes)
        let report = try moved.sync(notes, options: machine.options)
        #expect(report.written == 1 && report.added == 0 && report.others == 1, "\(report)")
        #expect(try NotesFolder.all(of: notes) == [moved] && notes.list().map(\.id) == [note.id])
        #expect(try String(contentsOfFile: moved.path + "/Note.md", encoding: .utf8).hasSuffix("one\ntwo\n"))
        try FileManager.default.copyItem(atPath: moved.path, toPath: place)
        #expect(throws: FilesError.self) { try NotesFolder.add(place, to: notes) }
        #expect(try NotesFolder.all(of: notes) == [moved])
    }

    @Test func `files that nobody touched while their folder was not kept in step get what was written meanwhile`() throws {
        let list = try notes.add(title: "List", body: "one\ntwo\n", color: .red, tags: ["home"])
        let plan = try notes.add(title: "Plan", body: "one\ntwo\n")
        let trip = try notes.add(title: "Trip", body: "text")
        let tied = try notes.add(title: "Tied", body: "a")
        try machine.sync()
        try machine.folder.remove(from: notes)
        machine.clock.advance(5_000)
        try notes.edit(list.id) { $0.body = "zero\none\ntwo\n" }
        machine.clock.advance(5_000)
        try notes.edit(list.id) { ($0.title, $0.color, $0.tags) = ("Purchases", .none, ["shop"]) }
        try notes.edit(plan.id) { $0.body = "zero\none\ntwo\n" }
        try machine.save(machine.read("Plan.md").replacing("two\n", with: "two\nthree\n"), as: "Plan.md")
        // A merge may change the text and leave the time: then it is not known which of both the file was.
        try notes.store.database.write { try $0.execute(sql: "UPDATE note SET body = 'a b' WHERE title = 'Tied'") }
        machine.clock.advance(5_000)
        try notes.edit(tied.id) { $0.body = "a b c" }
        // What a file says that has no known past is a note of its own.
        try machine.save(
            machine.read("Trip.md").replacing(/updated: .*/, with: "updated: 2020-01-01").replacing("text", with: "words"), as: "Trip.md")
        machine.clock.advance(5_000)
        let folder = try NotesFolder.add(machine.folder.path, to: notes)
        _ = try folder.sync(notes, options: machine.options)
        #expect(try notes.list().count == 6)
        #expect(try notes.list().filter { $0.title == "Tied" }.map(\.body).sorted() == ["a", "a b c"])
        let current = try #require(try notes.note(list.id))
        #expect(current.title == "Purchases" && current.body == "zero\none\ntwo\n" && current.color == .none && current.tags == ["shop"])
        #expect(try notes.note(plan.id)?.body == "zero\none\ntwo\nthree\n" && notes.note(trip.id)?.body == "text")
        #expect(try machine.contents() == machine.noteContents())
        #expect(try folder.sync(notes, options: machine.options).isQuiet)
    }

    @Test func `a copy of the notes in another place leaves their folder alone`() throws {
        let note = try notes.add(title: "Note", body: "old")
        try machine.sync()
        let path = place.path("copy/notes.sqlite")
        try FileManager.default.createDirectory(atPath: place.path("copy"), withIntermediateDirectories: false)
        try notes.store.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        try notes.edit(note.id) { $0.body = "new" }
        try machine.sync()
        let copy = try NotesStore.open(URL(filePath: path))
        let folder = try #require(try NotesFolder.all(of: copy).first)
        #expect {
            try folder.sync(copy)
        } throws: {
            ($0 as? FilesError)?.code == .needsConsent && ($0 as? FilesError)?.message.contains("a copy") == true
        }
        try folder.remove(from: copy)
        #expect(try NotesFolder.all(of: copy).isEmpty && machine.folder.isHere)
        #expect(try machine.read("Note.md").hasSuffix("new") && machine.sync().isQuiet)
        // Where the original has ended it, the copy may keep it.
        try machine.folder.remove(from: notes)
        _ = try NotesFolder.add(machine.folder.path, to: copy).sync(copy)
        #expect(try copy.list().map(\.body).sorted().contains("new"))
    }

    @Test("a file that is later than its restored note waits for it, and is what the note says if one wishes", arguments: [true, false])
    func restoredEarlier(comes: Bool) throws {
        let note = try notes.add(title: "List", body: "one\n", color: .red)
        try machine.sync()
        machine.clock.advance(1_000)
        let before = try #require(try notes.note(note.id))
        try notes.edit(note.id) { ($0.body, $0.color) = ("one\ntwo\n", .blue) }
        try machine.sync()
        let later = try #require(try notes.note(note.id))
        // As after a restore: neither the note nor the journal knows of it.
        func set(_ state: Note) throws {
            try notes.store.database.write { db in
                try db.execute(
                    sql: "UPDATE note SET body = ?, color = ?, updated = ? WHERE id = ?",
                    arguments: [
                        state.body, state.color.rawValue, state.updatedMilliseconds, withUnsafeBytes(of: state.id.uuid) { Data($0) },
                    ])
            }
        }
        try set(before)
        try notes.store.database.write { db in
            try db.execute(sql: "UPDATE local_folder SET replica = 'another'")
            try db.execute(sql: "DELETE FROM kith_journal; DELETE FROM kith_journal_row; DELETE FROM kith_journal_of")
        }
        for _ in 0..<2 {
            let report = try machine.sync()
            #expect(report.added == 0 && report.written == 0, "\(report)")
            #expect(report.left.map(\.path) == ["List.md"] && report.left.allSatisfy { $0.words.contains("--take-later") }, "\(report)")
            #expect(try notes.list().map(\.body) == ["one\n"] && machine.read("List.md").hasSuffix("one\ntwo\n"))
        }
        // As a node does, which looks at what has changed alone.
        try machine.pass(ofEverything: true)
        for _ in 0..<2 {
            try notes.add(title: "Other")
            try notes.store.database.write { try $0.execute(sql: "UPDATE note SET pinned = 1 - pinned WHERE body LIKE 'one%'") }
            machine.clock.advance(1_000)
            try machine.pass()
            #expect(try machine.files().filter { $0.hasPrefix("List") } == ["List.md"] && machine.read("List.md").hasSuffix("two\n"))
        }
        if comes {
            try set(later)
            machine.clock.advance(1_000)
            try machine.pass()
            #expect(try machine.files().filter { $0.hasPrefix("List") } == ["List.md"] && notes.list().count == 3)
        } else {
            machine.options.takesLater = true
        }
        #expect(try machine.sync().left.isEmpty)
        #expect(try notes.note(note.id).map { [$0.body, $0.color.name] } == ["one\ntwo\n", "blue"] && notes.list().count == 3)
        #expect(try notes.conflicts().isEmpty && machine.contents() == machine.noteContents())
        machine.options.takesLater = false
        #expect(try machine.sync().isQuiet)
    }

    @Test("a store that was restored takes over the files that say the same, and loses none of the others")
    func restored() throws {
        try notes.add(title: "Same", body: "same")
        let changed = try notes.add(title: "Changed", body: "before")
        try machine.sync()
        try notes.edit(changed.id) { $0.body = "before, and after" }
        try machine.sync()
        try notes.edit(changed.id) { $0.body = "before" }
        try notes.store.database.write { db in try db.execute(sql: "UPDATE local_folder SET replica = 'another'") }
        try machine.sync()
        #expect(try notes.list().map(\.body).sorted() == ["before", "before, and after", "same"])
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }
}
