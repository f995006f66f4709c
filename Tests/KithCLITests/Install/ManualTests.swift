import Foundation
import Testing

@Suite("The manual leaves out a command, or roff takes its words for orders")
struct ManualTests {
    private let home: KithHome
    private let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    init() throws { home = try KithHome() }

    private func make(_ program: String) throws {
        let made = try home.shell(
            "\(program) --experimental-dump-help | '\(package.path)/scripts/manual.py' man --date 2026-11-01 --version 'kith 0.1.0'")
        try #require(made.status == 0, "\(made.error)")
    }

    private func page(_ name: String) throws -> String {
        try String(contentsOf: home.folder.appending(path: "man/\(name).1"), encoding: .utf8)
    }

    @Test("each command has its page or its section, with all of its options and examples")
    func commands() throws {
        try make("\"$KITH\"")
        let description = try home.kith("--experimental-dump-help").json() as? [String: Any]
        let root = try #require(description?["command"] as? [String: Any])
        let commands = (root["subcommands"] as? [[String: Any]] ?? []).filter { $0["commandName"] as? String != "help" }
        #expect(commands.count >= 12)
        for command in commands {
            let name = try #require(command["commandName"] as? String)
            let text = try page("kith-\(name)").replacing("\\-", with: "-")
            #expect(try page("kith").contains(".BR kith\\-\(name.replacing("-", with: "\\-")) (1)"), "\(name)")
            for below in command["subcommands"] as? [[String: Any]] ?? [] {
                #expect(text.contains("\n.SS \(name) \(below["commandName"] ?? "")\n"), "\(name)")
                for argument in below["arguments"] as? [[String: Any]] ?? [] where argument["shouldDisplay"] as? Bool != false {
                    for option in argument["names"] as? [[String: Any]] ?? [] where option["kind"] as? String == "long" {
                        #expect(text.contains("--\(option["name"] ?? "")"), "\(name)")
                    }
                }
            }
        }
        #expect(try page("kith-note").contains("kith note add \"Shopping\" \\-\\-body \"Bread, coffee\""))
    }

    @Test("manual readers have nothing to say about the pages")
    func lint() throws {
        try make("\"$KITH\"")
        try make("\"$KITH\" lab")
        #expect(try page("kith-lab").contains("lab sim"))
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc") else { return }
        let lint = try home.shell("mandoc -T lint -W warning man/*.1")
        #expect(lint.status == 0, "\(lint.output)")
    }

    @Test("what roff would take for an order is text")
    func escaping() throws {
        let dump = #"""
            {"serializationVersion": 0, "command": {"commandName": "x", "abstract": ".TH is `a-b` \\fB", "discussion": ".SH one\n'two\n\nEXAMPLES\n  .nf  \\n\n\n  end~", "arguments": []}}
            """#
        try home.write("dump.json", Data(dump.utf8))
        let made = try home.shell("'\(package.path)/scripts/manual.py' man < dump.json")
        #expect(made.status == 0, "\(made.error)")
        let text = try page("x")
        #expect(text.contains("x \\- \\&.TH is \\`a\\-b\\` \\efB"))
        #expect(text.contains("\n\\&.SH one 'two\n") && text.contains("\n\\&.nf  \\en\n\\&\nend\\(ti\n"), "\(text)")
    }

    @Test("completions are such that the shells read them", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let script = try home.kith("--generate-completion-script", shell)
        #expect(script.status == 0 && script.output.contains("household"))
        try home.write("completion", Data(script.output.utf8))
        #expect(try home.shell("! command -v \(shell) || \(shell) -n completion").status == 0)
    }
}
