import Foundation
import Testing

@Suite("A program cannot read what a command prints")
struct JSONOutputTests {
    @Test func `every command prints JSON when asked to, and nothing else`() throws {
        let home = try KithHome()
        let other = try KithHome().kith("device", "id").lastLine
        let quotes = #"say "hi" \ / é 日本"#
        let commands: [[String]] = [
            ["note", "list"], ["device", "list"], ["conflicts", "list"], ["status"],
            ["note", "add", quotes, "--body", "a\n\tb\u{1B}", "--tag", "x", "--color", "red"], ["note", "list"], ["note", "show", quotes],
            ["note", "search", "HI"], ["note", "edit", quotes, "--color", "blue"],
            ["note", "attach", quotes, home.path("a file")], ["note", "attachments", quotes],
            ["note", "save", quotes, "a file", "--output", home.path("copy")], ["note", "detach", quotes, "a file"],
            ["conflicts", "show", quotes], ["note", "rm", quotes],
            ["trash", "list"], ["trash", "restore", quotes], ["note", "rm", quotes], ["trash", "empty", "--yes"], ["trash", "list"],
            ["verify"], ["doctor", "--size"],
            ["device", "id"], ["device", "add", other, "--name", "laptop", "--address", "host:1"], ["device", "list"],
            ["device", "rename", "laptop", "attic"], ["status"], ["household", "show"], ["device", "remove", "attic"],
            ["household", "leave"],
        ]
        try home.write("a file", Data("content".utf8))
        for command in commands {
            let result = try home.shell("\"$KITH\" " + command.map { "'\($0)'" }.joined(separator: " ") + " --json")
            #expect(result.status == 0, "\(command): \(result.error)")
            #expect(throws: Never.self, "\(command): \(result.output)") { try result.json() }
            #expect(result.error.isEmpty)
        }
    }

    @Test func `JSON controls no terminal and says the same`() throws {
        let home = try KithHome()
        let title = "a\u{9B}31mb\u{85}c\u{7F}d\u{A0}é\u{1B}[2J"
        try home.kith("note", "add", "plain", "--body", title)
        let shown = try home.kith("note", "show", "plain", "--json")
        #expect(!shown.output.unicodeScalars.contains { (0x7F...0x9F).contains($0.value) || $0.value == 0x1B })
        #expect(shown.output.contains("\\u009b31mb\\u0085c\\u007fd"))
        #expect((try shown.json() as? [String: Any])?["body"] as? String == title)
    }

    @Test func `a note in JSON carries everything, exactly`() throws {
        let home = try KithHome()
        let added =
            try home.kith("note", "add", "Shopping", "--body", "Bread\n", "--tag", "b", "--tag", "a", "--json").json() as? [String: Any]
        let shown = try home.kith("note", "show", "Shopping", "--json").json() as? [String: Any]
        #expect(shown?["title"] as? String == "Shopping")
        #expect(shown?["body"] as? String == "Bread\n")
        #expect(shown?["color"] as? String == "none")
        #expect(shown?["tags"] as? [String] == ["a", "b"])
        #expect(UUID(uuidString: shown?["id"] as? String ?? "") != nil)
        let created = try #require(shown?["created"] as? String)
        #expect(created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        #expect(added?["id"] as? String == shown?["id"] as? String)
    }

    @Test func `every command says with --help what it does, with an example`() throws {
        let home = try KithHome()
        let commands = [
            "", "note", "note add", "note list", "note show", "note edit", "note history", "note rm", "note search", "note attach",
            "note attachments", "note detach", "note save", "device", "device id", "device add",
            "device list", "device revoke", "device rename", "device renew", "device export", "device import", "household",
            "household show", "household leave", "up", "status",
            "conflicts", "conflicts list", "conflicts show",
            "conflicts keep", "trash", "trash list", "trash restore", "trash empty", "verify", "doctor",
        ]
        for command in commands {
            let result = try home.shell("\"$KITH\" \(command) --help")
            #expect(result.status == 0)
            #expect(result.output.contains("EXAMPLES\n  kith \(command)"), "\(command)")
            #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.hasPrefix("USAGE") }, "\(command)")
        }
        #expect(try home.kith("--version").output == "0.1.0\n")
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `a shell can complete the commands`(shell: String) throws {
        let result = try KithHome().kith("--generate-completion-script", shell)
        #expect(result.status == 0)
        #expect(result.output.contains("conflicts"))
    }
}
