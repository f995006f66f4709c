import Foundation
import Testing

@Suite("Text typed in an editor gets lost")
struct EditorTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
        try home.kith("note", "add", "Shopping", "--body", "Bread", "--tag", "home", "--color", "green")
    }

    private func edit(_ editor: String, _ arguments: String = "Shopping") throws -> KithHome.Result {
        try home.shell("\"$KITH\" note edit \(arguments)", environment: ["EDITOR": editor])
    }

    private var body: String {
        get throws { try home.kith("note", "show", "Shopping", "--body-only").output }
    }

    /// Files of the editor that were left.
    private var leftovers: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: home.folder.path).filter { $0.hasPrefix("kith-note.") } }
    }

    @Test func `what the editor saves becomes the note, and the rest of it stays`() throws {
        let editor = try home.script("editor", #"printf 'Shopping\n\nBread\nCoffee\n' > "$1""#)
        let result = try edit(editor)
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.hasPrefix("Changed body of"))
        #expect(try body == "Bread\nCoffee")
        #expect(try home.kith("note", "show", "Shopping").output.contains("green  #home"))
        #expect(try leftovers.isEmpty)
    }

    @Test func `an editor may have options, and VISUAL comes before EDITOR`() throws {
        let editor = try home.script("my editor", #"[ "$1" = --wait ] && printf 'Groceries\n\nBread\n' > "$2""#)
        let result = try home.shell(
            "\"$KITH\" note edit Shopping", environment: ["VISUAL": "'\(editor)' --wait", "EDITOR": "false"])
        #expect(result.output.hasPrefix("Changed title of"), "\(result.error)")
    }

    @Test func `only the owner can read the file while it is edited`() throws {
        let editor = try home.script("editor", #"ls -ld "$1" "$(dirname "$1")" | cut -c1-10 > "$KITH_HOME/modes""#)
        #expect(try edit(editor).output.hasPrefix("Nothing changed"))
        #expect(try String(contentsOfFile: home.path("modes"), encoding: .utf8) == "drwx------\n-rw-------\n")
    }

    @Test(arguments: ["Bread", "Bread\n", "", "\n", "\n\nBread\n\n", "a\r\nb"])
    func `a note that was not touched in the editor stays exactly as it is`(text: String) throws {
        try home.kith("note", "edit", "Shopping", "--body", "-", input: text)
        #expect(try edit("true").output.hasPrefix("Nothing changed"))
        #expect(try body.utf8.elementsEqual(text.utf8))
    }

    @Test func `an editor that writes Windows' line ends adds no empty line`() throws {
        let editor = try home.script("editor", #"sed 's/\r*$/\r/' "$1" > "$1.new" && cat "$1.new" > "$1" && rm "$1.new""#)
        for _ in 0..<2 { #expect(try edit(editor).status == 0) }
        #expect(try body.utf8.elementsEqual("Bread".utf8))
        try home.kith("note", "edit", "Shopping", "--body", "-", input: "a\r\nb")
        for _ in 0..<2 { #expect(try edit(editor).status == 0) }
        #expect(try body.utf8.elementsEqual("a\r\nb".utf8))
    }

    @Test func `an editor that is missing, fails or is killed changes nothing and says so`() throws {
        let editors = [
            ("/nonexistent/editor", "Set EDITOR"), ("false", "status 1"), (try home.script("killed", "kill -9 $$"), "status 137"),
        ]
        for (editor, words) in editors {
            let result = try edit(editor)
            #expect(result.status == 69)
            // The shell may have said something before.
            let last = try #require(result.error.split(separator: "\n").last)
            #expect(last.hasPrefix("kith: The editor \u{201C}\(editor)\u{201D}") && last.contains(words), "\(result.error)")
        }
        expectFailure(try home.shell("PATH=/nonexistent \"$KITH\" note edit Shopping"), 69, "No editor")
        #expect(try body == "Bread")
        #expect(try leftovers.isEmpty)
    }

    @Test func `what others change meanwhile in other fields stays`() throws {
        let editor = try home.script(
            "editor", #""$KITH" note edit Shopping --add-tag urgent >/dev/null; printf 'Shopping\n\nCoffee\n' > "$1""#)
        #expect(try edit(editor).status == 0)
        #expect(try body == "Coffee")
        #expect(try home.kith("note", "show", "Shopping").output.contains("#home  #urgent"))
    }

    @Test func `text that cannot be saved is kept in a file that the error names`() throws {
        let meanwhile = try home.script(
            "meanwhile", #""$KITH" note edit Shopping --title Milk >/dev/null; printf 'Groceries\n\nCoffee\n' > "$1""#)
        let removed = try home.script("removed", #""$KITH" note rm Shopping >/dev/null; printf 'Shopping\n\nCoffee\n' > "$1""#)
        let failed = try home.script("failed", #"printf 'Shopping\n\nCoffee\n' > "$1"; exit 3"#)
        let long = try home.script("long", #"head -c 2000 /dev/zero | tr '\0' x > "$1"; printf '\n\nCoffee\n' >> "$1""#)
        for (editor, status) in [(failed, 69), (long, 65), (meanwhile, 75)] as [(String, Int32)] {
            let result = try edit(editor)
            expectFailure(result, status, "Your text is in ")
            let path = try #require(result.error.components(separatedBy: "Your text is in ").last?.dropLast())
            #expect(try String(contentsOfFile: String(path), encoding: .utf8).hasSuffix("\n\nCoffee\n"))
            if status == 75 {
                #expect(try home.kith("note", "show", "Milk", "--body-only").output == "Bread")
                try home.kith("note", "edit", "Milk", "--title", "Shopping")
            }
        }
        let result = try edit(removed)
        expectFailure(result, 66, "Your text is in ")
    }

    @Test func `what others write in the text meanwhile stays, and every version can be read again`() throws {
        let editor = try home.script(
            "editor",
            #"for item in Milk Eggs; do "$KITH" note edit Shopping --body "$("$KITH" note show Shopping --body-only), $item" >/dev/null; done; printf 'Shopping\n\nBlack Bread\n' > "$1""#
        )
        let result = try edit(editor)
        #expect(result.status == 0, "\(result.error)")
        #expect(try body == "Black Bread, Milk, Eggs")
        let versions = try #require(try home.kith("note", "history", "Shopping", "--json").json() as? [[String: Any]])
        let texts = try versions.map {
            try home.kith("note", "show", "Shopping", "--body-only", "--at", try #require($0["version"] as? String)).output
        }
        #expect(texts == ["Black Bread, Milk, Eggs", "Bread, Milk, Eggs", "Bread, Milk", "Bread"])
        let lines = try home.kith("note", "history", "Shopping").output.split(separator: "\n")
        #expect(lines.count == 4 && lines[3].contains("+5") && lines[3].hasSuffix("this device"))
        let short = try #require(lines[3].split(separator: " ").first.map(String.init))
        #expect(try home.kith("note", "show", "Shopping", "--body-only", "--at", short).output == "Bread")
        expectFailure(try home.kith("note", "show", "Shopping", "--at", "nothing.1"), 66, "kith note history")
    }

    @Test func `a text from a file that names its base keeps what was written since`() throws {
        let shown = try #require(try home.kith("note", "show", "Shopping", "--json").json() as? [String: Any])
        let base = try #require(shown["version"] as? String)
        try home.kith("note", "edit", "Shopping", "--body", "Bread, milk")
        let file = try home.write("list.md", Data("Rye bread".utf8))
        let result = try home.kith("note", "edit", "Shopping", "--body-file", file, "--base", base)
        #expect(result.status == 0, "\(result.error)")
        #expect(try body == "Rye bread, milk")
        expectFailure(try home.kith("note", "edit", "Shopping", "--body-file", file, "--base", "beef.9"), 66, "version")
        let alone = try home.kith("note", "edit", "Shopping", "--base", base)
        #expect(alone.status == 64 && alone.error.contains("--base needs"))
        #expect(try body == "Rye bread, milk")
    }

    @Test func `a note can be written in the editor from the start, and an empty text adds none`() throws {
        let editor = try home.script("editor", #"printf 'From the editor\n\nText\n' > "$1""#)
        let added = try home.shell("\"$KITH\" note add --tag new", environment: ["EDITOR": editor])
        #expect(added.status == 0, "\(added.error)")
        #expect(try home.kith("note", "show", "From the editor", "--body-only").output == "Text")
        expectFailure(try home.shell("\"$KITH\" note add", environment: ["EDITOR": "true"]), 65, "title or a body")
        #expect(try leftovers.isEmpty)
    }
}
