import Foundation
import KithNotes
import Synchronization
import TestSupport
import Testing

@testable import KithFiles

@Suite("An editor that saves a file under the name that Kith has taken away makes a second note")
struct FormerNameTests {
    private let machine: FolderMachine
    private let place: TemporaryFolder
    private let id: UUID

    /// Old.md, which an editor has open while the note gets another title.
    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a")
        id = try machine.notes.add(title: "Old", body: "one\ntwo\nthree\n").id
        try machine.sync()
    }

    private func retitle(_ title: String, _ change: (inout Note) -> Void = { _ in }) throws {
        try machine.notes.edit(id) { note in
            note.title = title
            change(&note)
        }
        machine.clock.advance(1_000)
        try machine.sync()
    }

    private func save(_ text: String, as name: String, with editor: FolderMachine.Editor = .truncate) throws {
        machine.clock.advance(1_000)
        try machine.save(text, as: name, with: editor)
        machine.clock.advance(1_000)
        try machine.sync()
    }

    private func expectNote(_ title: String, _ body: String, _ comment: Comment? = nil) throws {
        #expect(try machine.notes.list().map(\.id) == [id], comment)
        #expect(try machine.notes.note(id)?.title == title, comment)
        #expect(try machine.notes.note(id)?.body == body, comment)
        #expect(try machine.files() == ["\(title).md"], comment)
        #expect(try machine.contents() == machine.noteContents(), comment)
        #expect(try machine.sync().isQuiet, comment)
    }

    @Test("what it saves is merged with what others wrote since, however often", arguments: FolderMachine.Editor.allCases)
    func merged(editor: FolderMachine.Editor) throws {
        var text = try machine.read("Old.md")
        try retitle("Ne")
        try retitle("New") { $0.body += "four\n" }
        text = text.replacing("one", with: "ONE")
        try save(text, as: "Old.md", with: editor)
        try expectNote("New", "ONE\ntwo\nthree\nfour\n")
        text = text.replacing("two", with: "TWO")
        try save(text, as: "Old.md", with: editor)
        try expectNote("New", "ONE\nTWO\nthree\nfour\n")
        // Under a name of which no title was ever seen for long.
        try save(text.replacing("three", with: "THREE"), as: "Ne.md", with: editor)
        #expect(try machine.notes.list().count == 1)
    }

    @Test("what it saves unchanged changes nothing, and the title in its front matter neither")
    func unchanged() throws {
        try retitle("a/b")
        let (name, text) = (try machine.files()[0], try machine.read(machine.files()[0]))
        #expect(text.contains("a/b"))
        try retitle("New") { $0.tags = ["t"] }
        try save(text, as: name)
        try expectNote("New", "one\ntwo\nthree\n")
        #expect(try machine.notes.note(id)?.tags == ["t"])
    }

    @Test("a person who renames the file back gives the note its old title")
    func movedBack() throws {
        try retitle("New")
        machine.clock.advance(1_000)
        try machine.move("New.md", to: "Old.md")
        machine.clock.advance(1_000)
        try machine.sync()
        try expectNote("Old", "one\ntwo\nthree\n")
    }

    @Test("a copy under another name is a note of its own, and so is one under the old name a week later, or if the other was written too")
    func copies() throws {
        let text = try machine.read("Old.md")
        try retitle("New")
        try save(machine.read("New.md"), as: "Copy.md")
        #expect(try machine.notes.list().map(\.title).sorted() == ["Copy", "New"])
        machine.clock.advance(1_000)
        try machine.save(machine.read("New.md") + "four\n", as: "New.md")
        try save(text + "five\n", as: "Old.md")
        #expect(try machine.notes.list().map(\.title).sorted() == ["Copy", "New", "Old"])
        #expect(try machine.notes.list().map(\.body).sorted().map { $0.suffix(5) } == ["hree\n", "five\n", "four\n"])
        try retitle("Newer")
        machine.clock.advance(7 * 86_400_000)
        try save(machine.read("Newer.md"), as: "New.md")
        #expect(try machine.notes.list().map(\.title).sorted() == ["Copy", "New", "Newer", "Old"])
    }

    @Test("a file that a tag has moved is found in its old folder")
    func tagged() throws {
        let other = try FolderMachine(place, "b", clock: machine.clock, seed: 2, tagsFolders: true)
        let note = try other.notes.add(title: "Plan", body: "one\n", tags: ["work"]).id
        try other.sync()
        let text = try other.read("work/Plan.md")
        try other.notes.edit(note) { $0.tags = ["home"] }
        other.clock.advance(1_000)
        try other.sync()
        #expect(try other.files() == ["home/Plan.md"])
        other.clock.advance(1_000)
        try other.save(text + "two\n", as: "work/Plan.md")
        other.clock.advance(1_000)
        try other.sync()
        #expect(try other.notes.list().map(\.body) == ["one\ntwo\n"])
        #expect(try other.notes.list().map { Array($0.tags) } == [["home"]])
        #expect(try other.files() == ["home/Plan.md"])
    }

    @Test("a pass that is killed at any step meanwhile is completed by the next one")
    func killed() throws {
        var text = try machine.read("Old.md")
        var steps = Int.max
        for round in 0..<40 where round <= steps {
            try retitle("New \(round)")
            let name = "New \(round).md"
            text = try machine.read(name)
            try retitle("Newer \(round)") { $0.body += "line \(round)\n" }
            machine.clock.advance(1_000)
            try machine.save(text + "saved \(round)\n", as: name)
            machine.clock.advance(1_000)
            let left = Counter(round)
            machine.options.step = { _ in if left.take() { throw Killed() } }
            do {
                try machine.sync()
                steps = round
            } catch is Killed {}
            machine.options.step = { _ in }
            machine.clock.advance(1_000)
            try machine.sync()
            try machine.sync()
            #expect(try machine.notes.list().map(\.id) == [id], "\(round)")
            let body = try #require(try machine.notes.note(id)).body
            #expect(body.contains("saved \(round)\n") && body.contains("line \(round)\n"), "\(round)")
            #expect(try machine.files() == ["Newer \(round).md"], "\(round)")
        }
        #expect(steps > 5 && steps < 40)
    }
}

/// Counts down.
private final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) {
        left = Mutex(count)
    }

    /// Whether nothing is left.
    func take() -> Bool {
        left.withLock { left in
            left -= 1
            return left < 0
        }
    }
}
