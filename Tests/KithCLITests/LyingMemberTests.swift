import Foundation
import Testing

/// Plays the attacks of `Tests/Interop/attacks.py` on the program, whose household has an honest machine besides.
///
/// With `KITH_FIGURES=1` it prints what each attack cost, for docs/threats.md.
@Suite("A member that lies does harm", .timeLimit(.minutes(4)), .enabled(if: Interop.isHere, Interop.whyNot))
struct LyingMemberTests {
    private static let titles = (1...40).map { "Note \($0)" }

    @Test func `a member that lies neither takes notes away nor stops the others`() async throws {
        let house = try await Household(notes: Self.titles)
        // What nobody can have made or signed.
        try await house.expectRefusal("listing_beyond")
        let impossible = try await house.attack("impossible_commits")
        for what in ["register", "set", "text", "tombstone", "context", "vector"] {
            #expect(impossible[what] as? Int == Reason.protocolError, "\(what): \(impossible)")
        }
        let identity = try await house.attack("claim_identity")
        #expect(identity["closed"] as? [Int] == [Reason.protocolError] && identity["same"] as? Int == 10, "\(identity)")
        // Room and work.
        for name in ["junk_columns", "junk_tables"] { try await house.expectRefusal(name) }
        let title = try await house.attack("long_title", "200000")
        #expect(title["closed"] as? String == "open", "\(title)")
        #expect(try house.first.kith("note", "list").output.utf8.count < 20_000)
        let pings = try await house.attack("pings", "5000")
        #expect(try #require(pings["answers"] as? Int) < 500, "\(pings)")
        let records = try await house.attack("unsigned_records", "20")
        #expect(records["closed"] as? String == "open" || records["closed"] as? Int == Reason.protocolError, "\(records)")
        let seals = try await house.attack("seals", "50")
        #expect(try #require(seals["told"] as? Int) <= 50, "\(seals)")
        try await house.expectAllNotes()
        // What a member may do: the trash has it.
        try await house.expectDeletion(by: "empty_rows")
        // One list of what was deleted long ago is taken from whoever brings it, because the desk has come to its household only now.
        try await house.expectDeletion(by: "listing_true")
        // Another one takes nothing away.
        let again = try await house.attack("listing_true")
        #expect(again["closed"] as? String == "open", "\(again)")
        try await house.expectAllNotes()
        // Too much of this ends the sessions of the one who lies, and no others.
        let many = try await house.attack("many_replicas")
        #expect(many["closed"] as? Int == Reason.tooLarge, "\(many)")
        try await house.expectAllNotes()
        try await house.end()
    }
}

private enum Reason {
    static let protocolError = 2
    static let tooLarge = 10
}

/// A desk and a laptop that are connected, and a member that lies to the desk.
private final class Household {
    let first: KithHome
    let second: KithHome
    let desk: RunningNode
    let laptop: RunningNode
    private let port: Int
    private let notes: [String]
    private var rounds = 0

