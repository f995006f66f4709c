import Foundation
import Testing

@Suite("Bad input crashes a command or loses something")
struct BadInputTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    @Test(arguments: [
        ["import"], ["folder", "add"], ["export"], ["backup"], ["restore"], ["carry", "out"], ["carry", "in"], ["snapshot"],
        ["note", "attach", "One"], ["note", "save", "One", "file", "--output"], ["recover", "--restore"], ["check"],
    ])
    func `an empty path is not the folder that one is in`(command: [String]) throws {
        let result = try home.shell("\"$KITH\" \(command.joined(separator: " ")) ''")
        #expect(result.status == 64 && result.error.contains("The path is empty."), "\(result)")
    }

    @Test func `a tilde that begins a name is no home`() throws {
        try home.shell("mkdir sub && echo mine > 'sub/~'")
        let steps = ["note add One", "note attach One '~'", "export '~out'", "backup '~backup'", "note save One '~' --output '~copy'"]
        let made = try home.shell("cd sub && \(steps.map { "\"$KITH\" \($0)" }.joined(separator: " && ")) && cat '~copy' && ls -A")
        #expect(made.status == 0 && made.output.hasSuffix("mine\n~\n~backup\n~copy\n~out\n"), "\(made)")
        let folder = try home.shell("cd sub && mkdir '~dir' && \"$KITH\" folder add '~dir' && ls '~dir'")
        #expect(folder.status == 0 && folder.output.contains("One.md"), "\(folder)")
        // Without another name, the attachment's own.
        let saved = try home.shell("mkdir saved && cd saved && \"$KITH\" note save One '~' && cat '~'")
        #expect(saved.status == 0 && saved.output.hasSuffix("mine\n"), "\(saved)")
    }

    @Test func `a folder or an empty file is no exported device`() throws {
        let empty = try home.write("empty", Data())
        expectFailure(try home.kith("device", "import", home.folder.path, input: "long passphrase\n"), 66, "cannot be read")
        expectFailure(try home.kith("device", "import", empty, input: "long passphrase\n"), 65)
    }

    @Test func `a file that may not be read is called so, not damaged`() throws {
        let become = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
        try home.kith("note", "add", "One")
        try home.shell("\"$KITH\" backup b && \"$KITH\" export lines.jsonl && cp b archive.zip && echo text > note.md")
        try home.shell("mkdir other closed && chmod 777 other && chmod 755 . && chmod 0 b lines.jsonl archive.zip note.md closed")
        let run = "KITH_HOME=\"$PWD/other\" TMPDIR=\"$PWD/other\" \(become) \"$KITH\""
        for command in ["restore b", "import b", "import lines.jsonl", "import archive.zip", "import note.md", "import closed"] {
            let result = try home.shell("\(run) \(command)")
            expectFailure(result, 74, "Permission denied", String(command.split(separator: " ")[1]))
        }
        try home.shell("chmod 700 closed")
    }

    @Test func `a note that nobody has is reported`() throws {
        for arguments in [["show", "nope"], ["edit", "nope", "--title", "x"], ["rm", "nope"], ["show", ""], ["show", "ffffffff"]] {
            let result = try home.shell("\"$KITH\" note " + arguments.map { "'\($0)'" }.joined(separator: " "))
            expectFailure(result, 66, "There is no note")
        }
    }

    @Test func `a name that fits several notes is reported with all of them, and nothing is deleted`() throws {
        let first = try home.kith("note", "add", "Same").lastLine
        let second = try home.kith("note", "add", "Same").lastLine
        expectFailure(try home.kith("note", "rm", "Same"), 65, String(first.suffix(8)), String(second.suffix(8)))
        expectFailure(try home.kith("note", "show", String(first.prefix(6))), 65, "could be any of")
        expectFailure(try home.kith("note", "rm", first, "nope"), 66)
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 2)
    }

    @Test(
        arguments: [
            "note list --limit 0", "note list --limit x", "note list --color purple", "note add t --color 9", "note frobnicate",
            "note add t --body a --body-file b", "up --port 70000", "up --port -1", "conflicts keep a b c", "--nope", "note add one two",
            "note edit t --title ''", "note edit t --title '  '",
        ])
    func `arguments that make no sense are reported with the usage`(line: String) throws {
        let result = try home.shell("\"$KITH\" \(line)")
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.error.contains("Usage:"))
    }

    @Test func `a title that nobody could see is refused`() throws {
        expectFailure(try home.kith("note", "add", "   ", "--body", "x"), 65, "nothing but spaces")
        let note = try home.kith("note", "add", "Seen").lastLine
        #expect(try home.kith("note", "edit", note, "--title", " \u{3000}").status == 64)
        #expect(try home.kith("note", "show", "Seen").status == 0)
    }

    @Test func `an argument that is not UTF-8 is refused, not changed`() throws {
        let result = try home.shell(#""$KITH" note add "$(printf 'a\377b')""#)
        expectFailure(result, 64, "not UTF-8")
        #expect(try home.kith("note", "list").output.isEmpty)
    }

    @Test func `a body that is no text, too long, or not there is refused`() throws {
        let limit = 4 << 20
        let exact = try home.write("exact", Data(repeating: UInt8(ascii: "x"), count: limit))
        #expect(try home.kith("note", "add", "Huge", "--body-file", exact).status == 0)
        let over = try home.write("over", Data(repeating: UInt8(ascii: "x"), count: limit + 1))
        expectFailure(try home.kith("note", "add", "t", "--body-file", over), 65, "\(limit)")
        expectFailure(try home.kith("note", "add", "t", "--body-file", home.write("bytes", Data([0x61, 0xFF, 0x62]))), 65, "UTF-8")
        expectFailure(try home.kith("note", "add", "t", "--body-file", home.write("nul", Data([0x61, 0, 0x62]))), 65, "NUL")
        expectFailure(try home.kith("note", "add", "t", "--body-file", home.path("missing")), 66, "missing")
        expectFailure(try home.kith("note", "add", "t", "--body-file", home.folder.path), 66)
        expectFailure(try home.kith("note", "add", "two\nlines"), 65, "one line")
        expectFailure(try home.kith("note", "add", ""), 65, "title or a body")
        #expect(try home.kith("note", "list").output.split(separator: "\n").count == 1)
    }

    @Test func `input without an end is not read for ever`() throws {
        expectFailure(try home.shell(#"yes 2>/dev/null | "$KITH" note add t --body -"#), 65, "more than")
    }

    @Test func `an option that is not known is shown without its control characters`() throws {
        for arguments in [["--z\u{1B}[31m"], ["--order", "\u{9B}2J"], ["--limit", "\u{202E}"]] {
            let result = try home.kith(["note", "list"] + arguments)
            #expect(result.status == 64 && result.error.contains("\u{FFFD}"), "\(result)")
            #expect(!result.error.unicodeScalars.contains { ["\u{1B}", "\u{9B}", "\u{202E}"].contains($0) })
            #expect(result.error.contains("\nUsage: kith note list"), "\(result.error)")
        }
    }

    // MARK: Files

    @Test func `a file that is not a store of notes is refused and left as it is`() throws {
        let content = Data(String(repeating: "not a database. ", count: 512).utf8)
        let file = try home.write("letter.txt", content)
        expectFailure(try home.kith("note", "list", "--store", file), 65, "not an SQLite database")
        #expect(FileManager.default.contents(atPath: file) == content)
        expectFailure(try home.kith("note", "list", "--store", home.folder.path), 73, "is a folder")
        expectFailure(try home.kith("note", "list", "--store", ""), 64, "--store")
    }

    @Test func `a folder that cannot be made is reported`() throws {
        let file = try home.write("file", Data())
        expectFailure(try home.kith("note", "add", "x", "--store", file + "/notes.sqlite"), 73, "cannot be made")
        expectFailure(try home.kith("note", "add", "x", environment: ["KITH_HOME": file]), 73, "cannot be made")
    }

    @Test func `notes in a folder that cannot be written are shown, and left as they are`() throws {
        try home.kith("note", "add", "One")
        // Nobody stops the superuser; as somebody else the same commands must fail.
        let become = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
        try home.shell("mkdir open && chmod 777 open && chmod -R a+rX . && chmod a-w store store/*")
        let probe = try home.shell("\(become) \"$KITH\" --version")
        try #require(probe.status == 0, "the program cannot be run by another user here: \(probe.error)")
        let list = try home.shell("\(become) \"$KITH\" note list")
        #expect(list.status == 0 && list.output.contains("One"))
        #expect(list.error.hasPrefix("Only reading: "), "\(list.error)")
        expectFailure(try home.shell("\(become) \"$KITH\" note add x"), 73)
        let new = try home.shell("\(become) \"$KITH\" note add x --store \"$KITH_HOME/store/other.sqlite\"")
        expectFailure(new, 73, "Check the permissions")
        // What is to be sealed is not written beside the notes then, nor beside the backup.
        try home.shell("mkdir scratch && chmod 777 scratch")
        let sealed = try home.shell(
            #"printf 'correct horse battery\n' | TMPDIR="$PWD/scratch" \#(become) "$KITH" backup --passphrase open/b"#)
        #expect(sealed.status == 0, "\(sealed)")
        #expect(try home.shell("ls -A scratch open").output.split(separator: "\n").filter { $0.hasPrefix(".kith") }.isEmpty)
        #expect(try home.shell("grep -c 'SQLite format 3' open/b").output == "0\n")
        try home.shell("chmod u+w store store/*")
        #expect(try home.kith("note", "list").output.contains("One"))
    }

    @Test func `a key and notes that may not be read are called so, not missing`() throws {
        try home.kith("note", "add", "One")
        let id = try home.kith("device", "id").lastLine
        let become = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
        let own = getuid() == 0 ? "chown 65534" : "true"
        try home.shell("chmod 755 . && \(own) keys keys/* && chmod 0 keys/device.key store/notes.sqlite && chmod 755 store")
        let doctor = try home.shell("\(become) \"$KITH\" doctor --no-discovery")
        #expect(doctor.status == 69)
        #expect(doctor.output.contains("The key of this machine cannot be read."), "\(doctor)")
        #expect(doctor.output.contains("The notes cannot be read:") && !doctor.output.contains("no key yet"), "\(doctor)")
        // Without the key nobody knows whether it belongs to the household.
        #expect(!doctor.output.contains("household"), "\(doctor)")
        #expect(try home.shell("\(become) \"$KITH\" note list").status != 0)
        try home.shell("chmod 0 keys")
        let blind = try home.shell("\(become) \"$KITH\" doctor --no-discovery")
        #expect(blind.status == 69 && blind.output.contains("Which machines this one trusts cannot be read."), "\(blind)")
        #expect(!blind.output.contains("trusts no other"), "\(blind)")
        try home.shell("\(getuid() == 0 ? "chown -R 0 keys;" : "") chmod 700 keys && chmod 600 keys/device.key")
        try home.shell("chmod 600 store/notes.sqlite")
        #expect(try home.kith("device", "id").lastLine == id)
        #expect(try home.kith("note", "list").output.contains("One"))
    }

    @Test func `words of a search that could be a filter and are none are said`() throws {
        try home.kith("note", "add", "Meeting", "--body", "since:friday")
        let result = try home.kith("note", "search", "since:friday color:pink")
        #expect(result.error.contains("“since:friday” was looked for as it stands") && result.error.contains("“color:pink”"), "\(result)")
        let day = try home.kith("note", "search", "since:2026-02-30")
        #expect(day.error.contains("since:2026-02-30"))
        #expect(try home.kith("note", "search", "meeting since:2026-01-01").error.isEmpty)
    }

    // MARK: Output

    @Test func `a reader that goes away ends the command without a word`() throws {
        let body = String(repeating: "x", count: 200_000)
        try home.kith("note", "add", "Long", "--body", "-", input: body)
        let result = try home.shell(#"{ "$KITH" note show Long; echo "status $?" >&2; } | head -c 1"#)
        #expect(result.error == "status 141\n")
    }

    @Test func `an output that is closed or full loses nothing of what was asked for`() throws {
        let closed = try home.shell(#""$KITH" note add One >&-"#)
        #expect(closed.status == 0)
        #expect(closed.error.isEmpty)
        if FileManager.default.fileExists(atPath: "/dev/full") {
            let full = try home.shell(#""$KITH" note add Two >/dev/full"#)
            expectFailure(full, 74, "could not be written")
            expectFailure(try home.shell(#""$KITH" --help >/dev/full"#), 74, "could not be written")
        }
        let all = try home.shell(#""$KITH" note add Three <&- >&- 2>&-"#)
        #expect(all.status == 0)
        let titles = try home.kith("note", "list").output
        #expect(titles.contains("One") && titles.contains("Three"))
    }
}
