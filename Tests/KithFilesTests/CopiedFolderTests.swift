import Foundation
import KithNotes
import KithStore
import TestSupport
import Testing

@testable import KithFiles

@Suite("The files of one machine, copied to another one, double what is in the notes when the two meet")
struct CopiedFolderTests {
    private let place: TemporaryFolder
    private let first: FolderMachine
    private let second: FolderMachine

    init() throws {
        place = try TemporaryFolder()
        first = try FolderMachine(place, "a")
        second = try FolderMachine(place, "b", clock: first.clock, seed: 2)
    }

    /// A note with a file, and its files on the second machine, too.
    private func copied() throws -> Note {
        let note = try first.notes.add(title: "Recipe", body: "Flour\nEggs\nMilk\n", tags: ["food"])
        try first.notes.attach(URL(filePath: place.write("photo.jpg", "photo")), to: note.id)
        try first.sync()
        for name in ["Recipe.md", "attachments/photo.jpg"] {
            try place.write("b-folder/\(name)", String(decoding: Data(contentsOf: URL(filePath: first.path(name))), as: UTF8.self))
        }
        first.clock.advance(10_000)
        return note
    }

    private func meet() throws {
        for _ in 0..<2 {
            try first.pull(second)
            try second.pull(first)
            for machine in [first, second] { try machine.sync() }
            first.clock.advance(1_000)
        }
        #expect(try first.noteContents() == second.noteContents())
        for machine in [first, second] { #expect(try machine.contents() == machine.noteContents()) }
    }

    @Test("a note, its text and its attachments are there once")
    func once() throws {
        let note = try copied()
        #expect(try second.sync().added == 1)
        try meet()
        for machine in [first, second] {
            #expect(try machine.notes.list().map(\.id) == [note.id])
            #expect(try machine.notes.note(note.id)?.body == "Flour\nEggs\nMilk\n")
            #expect(try machine.notes.attachments(of: note.id).map(\.name) == ["photo.jpg"])
            #expect(try machine.notes.conflicts().isEmpty)
        }
    }

    @Test("an edit of either side stays, whether in the notes or in the copied file")
    func edited() throws {
        let note = try copied()
        try second.sync()
        try first.notes.edit(note.id) { $0.body += "Sugar\n" }
        try second.notes.edit(note.id) { $0.title = "Recipe for pancakes" }
        try meet()
        #expect(try first.notes.note(note.id)?.body == "Flour\nEggs\nMilk\nSugar\n")
        #expect(try second.notes.note(note.id)?.title == "Recipe for pancakes")
        #expect(try first.notes.list().count == 1)
    }

    @Test("a copy that says something else is a version to be chosen")
    func other() throws {
        let note = try copied()
        try second.save(second.read("Recipe.md").replacing("Milk", with: "Cream"), as: "Recipe.md")
        second.clock.advance(10_000)
        try second.sync()
        try meet()
        let all = try [first.notes.note(note.id)?.body ?? ""] + first.notes.conflicts().flatMap(\.versions).map(\.text)
        #expect(all.contains("Flour\nEggs\nMilk\n") && all.contains("Flour\nEggs\nCream\n"), "\(all)")
        #expect(try first.notes.list().count == 1)
        let conflict = try #require(try first.notes.conflicts().first { $0.field == .body })
        let cream = try #require(conflict.versions.firstIndex { $0.text.contains("Cream") })
        #expect(try first.notes.keep(cream, of: conflict).body == "Flour\nEggs\nCream\n")
        try meet()
        #expect(try second.notes.note(note.id)?.body == "Flour\nEggs\nCream\n")
        #expect(try second.notes.conflicts().isEmpty && first.notes.conflicts().isEmpty)
    }

    @Test("a note that was deleted before they met stays deleted")
    func deleted() throws {
        let note = try copied()
        try second.sync()
        try first.notes.delete([note.id])
        try meet()
        #expect(try first.notes.list().isEmpty && second.notes.list().isEmpty)
        #expect(try first.notes.trash().map(\.note.id) == [note.id])
    }
}
