import Foundation
import KithNotes
import TestSupport
import Testing

@Suite("The wrong note is taken")
struct WrongNoteTests {
    @Test func `a note is found by its whole id, by either end of it, and by its title`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        for number in 1...20 { try store.add(title: "Other \(number)") }
        let id = note.id.uuidString
        for reference in [
            id, id.lowercased(), id.filter { $0 != "-" }, note.shortID, String(id.suffix(4)), String(id.prefix(20)), "Shopping",
        ] {
            #expect(try store.find(reference) == note, "\(reference)")
        }
    }

    @Test func `parts of an id that several notes share name none of them`() throws {
        let store = try NotesStore.inMemory()
        let first = try store.add(title: "One")
        try store.add(title: "Two")
        let prefix = String(first.id.uuidString.prefix(8))
        let error = #expect(throws: NotesError.self) { try store.find(prefix) }
        #expect(error?.code == .ambiguous)
        #expect(error?.message.contains(first.shortID) == true)
        #expect(error?.message.contains("One") == true)
    }

    @Test func `a title that several notes share names none of them`() throws {
        let store = try NotesStore.inMemory()
        try store.add(title: "Shopping")
        try store.add(title: "Shopping")
        #expect(code { _ = try store.find("Shopping") } == .ambiguous)
    }

    @Test func `a title that looks like the end of another note's id names neither`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "One")
        try store.add(title: note.shortID)
        #expect(code { _ = try store.find(note.shortID) } == .ambiguous)
        #expect(try store.find(note.id.uuidString) == note)
    }

    @Test(arguments: ["", "Shop", "abc", "%", "_", "--", "0000", "\u{0}", String(repeating: "f", count: 100_000)])
    func `what names no note is not found`(reference: String) throws {
        let store = try NotesStore.inMemory()
        try store.add(title: "Shopping")
        #expect(code { _ = try store.find(reference) } == .notFound)
    }

    @Test func `a title is found whatever its case and accents, unless another has it exactly or several could be meant`() throws {
        let store = try NotesStore.inMemory()
        let cafe = try store.add(title: "Café")
        for reference in ["Café", "café", "CAFE", "cafe"] { #expect(try store.find(reference) == cafe) }
        let exact = try store.add(title: "cafe")
        #expect(try store.find("cafe") == exact)
        #expect(try store.find("Café") == cafe)
        #expect(code { _ = try store.find("CAFE") } == .ambiguous)
    }

    @Test(arguments: ["Shoping", "shopping list", "Shpoping", "opping", "Shoppign"])
    func `a slip of the hand is answered with what may have been meant`(reference: String) throws {
        let store = try NotesStore.inMemory()
        for title in ["Shopping", "Holidays", "Bread", "Shopping lists"] { try store.add(title: title) }
        let error = #expect(throws: NotesError.self) { try store.find(reference) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("Did you mean \u{201C}Shopping") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("Bread") == false)
        let none = #expect(throws: NotesError.self) { try store.find("Xylophone") }
        #expect(none?.message.contains("Name one by its title or its id.") == true)
    }

    @Test func `fewer digits than four are no part of an id`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        let id = note.id.uuidString
        #expect(try store.find(String(id.suffix(NotesStore.idDigitsMin))) == note)
        #expect(code { _ = try store.find(String(id.suffix(NotesStore.idDigitsMin - 1))) } == .notFound)
    }

    @Test func `an id is a version-7 UUID that begins with the time`() throws {
        var generator = SplitMix64(seed: 7)
        for milliseconds: Int64 in [0, 1, 1_767_225_600_000, (1 << 48) - 1] {
            let id = UUID.version7(milliseconds: milliseconds, using: &generator)
            let digits = id.uuidString.filter { $0 != "-" }
            #expect(Int64(digits.prefix(12), radix: 16) == milliseconds)
            #expect(digits.dropFirst(12).first == "7")
            #expect(["8", "9", "A", "B"].contains(digits.dropFirst(16).first))
        }
        let past = UUID.version7(milliseconds: -5, using: &generator).uuidString
        let future = UUID.version7(milliseconds: .max, using: &generator).uuidString
        #expect(past.hasPrefix("00000000-0000-7"))
        #expect(future.hasPrefix("FFFFFFFF-FFFF-7"))
    }

    @Test func `ids of one millisecond differ`() {
        var generator = SplitMix64(seed: 7)
        let ids = (0..<10_000).map { _ in UUID.version7(milliseconds: 5, using: &generator) }
        #expect(Set(ids).count == ids.count)
    }
}
