import Foundation
import Testing

#if os(Linux)
/// On a terminal of script(1), 80 columns wide.
@Suite(
    "What a person sees on a terminal cannot be read", .timeLimit(.minutes(3)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "no script(1) on this machine"))
struct TerminalTests {
    private let home: KithHome

    init() throws { home = try KithHome() }

    /// The lines that a command shows.
    private func lines(_ command: String) throws -> [String] {
        let shown = try home.shell("script -qefc '\"$KITH\" \(command)' /dev/null < /dev/null", environment: ["TERM": "xterm"])
        #expect(shown.status == 0, "\(shown.output)\(shown.error)")
        return shown.output.split(whereSeparator: \.isNewline).map(String.init)
    }

    private func plain(_ line: String) -> String { line.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "") }

    @Test func `lists fit into 80 columns, in color; in a pipe nothing is cut off and there is no color`() throws {
        for (name, address) in [("attic", "192.168.100.200:4747"), ("a name that is much longer than there is room for", "10.0.0.7:4747")] {
            let other = try KithHome().kith("device", "id").lastLine
            try home.kith("device", "add", other, "--name", name, "--address", address, "--address", "\(name.first ?? "x").example.org:1")
        }
        try home.kith("note", "add", "A title that is so long that no terminal of eighty columns has room for all of it, not even alone")
        for command in ["device list", "status", "household show", "note list"] {
            let shown = try lines(command)
            #expect(shown.contains { $0 != plain($0) } || command == "household show", "\(command)")
            let isTable = { (line: String) in !line.contains(" ") || line.contains("  ") }
            // Sentences wrap; the file name stands alone.
            for line in shown.map(plain) where isTable(line) && !line.contains("/") && !line.hasPrefix("Device") {
                #expect(line.count <= 80, "\(command): \(line)")
            }
            let piped = try home.shell("\"$KITH\" \(command) | cat").output
            #expect(piped == plain(piped) && !piped.contains("\u{2026}"), "\(command)")
        }
        #expect(try lines("device list").first.map(plain)?.hasPrefix("NAME") == true)
    }

    @Test func `the text of a note controls no terminal and stays as it is in a pipe`() throws {
        try home.shell("printf 'one\\033[31mtwo\\302\\23332mthree\\n\\tfour\\n' | \"$KITH\" note add Danger --body -")
        let shown = try lines("note show Danger --body-only").joined(separator: "\n")
        #expect(shown.contains("one\u{FFFD}[31mtwo\u{FFFD}32mthree") && shown.contains("\tfour"))
        #expect(!shown.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B })
        let piped = try home.shell("\"$KITH\" note show Danger --body-only | od -An -tx1 | tr -d ' \\n'").output
        #expect(piped.contains("6f6e651b5b33316d74776fc29b33326d7468726565"))
    }

    @Test func `who waits for a check is told what goes on, and a pipe is not`() throws {
        try home.kith("note", "add", "One")
        let shown = try lines("verify").map(plain)
        #expect(shown.first == "Reading the notes " && shown.last?.hasSuffix("deleted ones included.") == true, "\(shown)")
        #expect(try home.kith("verify").error.isEmpty)
    }

    @Test func `a conflict that arrives while a node runs rings the bell and leaves a line that says what to do`() async throws {
        let laptop = try KithHome()
        let note = try home.kith("note", "add", "Bread").lastLine
        try laptop.kith("device", "add", home.kith("device", "id").lastLine, "--name", "desk")
        let other = try RunningNode(laptop, "--no-discovery", "--port", "0")
        var port: Int?
        try await other.wait { _ in
            let status = try laptop.kith("status", "--json").json() as? [String: Any]
            port = (status?["node"] as? [String: Any])?["port"] as? Int
            return port != nil
        }
        try home.kith(
            "device", "add", laptop.kith("device", "id").lastLine, "--name", "laptop", "--address", "127.0.0.1:\(try #require(port))")
        /// What a node shows from its start until the sign is there.
        func screen(until sign: String) throws -> String {
            try home.shell(
                """
                script -qefc '"$KITH" up --no-discovery --port 0' screen.out > /dev/null 2>&1 < /dev/null & pid=$!
                while ! grep -q "$(printf '\(sign)')" screen.out 2>/dev/null; do kill -0 $pid || exit 1; sleep 0.05; done
                kill $pid
                while "$KITH" status --json | grep -q '"isRunning" *: *true'; do sleep 0.05; done
                cat screen.out; rm screen.out
                """, environment: ["TERM": "xterm"]
            ).output
        }
        #expect(try !screen(until: "Up to date").contains("\u{7}"))
        #expect(try laptop.kith("note", "show", note).status == 0)
        try home.kith("note", "edit", note, "--title", "Bread, milk")
        try laptop.kith("note", "edit", note, "--title", "Bread, coffee")
        let shown = try screen(until: "\\007")
        let lines = shown.split(whereSeparator: \.isNewline).map { plain(String($0)) }
        #expect(lines.contains { $0.contains("was also written on laptop: `kith conflicts show \(note.suffix(8))`") }, "\(shown)")
        #expect(shown.count { $0 == "\u{7}" } == 1)
        #expect(try await other.stop(SIGTERM) == 0)
    }

    @Test func `the address for a phone is shown as a QR code, and never in a pipe`() throws {
        let shown = try home.shell(
            """
            script -qefc '"$KITH" web --lan --no-discovery --port 0' screen.out > /dev/null 2>&1 < /dev/null & pid=$!
            while ! grep -q 'Ctrl-C ends it' screen.out 2>/dev/null || [ "$(grep -c "$(printf '\\342\\226\\210')" screen.out)" -lt 19 ]; do
                kill -0 $pid || exit 1; sleep 0.05
            done
            kill $pid; cat screen.out
            """, environment: ["TERM": "xterm"]
        ).output
        let rows = shown.split(whereSeparator: \.isNewline).map { plain(String($0)) }.filter { $0.contains("\u{2588}") }
        // A square, two modules in a character.
        let width = try #require(rows.first?.count)
        #expect(rows.count >= 19 && rows.allSatisfy { $0.count == width } && (width + 1) / 2 == rows.count, "\(shown)")
        let piped = try home.shell(
            """
            "$KITH" web --lan --no-discovery --port 0 > piped.out 2>&1 < /dev/null & pid=$!
            while ! grep -q 'Ctrl-C ends it' piped.out; do kill -0 $pid || exit 1; sleep 0.05; done
            kill $pid; cat piped.out
            """
        ).output
        #expect(piped.contains("https://") && !piped.contains("\u{2588}"), "\(piped)")
    }

    @Test func `a token is shown as a QR code, unless one says no, and never in a pipe`() throws {
        func screen(_ options: String, until sign: String = "It works once") throws -> String {
            try home.shell(
                """
                script -qefc '"$KITH" pair --token --no-discovery --port 0 \(options)' screen.out > /dev/null 2>&1 < /dev/null & pid=$!
                while ! grep -q '\(sign)' screen.out 2>/dev/null; do kill -0 $pid || exit 1; sleep 0.05; done
                while [ '\(options)' = '' ] && [ "$(grep -c "$(printf '\\342\\226\\210')" screen.out)" -lt 19 ]; do
                    kill -0 $pid || exit 1; sleep 0.05
                done
                kill $pid; cat screen.out; rm screen.out
                """, environment: ["TERM": "xterm"]
            ).output
        }
        let shown = try screen("").split(whereSeparator: \.isNewline).map { plain(String($0)) }.filter { $0.contains("\u{2588}") }
        // Version 3, 29 modules a side and a margin of 4, two modules in a character.
        #expect(shown.count == 19 && shown.allSatisfy { $0.count == 37 }, "\(shown)")
        #expect(shown.first?.allSatisfy { $0 == "\u{2588}" } == true)
        #expect(try !screen("--no-qr").contains("\u{2588}"))
        #expect(try !screen("--json", until: "\"port\"").contains("\u{2588}"))
    }
}
#endif
