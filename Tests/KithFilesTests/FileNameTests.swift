import Foundation
import Testing

@testable import KithFiles

@Suite("A name cannot be held by some system, or means another file there")
struct FileNameTests {
    @Test(
        "a title becomes a name that all systems hold",
        arguments: [
            ("Shopping", "Shopping"), ("a/b\\c:d", "a-b-c-d"), ("What? \"Why\" <so>*", "What Why so"), ("", "Untitled"),
            ("...", "Untitled"),
            (".hidden", "hidden"), ("ends. ", "ends"), ("CON", "CON_"), ("nul.txt", "nul_.txt"), ("Lpt1", "Lpt1_"), ("Console", "Console"),
            ("COM\u{B9}", "COM\u{B9}_"), ("e\u{301}te\u{301}", "\u{E9}t\u{E9}"), ("a\u{202E}b\tc\u{0}", "a b c"),
            ("../../etc/passwd", "-..-etc-passwd"),
            ("日本語", "日本語"), ("👩‍👩‍👧 family", "👩‍👩‍👧 family"),
        ])
    func stems(title: String, stem: String) {
        #expect(FileName.stem(for: title).utf8.elementsEqual(stem.utf8), "\(FileName.stem(for: title))")
    }

    @Test("a long title is cut between characters, with room for a number and an ending")
    func long() {
        for character in ["x", "é", "日", "👩‍👩‍👧"] {
            let stem = FileName.stem(for: String(repeating: character, count: 1_000))
            #expect(stem.utf8.count <= FileName.stemBytesMax && stem.utf8.count > FileName.stemBytesMax - 20)
            #expect(stem.allSatisfy { String($0) == character })
        }
    }

    @Test("names that differ in case or in the form of an accent are one name")
    func twins() {
        var register = NameRegister()
        #expect(register.takeFree(stem: "Été", ending: "md") == "Été.md")
        #expect(register.takeFree(stem: "e\u{301}te\u{301}", ending: "md").hasSuffix(" (2).md"))
        #expect(register.takeFree(stem: "ÉTÉ", ending: "md") == "ÉTÉ (3).md")
        #expect(register.takeFree(stem: "Note (2)", ending: "md") == "Note (2).md")
        #expect(register.takeFree(stem: "Note", ending: "md") == "Note.md")
        #expect(register.takeFree(stem: "note", ending: "md") == "note (3).md")
    }

    @Test(
        "a name of an attachment never leads anywhere else",
        arguments: [
            ("photo.jpg", "photo.jpg"), ("../../.bashrc", "bashrc"), ("a/b.tar.gz", "b.tar.gz"), ("C:\\x\\y.png", "y.png"),
            ("noending", "noending"),
            ("x.j/pg", "pg"), ("", "Untitled"), ("aux.h", "aux_.h"),
        ])
    func attachments(given: String, name: String) {
        #expect(FileName.name(for: given) == name)
    }
}