    init(notes: [String]) async throws {
        self.notes = notes
        (first, second) = (try KithHome(), try KithHome())
        let texts = first.folder.appending(path: "texts")
        try FileManager.default.createDirectory(at: texts, withIntermediateDirectories: true)
        for title in notes {
            try Data("---\ntags: [mine]\n---\nWhat \(title) says.\n".utf8).write(to: texts.appending(path: "\(title).md"))
        }
        try #require(first.kith("import", texts.path).status == 0)
        desk = try RunningNode(first, "--no-discovery", "--no-web", "--port", "0", "--json")
        try Interop.pair("liar", with: first)
        port = try await Interop.port(of: desk)
        for (home, other, name) in [(first, second, "laptop"), (second, first, "desk")] {
            let address = home === second ? ["--address", "127.0.0.1:\(port)"] : []
            let id = try other.kith("device", "id").lastLine
            let added = try home.shell(#""$KITH" device add \#(id) --name \#(name) \#(address.joined(separator: " "))"#)
            try #require(added.status == 0, "\(added.error)")
        }
        laptop = try RunningNode(second, "--no-discovery", "--no-web", "--port", "0", "--json")
        try await laptop.wait { [second] _ in try second.kith("note", "list").output.contains(notes[0]) }
    }

    /// Lets the member lie; what it says that the desk did. Afterwards the honest ones must go on.
    @discardableResult
    func attack(_ name: String, _ amount: String...) async throws -> [String: Any] {
        let (started, before) = (ContinuousClock.now, try Process.residentMebibytes(of: desk))
        let result = try Interop.run(first, ["attack", name, "liar", "127.0.0.1:\(port)"] + amount)
        let seconds = ContinuousClock.now - started
        rounds += 1
        let title = "Written meanwhile, \(rounds)"
        try second.kith("note", "add", title)
        try await desk.wait { [first] _ in try first.kith("note", "list").output.contains(title) }
        if ProcessInfo.processInfo.environment["KITH_FIGURES"] != nil {
            let size = try FileManager.default.attributesOfItem(atPath: first.store.path)[.size] as? Int ?? 0
            let memory = try "\(before) → \(Process.residentMebibytes(of: desk)) MiB"
            print("figure: \(name) \(amount.joined()): \(seconds), \(memory), \(size / 1024) KiB in the file, \(result)")
        }
        return result
    }

    func expectRefusal(_ name: String) async throws {
        let result = try await attack(name)
        #expect(result["closed"] as? Int == Reason.protocolError, "\(name): \(result)")
    }

    /// An attack by which the desk shows none of its notes any more: they are all in its trash.
    func expectDeletion(by name: String) async throws {
        let mendedBefore = try rowsMended()
        let result = try await attack(name)
        #expect(result["closed"] as? String == "open", "\(name): \(result)")
        // The other honest machine may have brought them back already, when the two were compared.
        try await desk.wait { [self] _ in try !titles(first).contains(notes[0]) || rowsMended() > mendedBefore }
        let restored = try first.kith("trash", "restore", "--from", "interop")
        #expect(try restored.status == 0 || rowsMended() > mendedBefore, "\(name): \(restored.error)")
        try await expectAllNotes()
    }

    /// How many rows the desk has ever mended.
    func rowsMended() throws -> Int {
        let status = try first.kith("status", "--json").json() as? [String: Any]
        return (status?["mended"] as? [String: Any])?["rows"] as? Int ?? 0
    }

    func titles(_ home: KithHome) throws -> Set<String> {
        let listed = try #require(try home.kith("note", "list", "--json").json() as? [[String: Any]])
        return Set(listed.compactMap { $0["title"] as? String })
    }

    /// Both honest machines show all that was written honestly, and their files are sound.
    func expectAllNotes() async throws {
        let expected = Set(notes + (1...rounds).map { "Written meanwhile, \($0)" })
        for home in [first, second] {
            try await desk.wait { _ in try titles(home).isSuperset(of: expected) }
            let shown = try home.kith("note", "show", notes[0], "--body-only").output
            // A text that came back here and had not gone elsewhere may be there twice.
            #expect(shown.contains("What \(notes[0]) says.\n"), "\(shown)")
            let verified = try home.kith("verify")
            #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        }
    }

    func end() async throws {
        #expect(try await laptop.stop(SIGTERM) == 0)
        #expect(try await desk.stop(SIGTERM) == 0)
    }
}

extension Process {
    /// What a node keeps in memory; 0 where nothing tells.
    fileprivate static func residentMebibytes(of node: RunningNode) throws -> Int {
        guard let status = try? String(contentsOfFile: "/proc/\(node.processID)/status", encoding: .utf8),
            let line = status.firstMatch(of: /VmRSS:\s+(\d+) kB/), let kibibytes = Int(line.1)
        else { return 0 }
        return kibibytes / 1024
    }
}
