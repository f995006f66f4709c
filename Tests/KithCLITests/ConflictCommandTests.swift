import Foundation
import Testing

@Suite("A conflict is not seen by the person", .timeLimit(.minutes(2)))
struct ConflictCommandTests {
    /// Two machines that trust each other, are connected once, and are apart when both write the title of a note.
    private static func disagreement() async throws -> (desk: KithHome, laptop: KithHome, note: String) {
        let (desk, laptop) = (try KithHome(), try KithHome())
        let note = try desk.kith("note", "add", "Bread", "--body", "at home").lastLine
        try desk.kith("device", "add", laptop.kith("device", "id").lastLine, "--name", "laptop")
        try laptop.kith("device", "add", desk.kith("device", "id").lastLine, "--name", "desk")
        try await meet(desk, laptop) { first, second in
            try await second.wait { _ in try laptop.kith("note", "show", note).status == 0 }
            try await second.wait { $0.contains("Up to date") }
        }
        try desk.kith("note", "edit", note, "--title", "Bread, milk")
        try laptop.kith("note", "edit", note, "--title", "Bread, coffee")
        return (desk, laptop, note)
    }

    private static func meet(
        _ desk: KithHome, _ laptop: KithHome, until isDone: (_ first: RunningNode, _ second: RunningNode) async throws -> Void
    ) async throws {
        let first = try RunningNode(desk, "--no-discovery", "--port", "0")
        var port: Int?
        try await first.wait { _ in
            let status = try desk.kith("status", "--json").json() as? [String: Any]
            port = (status?["node"] as? [String: Any])?["port"] as? Int
            return port != nil
        }
        try laptop.kith(
            "device", "add", desk.kith("device", "id").lastLine, "--name", "desk", "--address", "127.0.0.1:\(try #require(port))")
        let second = try RunningNode(laptop, "--no-discovery", "--port", "0")
        try await isDone(first, second)
        #expect(try await second.stop(SIGTERM) == 0)
        #expect(try await first.stop(SIGTERM) == 0)
    }

    @Test func `each command that a person looks at tells of it, with the machine and the time`() async throws {
        let (desk, laptop, note) = try await Self.disagreement()
        let short = String(note.suffix(8))
        #expect(try !desk.kith("status").output.contains("Choose"))
        try await Self.meet(desk, laptop) { first, second in
            try await second.wait { $0.contains("also written on desk: `kith conflicts show \(short)`") }
            try await first.wait { $0.contains("also written on laptop: `kith conflicts show \(short)`") }
            // The bell is for terminals.
            #expect(!first.output.contains("\u{7}") && !second.output.contains("\u{7}"))
        }
        for (home, other) in [(desk, "laptop"), (laptop, "desk")] {
            #expect(
                try home.kith("status").output.contains(
                    "1 field was written on two machines at the same time. Choose: `kith conflicts list`."))
            #expect((try home.kith("status", "--json").json() as? [String: Any])?["conflicts"] as? Int == 1)
            #expect(try home.kith("note", "list").output.contains("  ! Bread, "))
            let records = try home.kith("note", "list", "--json").json() as? [[String: Any]]
            #expect(records?.first?["conflicts"] as? [String] == ["title"])
            let shown = try home.kith("conflicts", "show", note).output
            #expect(shown.contains(/title 1, shown  (this device|laptop|desk), 20\d\d-\d\d-\d\d \d\d:\d\d/), "\(shown)")
            #expect(shown.contains("  \(other), 20") && shown.contains("  this device, 20"), "\(shown)")
            let doctor = try home.kith("doctor", "--no-discovery").output
            #expect(doctor.contains("was also written on \(other)"), "\(doctor)")
            for title in ["Bread, milk", "Bread, coffee", "bread, MILK"] {
                #expect(try home.kith("note", "show", title, "--body-only").output == "at home")
            }
            #expect(try home.kith("note", "search", "milk").output.contains(short))
            #expect(try home.kith("note", "search", "coffee", "home").output.contains(short))
            #expect(try home.kith("note", "search", "coffee", "tea").output.isEmpty)
        }
        #expect(try desk.kith("conflicts", "keep", note, "title", "1").status == 0)
        #expect(try !desk.kith("status").output.contains("Choose"))
        #expect(try !desk.kith("note", "list").output.contains("!"))
    }

    @Test func `both versions of a line that both changed are shown, and one is kept or the line as it stands`() async throws {
        let (desk, laptop, note) = try await Self.disagreement()
        try desk.kith("note", "edit", note, "--title", "Bread", "--body", "at work")
        try laptop.kith("note", "edit", note, "--title", "Bread", "--body", "at school")
        try await Self.meet(desk, laptop) { first, second in
            try await second.wait { $0.contains("The body of \u{201C}Bread\u{201D}") }
            try await first.wait { $0.contains("The body of \u{201C}Bread\u{201D}") }
        }
        let merged = try desk.kith("note", "show", note, "--body-only").output
        for home in [desk, laptop] {
            let shown = try home.kith("conflicts", "show", note).output
            #expect(shown.contains("body, as it stands\n    \(merged)"), "\(shown)")
            #expect(shown.contains("    at work\n") && shown.contains("    at school\n"), "\(shown)")
            #expect(shown.contains(/body 1  (this device|laptop|desk), 20\d\d-\d\d-\d\d \d\d:\d\d/), "\(shown)")
            let records = try home.kith("conflicts", "list", "--json").json() as? [[String: Any]]
            let record = try #require(records?.first { $0["field"] as? String == "body" })
            #expect(record["before"] as? String == "at home" && record["shown"] as? String == merged)
        }
        let records = try laptop.kith("conflicts", "show", note, "--json").json() as? [[String: Any]]
        let versions = records?.compactMap { $0["versions"] as? [[String: Any]] }.first?.compactMap { $0["text"] as? String }
        #expect(try laptop.kith("conflicts", "keep", note, "body", "3").status != 0)
        // Each choice is made in a copy of the laptop's home.
        for version in 0...2 {
            let copy = ["KITH_HOME": laptop.path("copy\(version)")]
            try laptop.shell("mkdir copy\(version) && cp -r store keys copy\(version)")
            #expect(try laptop.kith("conflicts", "keep", note, "body", String(version), environment: copy).status == 0)
            let kept = version == 0 ? merged : versions?[version - 1]
            #expect(try laptop.kith("note", "show", note, "--body-only", environment: copy).output == kept)
            #expect(try laptop.kith("conflicts", "show", note, "--json", environment: copy).json() as? [String] == [])
        }
    }
}
