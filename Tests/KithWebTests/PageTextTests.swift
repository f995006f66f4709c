import Foundation
import KithNotes
import Testing

@testable import KithWeb

@Suite("Text that a person wrote is taken for HTML")
struct PageTextTests {
    @Test func `a file gets a name that no other one of the note has`() {
        #expect(NoteAttachment.freeName("image.png", among: []) == "image.png" && NoteAttachment.freeName("a", among: ["b"]) == "a")
        #expect(NoteAttachment.freeName("image.png", among: ["image.png", "image (2).png"]) == "image (3).png")
        #expect(
            NoteAttachment.freeName(".png", among: [".png"]) == ".png (2)"
                && NoteAttachment.freeName("a.b.c", among: ["a.b.c"]) == "a.b (2).c")
        let long = String(repeating: "n", count: 255)
        #expect(NoteAttachment.freeName(long, among: [long]) == long)
    }

    @Test func `a text of any length reads up to the end of a line`() {
        let line = String(repeating: "x", count: 99) + "\n"
        #expect(NoteReading.beginning(of: line).isCut == false)
        let (text, isCut) = NoteReading.beginning(of: String(repeating: line, count: 40_000))
        #expect(isCut && text.utf8.count > 262_000 && text.utf8.count <= 262_144 && text.hasSuffix("x"))
        let faces = NoteReading.beginning(of: "a\n" + String(repeating: "\u{1F600}", count: 100_000))
        #expect(faces.isCut && faces.text.utf8.count > 262_000 && faces.text.unicodeScalars.allSatisfy { $0 != "\u{FFFD}" })
    }

    @Test func `of a title or a version of any length the page shows the beginning, and says how much more there is`() {
        let honest = String(repeating: "\u{1F600}", count: 250)
        #expect(PageBuilder.title(honest) == honest && PageBuilder.title("") == "(no title)")
        let long = PageBuilder.title(String(repeating: "a", count: 5_000_000))
        #expect(long.utf8.count < 1_100 && long.hasSuffix("a\u{2026} (4999000 more characters)"))
        let marks = PageBuilder.beginning(of: "a" + String(repeating: "\u{301}", count: 1_000), 10)
        #expect(marks.unicodeScalars.count < 50 && marks.hasSuffix(" (991 more characters)"))
    }

    @Test("a mark on a quotation mark or a bracket leaves it what it is", arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", ""])
    func marks(_ mark: String) throws {
        let hostile = "\"\(mark) autofocus onfocus=\"\(mark)alert(1) '\(mark) <\(mark)script>&\(mark)amp;"
        let escaped = PageText.escaped(hostile)
        for scalar in escaped.unicodeScalars { #expect(!["\"", "'", "<", ">"].contains(scalar)) }
        let row: [String: Any] = [
            "id": "1", "title": hostile, "tags": [["tag": hostile]], "excerpt": [["text": hostile, "isMarked": true]],
        ]
        let note = try Templates().render("rows", ["entries": [row]])
        #expect(note.contains(escaped) && !note.unicodeScalars.contains("'"))
        #expect(!note.contains("<script") && !Array(note.utf8).contains(subsequence: Array(hostile.utf8)))
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: subsequence) }
    }
}
