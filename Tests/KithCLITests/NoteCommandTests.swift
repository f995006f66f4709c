import Dispatch
import Foundation
import KithProgram
import Synchronization
import Testing

@Suite("A note cannot be written, read or found from the command line")
struct NoteCommandTests {
    @Test func `notes are put where people want them, and a place that is none is refused`() throws {
        let home = try KithHome()
        for title in ["a", "b", "c"] { try home.kith("note", "add", title) }
        func order() throws -> [String?] {
            (try home.kith("note", "list", "--order", "hand", "--json").json() as? [[String: Any]] ?? []).map { $0["title"] as? String }
        }
        #expect(try order() == ["c", "b", "a"])
        #expect(try home.kith("note", "move", "a", "b", "--first").output.split(separator: "\n").count == 2)
        #expect(try order() == ["a", "b", "c"])
        try home.kith("note", "move", "c", "--before", "b")
        #expect(try order() == ["a", "c", "b"])
        try home.kith("note", "undo")
        #expect(try order() == ["a", "b", "c"])
        try home.kith("note", "move", "a", "--after", "b")
        try home.kith("note", "move", "c", "--last")
        #expect(try order() == ["b", "a", "c"])
        #expect(try home.kith("note", "move", "a").status == 64 && home.kith("note", "move", "a", "--first", "--last").status == 64)
        expectFailure(try home.kith("note", "move", "a", "--after", "nothing"), 66)
    }

    @Test func `notes are pinned and unpinned, are shown so, and an undo takes it back`() throws {
        for title in ["a", "b", "c"] { try home.kith("note", "add", title) }
        func pinned() throws -> [String] {
            let notes = try home.kith("note", "list", "--order", "title", "--json").json() as? [[String: Any]] ?? []
            return notes.filter { $0["pinned"] as? Bool == true }.compactMap { $0["title"] as? String }
        }
        #expect(try home.kith("note", "pin", "a", "c").output.split(separator: "\n").allSatisfy { $0.hasPrefix("Pinned ") })
        #expect(try pinned() == ["a", "c"])
        #expect(try home.kith("note", "pin", "a").output.hasSuffix("was pinned before.\n"))
        #expect(try home.kith("note", "list").output.split(separator: "\n").filter { $0.contains("pinned") }.count == 2)
        #expect(try home.kith("note", "show", "a").output.contains("  pinned  "))
        #expect(try home.kith("note", "list", "--order", "hand").output.split(separator: "\n").last?.contains(" b") == true)
        expectFailure(try home.kith("note", "unpin", "a", "nothing"), 66)
        #expect(try pinned() == ["a", "c"])
        try home.kith("note", "unpin", "a")
        #expect(try pinned() == ["c"])
        try home.kith("note", "undo")
        #expect(try pinned() == ["a", "c"])
    }

    @Test func `a text without a title gets one, also if its first lines are empty`() throws {
        let added = try home.kith("note", "add", "--body", "\n \r\n\nHello\n\n  there\n")
        #expect(try home.kith("note", "list").output.contains("Hello"))
        #expect(try home.kith("note", "show", added.lastLine, "--body-only").output == "  there\n")
    }

    @Test func `a byte order mark before a text is no part of the title`() throws {
        try home.kith("note", "add", "--body", "-", input: "\u{FEFF}Shopping\nbread")
        #expect(try home.kith("note", "show", "Shopping", "--body-only").output == "bread")
    }

    @Test func `the note of the day is made by what is written into it, not by an editor that fails or writes nothing`() throws {
        let failed = try home.kith("today", environment: ["EDITOR": "false"])
        #expect(failed.status != 0)
        #expect(try home.kith("note", "list").output.isEmpty)
        let nothing = try home.kith("today", environment: ["EDITOR": "true"])
        #expect(nothing.status == 0 && nothing.output == "Nothing was written, so no note was made.\n")
        #expect(try home.kith("today", "--json", environment: ["EDITOR": "true"]).output == "null\n")
        #expect(try home.kith("note", "list").output.isEmpty)
        let script = try home.write("editor", Data("#!/bin/sh\nprintf 'Milk\\n' >> \"$1\"\n".utf8))
        try home.shell("chmod +x \(script)")
        let written = try home.kith("today", environment: ["EDITOR": script])
        #expect(written.output.hasPrefix("The note of today is "), "\(written.error)")
        #expect(try home.kith("note", "search", "Milk").output.split(separator: "\n").count == 1)
    }

    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    @Test func `a note that is added is shown, listed, found, edited and deleted`() throws {
        let added = try home.kith(
            "note", "add", "Shopping", "--body", "- Bread\n- coffee", "--tag", "home", "--tag", "#food", "--color", "yellow")
        #expect(added.status == 0)
        let id = added.lastLine
        #expect(UUID(uuidString: id) != nil)
        #expect(added.output == id + "\n")

        let shown = try home.kith("note", "show", id)
        #expect(shown.output.hasPrefix("Shopping\n"))
        #expect(shown.output.contains("yellow  #food  #home"))
        #expect(shown.output.hasSuffix("\n\n- Bread\n- coffee\n"))

        #expect(try home.kith("note", "list", "--tag", "food").output.contains(id.suffix(8)))
        #expect(try home.kith("note", "search", "COFFEE").output.contains("Shopping"))
        #expect(try home.kith("note", "search", "tea").output.isEmpty)

        let edited = try home.kith("note", "edit", "Shopping", "--title", "Groceries", "--add-tag", "todo", "--remove-tag", "food")
        #expect(edited.output.hasPrefix("Changed title, tags of"))
        #expect(try home.kith("note", "edit", "Groceries", "--add-tag", "todo").output.hasPrefix("Nothing changed"))

        #expect(try home.kith("note", "rm", id).output.hasPrefix("Deleted"))
        #expect(try home.kith("note", "list").output.isEmpty)
    }

