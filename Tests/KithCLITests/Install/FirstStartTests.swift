import Foundation
import Testing

@Suite("Whoever has just installed it does not know what to do next")
struct FirstStartTests {
    private let home: KithHome

    init() throws { home = try KithHome() }

    #if os(Linux)
    private func onTerminal(_ command: String) throws -> [String] {
        let shown = try home.shell("script -qefc '\"$KITH\" \(command)' /dev/null < /dev/null", environment: ["TERM": "xterm"])
        return shown.output.split(whereSeparator: \.isNewline).map(String.init)
    }

    @Test(
        "the first start of anything says in two lines what to do next, the second one does not",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "no script(1) on this machine"),
        arguments: ["note add Shopping", "status", "device id", "note list"])
    func firstStart(command: String) throws {
        let first = try onTerminal(command)
        #expect(first.first?.contains("kith note add") == true && first.dropFirst().first?.contains("kith pair") == true, "\(first)")
        #expect(first.prefix(2).allSatisfy { $0.count <= 80 }, "\(first)")
        try home.kith("device", "id")
        #expect(try !onTerminal(command).contains { $0.contains("Welcome") })
    }
    #endif

    @Test("programs are told nothing but what they asked for")
    func programs() throws {
        let list = try home.kith("note", "list", "--json")
        #expect(list.error.isEmpty && list.output == "[\n\n]\n", "\(list.output)")
    }

    @Test("the help is grouped by what a person wants, with every command in a group")
    func help() throws {
        let help = try home.kith("--help")
        #expect(help.status == 0 && help.error.isEmpty)
        let headings = help.output.split(separator: "\n").filter { $0.hasSuffix(":") && $0.first?.isUppercase == true }.map(String.init)
        #expect(
            headings.contains("NOTES:") && headings.contains("IN STEP:") && headings.contains("MACHINES:") && headings.contains("TROUBLE:"))
        #expect(!help.output.contains("SUBCOMMANDS"), "\(help.output)")
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("a word that is no command is refused, and not taken for the notes on the whole screen")
    func noCommand() throws {
        for word in ["nots", "", "view-all"] { expectFailure(try home.kith(word), 64, "\u{201C}\(word)\u{201D}", "kith --help") }
        #expect(try home.kith("help", "note").output.contains("kith note"))
    }

    @Test("the version is the one number that there is, and the changelog tells of it")
    func version() throws {
        let package = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let number = try home.shell("'\(package.path)/scripts/version.sh'").output.trimmingCharacters(in: .newlines)
        #expect(number.contains(/^\d+\.\d+\.\d+$/))
        let shown = try home.kith("--version")
        #expect(shown.status == 0 && (shown.output == number + "\n" || shown.output.hasPrefix(number + " (")), "\(shown.output)")
        #expect(try home.kith("lab", "--version").output == shown.output)
        let changelog = try String(contentsOf: package.appending(path: "CHANGELOG.md"), encoding: .utf8)
        #expect(changelog.contains("\n## [\(number)] - 2"))
    }
}
