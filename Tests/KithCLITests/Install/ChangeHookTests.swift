import Foundation
import Testing

@Suite("A command that waits for news is called too late, too often, or without them", .timeLimit(.minutes(2)))
struct ChangeHookTests {
    @Test("a command is told of what others write and delete, as JSON, and the node outlives it")
    func told() async throws {
        let home = try KithHome()
        let old = try home.kith("note", "add", "Old").lastLine
        let node = try RunningNode(home, "--no-discovery", "--on-change", "cat >> \"$HOME/news\"; echo >> \"$HOME/news\"; exit 3")
        try await node.wait { $0.contains("Local only") }
        func news() throws -> [[String: Any]] {
            let text = (try? String(contentsOfFile: home.path("news"), encoding: .utf8)) ?? ""
            return try text.split(separator: "\n").compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        }
        let note = try home.kith("note", "add", "Shopping", "--tag", "home", "--color", "red").lastLine
        try await node.wait { _ in try !news().isEmpty }
        let first = try #require(try news().first)
        let changed = try #require((first["changed"] as? [[String: Any]])?.first)
        #expect(changed["id"] as? String == note && changed["title"] as? String == "Shopping" && changed["tags"] as? [String] == ["home"])
        #expect((first["changed"] as? [Any])?.count == 1 && (first["deleted"] as? [String])?.isEmpty == true)
        #expect(first["fromOthers"] as? Bool == false && first["more"] as? Bool == false)
        try home.kith("note", "rm", old)
        try await node.wait { _ in try news().contains { $0["deleted"] as? [String] == [old] } }
        // The text alone is a change, too.
        try home.kith("note", "edit", note, "--body", "Bread")
        try await node.wait { output in try news().count >= 3 && output.contains("ended with status 3") }
        #expect(try await node.stop(SIGTERM) == 0)
    }

    #if os(Linux)
    @Test("a command that does not end is ended with the node, as is what it has started, and has the signals that programs expect")
    func ended() async throws {
        let home = try KithHome()
        let node = try RunningNode(
            home, "--no-discovery", "--on-change",
            """
            cd "$HOME"; grep -E '^Sig(Blk|Ign):' /proc/self/status > signals; sleep 999 & echo $! > child; echo $$ > pid
            exec sleep 1000
            """)
        try await node.wait { $0.contains("Local only") }
        try home.kith("note", "add", "Shopping")
        try await node.wait { _ in FileManager.default.fileExists(atPath: home.path("pid")) }
        #expect(try await node.stop(SIGTERM) == 0)
        let end = try home.shell(
            "for i in $(seq 200); do kill -0 $(cat pid) 2>/dev/null || kill -0 $(cat child) 2>/dev/null || exit 0; sleep 0.05; done; exit 1"
        )
        #expect(end.status == 0)
        let signals = try String(contentsOfFile: home.path("signals"), encoding: .utf8)
        // SIGHUP, SIGINT and SIGTERM: bits 0, 1 and 14.
        for line in signals.split(separator: "\n") {
            let mask = try #require(UInt64(line.split(separator: "\t").last ?? "", radix: 16))
            #expect(mask & 0x4003 == 0, "\(signals)")
        }
    }
    #endif
}