    @Test func `a long title makes no other line of a list long`() throws {
        _ = try home.kith("note", "add", String(repeating: "long ", count: 180), "--tag", "home")
        _ = try home.kith("note", "add", "Tea", "--tag", "home")
        let lines = try home.kith("note", "list").output.split(separator: "\n")
        #expect(lines.map { $0.count > 900 } == [false, true])
        #expect(lines.allSatisfy { $0.contains("#home") })
        #expect((lines.first?.count ?? 0) < 200)
    }

    @Test func `what other machines write without a limit is shown up to one, with a mark`() {
        let text = TextTable.Cell(String(repeating: "\u{1F375}", count: 100_000)).text
        #expect(text.hasSuffix("\u{1F375}…"))
        #expect(text.utf8.count <= TextTable.Cell.bytesMax + 3)
        #expect(TextTable.Cell("Tea").text == "Tea")
    }

    @Test func `a body comes from an option, a file or standard input, byte for byte`() throws {
        let text = "línea 1\r\n\tlínea 2\n\n日本 🇩🇪\n"
        let file = try home.write("body.txt", Data(text.utf8))
        let added = [
            try home.kith("note", "add", "One", "--body", text), try home.kith("note", "add", "Two", "--body-file", file),
            try home.kith("note", "add", "Three", "--body", "-", input: text),
            try home.kith("note", "add", "Four", "--body-file", "-", input: text),
        ]
        for result in added {
            #expect(result.status == 0, "\(result.error)")
            #expect(try home.kith("note", "show", result.lastLine, "--body-only").output.utf8.elementsEqual(text.utf8))
        }
    }

    @Test func `without a title the first line of the text becomes it`() throws {
        let id = try home.kith("note", "add", "--body", "-", input: "Shopping\n\nBread\n").lastLine
        #expect(try home.kith("note", "show", id, "--body-only").output == "Bread\n")
        #expect(try home.kith("note", "show", "Shopping").status == 0)
    }

    @Test func `a list is aligned, whatever the letters, and carries no escape sequences`() throws {
        for title in ["Short", "日本語のノート", "Grüße", "e\u{301}", "👩‍👩‍👧 family", "evil \u{202E}txt"] {
            try home.kith("note", "add", title, "--tag", "x")
        }
        let lines = try home.kith("note", "list", "--order", "title").output.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { $0.hasSuffix("#x") && !$0.contains("\u{1B}") && !$0.contains("\u{202E}") })
        // Wide characters take two columns.
        let widths = lines.map { line in
            line.unicodeScalars.prefix { $0 != "#" }.reduce(0) { $0 + (("\u{3000}"..."\u{9FFF}").contains($1) ? 2 : 1) }
        }
        let plain = zip(lines, widths).filter { line, _ in ["Short", "日本語", "Grüße"].contains { line.contains($0) } }.map(\.1)
        #expect(Set(plain).count == 1, "\(lines.joined(separator: "\n"))")
    }

    @Test func `what another program put into a note cannot take over the terminal`() throws {
        let id = try home.kith("note", "add", "Title", "--body", "\u{1B}]0;owned\u{7}\u{9B}2J line\nnext\u{202E}").lastLine
        let shown = try home.kith("note", "show", id).output
        #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        #expect(!shown.contains("\u{202E}"))
        #expect(shown.contains("line\nnext"))
    }

    @Test func `several processes that add at once all succeed, even when they make the store`() throws {
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let error = Result { try home.kith("note", "add", "note \(number)").error }
            if case .success("") = error { return }
            failures.withLock { $0.append("\(error)") }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 8)
    }

    @Test func `a key is never kept beside the notes`() throws {
        expectFailure(try home.kith("device", "id", "--store", home.path("keys/notes.sqlite")), 64, "secret key")
        try home.kith("device", "id")
        try home.kith("note", "add", "One")
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path("store")).allSatisfy { $0.hasPrefix("notes.sqlite") })
        #expect(FileManager.default.fileExists(atPath: home.path("keys/device.key")))
    }

    @Test func `without KITH_HOME the XDG folders are used, and relative ones are not`() throws {
        let folders = ["KITH_HOME": "", "XDG_CONFIG_HOME": home.path("config"), "XDG_DATA_HOME": home.path("data")]
        try home.kith("note", "add", "One", environment: folders)
        try home.kith("device", "id", environment: folders)
        #expect(FileManager.default.fileExists(atPath: home.path("data/kith/notes.sqlite")))
        #expect(FileManager.default.fileExists(atPath: home.path("config/kith/device.key")))
        let relative = ["KITH_HOME": "", "XDG_DATA_HOME": "data", "HOME": home.path("me")]
        #expect(try home.kith("note", "list", environment: relative).status == 0)
        #expect(FileManager.default.fileExists(atPath: home.path("me/.local/share/kith/notes.sqlite")))
    }
}
