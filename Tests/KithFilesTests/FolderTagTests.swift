import Foundation
import GRDB
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("Folders that are tags: a file is in the wrong place, or its note has the wrong tags")
struct FolderTagTests {
    private let place: TemporaryFolder
    private let machine: FolderMachine

    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a", tagsFolders: true)
    }

    private var notes: NotesStore { machine.notes }

    private func sync() throws {
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }

    private func tags(_ title: String) throws -> [String] { Array(try #require(try notes.titled(title)).tags) }

    @Test("a file has the tag of its folder, another one after it is moved, and none in the outermost folder")
    func moving() throws {
        try machine.save("---\ntags: [own]\n---\ntext", as: "work/my plans/Note.md")
        try sync()
        #expect(try tags("Note") == ["own", "work/my-plans"])
        #expect(try machine.read("work/my plans/Note.md").contains("tags: [own]\n"))
        try machine.move("work/my plans/Note.md", to: "home/Note.md")
        try sync()
        #expect(try tags("Note") == ["home", "own"])
        try machine.move("home/Note.md", to: "Note.md")
        try sync()
        #expect(try tags("Note") == ["own"])
    }

    @Test("a new file is put where the first tag says; a tag that is removed moves it, and one that is added does not")
    func tagging() throws {
        let note = try notes.add(title: "Note", body: "text", tags: ["work/plans", "x"])
        try sync()
        #expect(try machine.files() == ["work/plans/Note.md"])
        try notes.edit(note.id) { $0.tags.insert("a") }
        try sync()
        #expect(try machine.files() == ["work/plans/Note.md"])
        try notes.edit(note.id) { $0.tags.remove("work/plans") }
        try sync()
        #expect(try machine.files() == ["a/Note.md"])
        try notes.edit(note.id) { $0.tags = [] }
        try sync()
        #expect(try machine.files() == ["Note.md"])
    }

    @Test("a tag that names no folder, or the attachments, leaves the file in the outermost folder")
    func oddTags() throws {
        for (index, tag) in ["a//b", "/a", "..", "../up", ".hidden", "attachments", "a:b", "con", "x/"].enumerated() {
            try notes.add(title: "Note \(index)", tags: [tag])
        }
        try sync()
        #expect(try machine.files() == (0..<9).map { "Note \($0).md" })
    }

    @Test("a link in the place of a folder is not followed: the note is named, and nothing is written elsewhere")
    func link() throws {
        let elsewhere = place.path("elsewhere")
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        symlink(elsewhere, machine.path("work"))
        try notes.add(title: "Note", tags: ["work"])
        machine.clock.advance(1_000)
        #expect(try machine.sync().left.map(\.path) == ["Note", "work"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
    }

    @Test("two machines, one with folders as tags and one without, say the same; so does a store of a version without them")
    func twoMachines() throws {
        let other = try FolderMachine(place, "b", clock: machine.clock, seed: 2)
        try machine.save("text", as: "work/Note.md")
        try sync()
        try other.pull(machine)
        try other.sync()
        #expect(try other.files() == ["Note.md"] && other.contents() == machine.contents())
        try other.notes.edit(try #require(try other.notes.titled("Note")).id) { $0.tags.remove("work") }
        try machine.pull(other)
        try sync()
        #expect(try machine.files() == ["Note.md"])
        try notes.store.database.write { db in try db.execute(sql: "ALTER TABLE local_folder DROP COLUMN tagsFolders") }
        #expect(try NotesFolder.all(of: notes).map(\.tagsFolders) == [false])
        _ = try NotesFolder.add(place.path("second"), tagsFolders: true, to: notes)
        #expect(try NotesFolder.all(of: notes).map(\.tagsFolders) == [false, true])
    }
}
