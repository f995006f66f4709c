import Foundation
import Testing

/// A client that was written from the documents alone, in another language: `Tests/Interop`.
@Suite("The documents do not say what the program does", .timeLimit(.minutes(4)), .enabled(if: Interop.isHere, Interop.whyNot))
struct InteropTests {
    private let home: KithHome

    init() throws {
        home = try KithHome()
    }

    @Test func `a client written from the documents alone is paired, reads everything, and writes`() async throws {
        try home.kith("note", "add", "Shopping", "--body", "Bread, coffee\n", "--tag", "home", "--tag", "todo", "--color", "green")
        try home.kith("note", "edit", "Shopping", "--add-tag", "later", "--remove-tag", "todo")
        try home.kith("note", "edit", "Shopping", "--body", "Bread, tea\n")
        let long = (1...200).map { "\($0) lines of which each is like the one before\n" }.joined()
        try home.kith("note", "add", "Long", "--body", long)
        for title in ["Gone", "Doomed"] { try home.kith("note", "add", title, "--body", "x") }
        try home.kith("note", "rm", "Gone")
        let node = try RunningNode(home, "--no-discovery", "--no-web", "--port", "0", "--json")
        try Interop.pair("python", with: home)
        let port = try await Interop.port(of: node)
        let said = try Interop.run(home, "exchange", "python", "127.0.0.1:\(port)")
        let notes = try #require(said["notes"] as? [[String: Any]])
        #expect(notes.count == 4)
        let shopping = try #require(notes.first { $0["title"] as? String == "Shopping" })
        #expect(shopping["body"] as? String == "Bread, tea\n" && shopping["color"] as? Int == 2)
        #expect(shopping["tags"] as? [String] == ["\"home\"", "\"later\""] && shopping["deleted"] as? Bool == false)
        #expect(notes.first { $0["title"] as? String == "Long" }?["body"] as? String == long)
        #expect(notes.filter { $0["deleted"] as? Bool == true }.map { $0["title"] as? String } == ["Gone"])
        #expect(said["isSame"] as? Bool == true && said["isMember"] as? Bool == true)
        let seen = try #require(said["seen"] as? [String: Int])
        for what in ["compressed", "slices", "proofs", "household"] { #expect(seen[what, default: 0] > 0, "\(what)") }

        let listed = try home.kith("note", "list", "--order", "title").output
        #expect(listed.contains("Written in Python") && listed.contains("#interop #python") && !listed.contains("Doomed"), "\(listed)")
        #expect(try home.kith("note", "show", "Written in Python", "--body-only").output == "From the documents.\nNothing else.\n")
        #expect(try home.kith("note", "show", "Shopping", "--body-only").output == "Bread, tea\nand milk\n")
        #expect(try home.kith("trash", "list").output.contains("Doomed"))
        #expect(try home.kith("verify").status == 0)
        // What was written in Python is there for the next one, and nothing of its author is needed for that.
        try Interop.pair("other", with: home)
        let again = try Interop.run(home, "exchange", "other", "127.0.0.1:\(port)")
        #expect((again["notes"] as? [[String: Any]])?.contains { $0["title"] as? String == "Written in Python" } == true)
        #expect(again["isSame"] as? Bool == true)
        // Where there are more replicas than a hello spells out, each way to find out what the other knows is spoken.
        let years = try Interop.run(home, "years", "other", "127.0.0.1:\(port)")
        for (name, heads) in ["spelled": [0], "equal": [], "note": [1, 2], "many": [1, 2, 0]] {
            let meeting = try #require(years[name] as? [String: Any])
            #expect(meeting["heads"] as? [Int] == heads && meeting["hasDifferences"] as? Bool == true, "\(name): \(meeting)")
        }
        #expect(try await node.stop(SIGTERM) == 0)
    }
}

/// The client and what it needs.
enum Interop {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Interop/interop.py")

    /// A Python that has `cryptography`, as `scripts/setup.sh` installs it.
    private static let python: String? = ["/usr/bin/python3", "python3"].first { python in
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, "-c", "import cryptography.x509"]
        process.standardError = FileHandle.nullDevice
        try? process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static var isHere: Bool { python != nil }
    static let whyNot: Comment = "Python has no cryptography: run scripts/setup.sh"

    /// Runs the client in a home; its folder is one of that home.
    static func run(_ home: KithHome, _ arguments: String...) throws -> [String: Any] { try run(home, arguments) }

    static func run(_ home: KithHome, _ arguments: [String]) throws -> [String: Any] {
        let words = [try #require(python), "-B", script.path] + arguments
        let result = try home.shell(words.map { "'\($0)'" }.joined(separator: " "))
        try #require(result.status == 0, "\(arguments): \(result.error)\(result.output)")
        return try #require(result.json() as? [String: Any])
    }

    /// Makes the client with this folder a member of the household of `home`, by a token.
    static func pair(_ folder: String, with home: KithHome) throws {
        let python = try #require(python)
        let paired = try home.shell(
            """
            : > pair.out
            "$KITH" pair --token --json --no-discovery --port 0 > pair.out & pair=$!
            while ! grep -q '"token"' pair.out; do kill -0 $pair || exit 1; sleep 0.05; done
            port=$(sed -n 's/.*"port" *: *\\([0-9]*\\).*/\\1/p' pair.out)
            token=$(sed -n 's/.*"token" *: *"\\([^"]*\\)".*/\\1/p' pair.out)
            '\(python)' -B '\(script.path)' pair \(folder) 127.0.0.1:$port $token; status=$?
            [ $status = 0 ] || kill $pair 2>/dev/null; wait $pair && exit $status
            """)
        try #require(paired.status == 0, "\(paired.error)\(paired.output)")
    }

    /// Where a node that prints JSON listens, once it does.
    static func port(of node: RunningNode) async throws -> Int {
        var port: Int?
        try await node.wait { output in
            port = output.matches(of: /"port":(\d+)/).last.flatMap { Int($0.1) }
            return port != nil
        }
        return try #require(port)
    }
}
