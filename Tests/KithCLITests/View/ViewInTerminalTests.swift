import Foundation
import Testing

#if os(Linux)
/// In tmux, as a person does it: what is typed, and what the screen shows.
@Suite(
    "The full-screen view works in its tests, and on no terminal", .timeLimit(.minutes(3)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux"), "no tmux on this machine"))
struct ViewInTerminalTests {
    private let home: KithHome

    init() throws { home = try KithHome() }

    /// A window with a server of its own, which ends with it.
    private final class Window {
        private let home: KithHome
        private let socket: String

        init(_ home: KithHome, columns: Int, rows: Int, _ command: String = "\"$KITH\"") throws {
            self.home = home
            socket = home.path("tmux-\(UUID().uuidString.prefix(8))")
            let line = "\(command); echo THE-END $?; exec cat"
            try home.write("window.sh", Data(line.utf8))
            // The server outlives the command, and must not keep open what tells the tests that the command has ended.
            try home.write(
                "start.sh",
                Data(
                    """
                    for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"; done
                    exec tmux -S '\(socket)' -f /dev/null new-session -d -x \(columns) -y \(rows) 'sh window.sh'
                    """.utf8))
            let started = try home.shell(
                "bash start.sh > /dev/null 2> start.error", environment: ["LC_ALL": "C.UTF-8", "EDITOR": "sh edit.sh", "TERM": "xterm"])
            try #require(started.status == 0, "\(started.error)")
        }

        deinit { _ = try? tmux("kill-server") }

        private func tmux(_ line: String) throws -> String { try home.shell("tmux -S '\(socket)' \(line)").output }

        func type(_ keys: String) throws { _ = try tmux("send-keys \(keys)") }

        func resize(columns: Int, rows: Int) throws { _ = try tmux("resize-window -x \(columns) -y \(rows)") }

        var screen: String { get throws { try tmux("capture-pane -p") } }

        /// Waits until the screen shows this, which the suite's time limit ends.
        @discardableResult
        func wait(for texts: String..., without absent: String? = nil) async throws -> [String] {
            try await wait { lines in
                let shown = lines.joined(separator: "\n")
                return texts.allSatisfy(shown.contains) && absent.map { !shown.contains($0) } ?? true
            }
        }

        @discardableResult
        func wait(until isShown: ([String]) -> Bool) async throws -> [String] {
            while true {
                let lines = try screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                if isShown(lines) { return lines }
                try await Task.sleep(for: .milliseconds(30))
            }
        }
    }

    @Test(
        "notes are found, read, written, edited, deleted and brought back, and others' appear by themselves",
        arguments: [(80, 24), (200, 50)])
    func everything(columns: Int, rows: Int) async throws {
        try home.kith("note", "add", "Shopping", "--body", "Bread, and coffee for two", "--tag", "home")
        try home.kith("note", "add", "買い物リスト", "--body", "パンとコーヒー")
        try home.kith("note", "add", "Cafe\u{301}", "--body", "au lait")
        let window = try Window(home, columns: columns, rows: rows)
        let lines = try await window.wait(for: "3 notes", "au lait", "q quit")
        #expect(lines[1].hasPrefix("\u{203A} Cafe\u{301}") && lines[2].hasPrefix("  買い物リスト"), "\(lines)")
        // Wide characters and combining ones take as many columns as they are counted for.
        let columnOfLine = Set(
            lines[1...6].map { line in
                line.prefix { $0 != "\u{2502}" }.unicodeScalars.reduce(0) { width, scalar in
                    width + ((0x3000...0x9FFF).contains(scalar.value) ? 2 : scalar == "\u{301}" ? 0 : 1)
                }
            })
        #expect(columnOfLine.count == 1, "\(lines)")
        try window.type("Down")
        try await window.wait(for: "パンとコーヒー")
        try window.type("/ coffee")
        try await window.wait(for: "Search: coffee", "1 note", "Bread, and coffee for two", "#home")
        try window.type("Enter")
        try await window.wait(for: "Found \u{201C}coffee\u{201D}: 1 note")
        try home.write("edit.sh", Data("printf 'Shopping list\\n\\nTea\\n' > \"$1\"\n".utf8))
        try window.type("e")
        try await window.wait(for: "No note has this in it")
        try window.type("Escape")
        try await window.wait(for: "\u{203A} Shopping list", "Tea", "3 notes")
        try home.write("edit.sh", Data("printf 'Written here\\n' > \"$1\"\n".utf8))
        try window.type("n")
        try await window.wait(for: "\u{203A} Written here", "4 notes")
        try window.type("d")
        try await window.wait(for: "is in the trash", "3 notes")
        try window.type("u")
        try await window.wait(for: "4 notes", without: "is in the trash")
        try home.kith("note", "add", "Written elsewhere")
        try await window.wait(for: "5 notes", "  Written elsewhere", "\u{203A} Written here")
        try window.type("c")
        try await window.wait(for: "No conflicts")
        try window.type("q")
        try await window.wait(for: "THE-END 0", without: "Written elsewhere")
    }

    @Test("another size of the window is filled, and too small a one says so")
    func resize() async throws {
        try home.kith("note", "add", "Shopping", "--body", "Bread")
        let window = try Window(home, columns: 80, rows: 24)
        try await window.wait(for: "1 note", "Bread", "q quit")
        for (columns, rows) in [(200, 50), (40, 10), (20, 4), (80, 24)] {
            try window.resize(columns: columns, rows: rows)
            try await window.wait { lines in
                guard lines.count >= rows else { return false }
                if columns < 24 { return lines[0] == "Too small." && lines.dropFirst(2).allSatisfy(\.isEmpty) }
                // The first line, the note, and the keys in the last line; the text beside it or not.
                return lines[0].hasPrefix("kith: 1 note") && lines[1].contains("Shopping") && lines[rows - 1].hasPrefix("/ search")
                    && lines[1...5].contains { $0.contains("Bread") } == (columns >= 70)
            }
        }
    }

    @Test("a version is chosen among those that two machines wrote")
    func conflict() async throws {
        let other = try KithHome()
        try other.kith("device", "add", home.kith("device", "id").lastLine, "--name", "desk")
        let node = try RunningNode(other, "--no-discovery", "--port", "0")
        var port: Int?
        try await node.wait { _ in
            let status = try other.kith("status", "--json").json() as? [String: Any]
            port = (status?["node"] as? [String: Any])?["port"] as? Int
            return port != nil
        }
        let note = try home.kith("note", "add", "Bread").lastLine
        try home.kith(
            "device", "add", other.kith("device", "id").lastLine, "--name", "laptop", "--address", "127.0.0.1:\(try #require(port))")
        let first = try RunningNode(home, "--no-discovery", "--port", "0")
        try await node.wait { _ in try other.kith("note", "show", note).status == 0 }
        #expect(try await first.stop(SIGTERM) == 0)
        try home.kith("note", "edit", note, "--title", "Bread, milk")
        try other.kith("note", "edit", note, "--title", "Bread, coffee")
        let second = try RunningNode(home, "--no-discovery", "--port", "0")
        let window = try Window(home, columns: 80, rows: 24)
        try await window.wait(for: "! Bread", "c conflicts (1)", "Up to date")
        try window.type("c")
        let lines = try await window.wait(for: "choose a version", "laptop", "Bread, milk", "Bread, coffee")
        let chosen = lines.first { $0.contains("Bread,") && $0.hasPrefix("      ") }?.trimmingCharacters(in: .whitespaces)
        try window.type("1")
        try await window.wait(for: "1 note", "Kept, on all machines", without: "! Bread")
        #expect(try home.kith("note", "show", note).output.hasPrefix("\(chosen ?? "?")\n"))
        try window.type("C-c")
        try await window.wait(for: "THE-END 0")
        #expect(try await second.stop(SIGTERM) == 0)
        #expect(try await node.stop(SIGTERM) == 0)
    }

    @Test("a signal, and an editor that fails, leave the terminal as it was")
    func ends() async throws {
        try home.kith("note", "add", "Shopping", "--body", "Bread")
        try home.write("edit.sh", Data("exit 3\n".utf8))
        let window = try Window(home, columns: 80, rows: 24, "stty -g > before; sh -c 'echo $$ > pid; exec \"$KITH\"'; stty -g > after")
        try await window.wait(for: "1 note", "Bread")
        try window.type("e")
        try await window.wait(for: "ended with status 3")
        try home.shell("kill -TERM $(cat pid)")
        try await window.wait(for: "THE-END 0", without: "Shopping")
        #expect(try home.shell("cmp before after").status == 0)
    }

    @Test("where there is no screen, it says what works instead")
    func noScreen() async throws {
        let piped = try home.kith()
        #expect(piped.status == 0 && piped.output.contains("kith note list") && piped.error.isEmpty, "\(piped.output)\(piped.error)")
        let window = try Window(home, columns: 80, rows: 24, "TERM=dumb \"$KITH\"")
        try await window.wait(for: "kith note list", "THE-END 0")
    }
}
#endif
