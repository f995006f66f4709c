import Foundation
import Testing

@Suite("A file for other programs is not what the notes say", .timeLimit(.minutes(2)))
struct SnapshotCommandTests {
    private let home: KithHome
    private var file: String { home.path("top.snapshot") }

    init() throws {
        home = try KithHome()
    }

    private func read() throws -> [String: Any]? { try home.kith("snapshot", "--read", file, "--json").json() as? [String: Any] }

    private func titles() throws -> [String]? { (try read()?["content"] as? [[String: Any]])?.compactMap { $0["title"] as? String } }

    @Test func `latest notes and open tasks are written, only when they are others, and read without the notes`() throws {
        try home.kith("note", "add", "Shopping", "--body", "- [ ] Milk\n- [x] Tea\n```\n- [ ] code\n```\n 1. [ ]  Salt \n- [ ]\n-[ ] no")
        try home.kith("note", "add", "Other", "--tag", "home")
        #expect((try home.kith("snapshot", file, "--json").json() as? [String: Any])?["written"] as? Bool == true)
        #expect((try home.kith("snapshot", file, "--json").json() as? [String: Any])?["written"] as? Bool == false)
        #expect(try titles() == ["Other", "Shopping"])
        let listed = try home.kith("note", "list", "--json").json() as? [[String: Any]]
        let ids = (try read()?["content"] as? [[String: Any]])?.compactMap { $0["id"] as? String }
        #expect(ids?.count == 2 && ids.map(Set.init) == listed.map { Set($0.compactMap { $0["id"] as? String }) })
        #expect(try read()?["state"] as? String == "ok" && read()?["name"] as? String == "notes" && read()?["written"] is String)
        #expect(try home.kith("snapshot", file, "--tag", "home").status == 0)
        #expect(try titles() == ["Other"])
        #expect(try home.kith("snapshot", file, "--tasks").status == 0)
        let tasks = try read()?["content"] as? [[String: Any]]
        #expect(tasks?.map { $0["task"] as? String } == ["Milk", "Salt"] && tasks?.first?["title"] as? String == "Shopping")
        let shown = try home.kith("snapshot", "--read", file).output.split(separator: "\n")
        #expect(shown.first?.hasPrefix("tasks, written 2") == true && shown.dropFirst() == ["  Milk", "  Salt"])
        #expect(try home.kith("snapshot", file, "--order", "title", "--limit", "1").status == 0)
        #expect(try titles() == ["Other"])
    }

    @Test(arguments: [[], ["--follow"]]) func `a mistyped place of the notes makes neither notes nor a snapshot`(more: [String]) throws {
        let flags = more.joined(separator: " ")
        expectFailure(try home.shell("\"$KITH\" snapshot '\(file)' \(flags) --store '\(home.path("typo.sqlite"))'"), 66)
        #expect(!FileManager.default.fileExists(atPath: file) && !FileManager.default.fileExists(atPath: home.path("typo.sqlite")))
    }

    @Test func `what is no snapshot is refused with the reason`() throws {
        expectFailure(try home.kith("snapshot", "--read", file), 66, "There is no file")
        try Data("hello\n".utf8).write(to: URL(filePath: file))
        expectFailure(try home.kith("snapshot", "--read", file), 65, "no snapshot")
        expectFailure(try home.kith("snapshot", file), 73, "left as it is")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello\n")
        try Data("kith-snapshot 7 x\n".utf8).write(to: URL(filePath: file))
        expectFailure(try home.kith("snapshot", "--read", file), 65, "format 7")
        expectFailure(try home.kith("snapshot", home.path("none/top")), 73, "Choose a folder")
        #expect(try home.kith("snapshot", "--read", file, "--tasks").status == 64)
        #expect(try home.kith("snapshot", file, "--limit", "1001").status == 64)
    }

    @Test func `a file that is followed shows what other commands write, and is whole when its writer is killed`() async throws {
        let writer = try RunningNode(home, command: "snapshot", file, "--follow")
        try await writer.wait { _ in try home.kith("snapshot", "--read", file).status == 0 }
        for number in 0..<3 {
            try home.kith("note", "add", "Note \(number)")
            try await writer.wait { _ in try titles()?.first == "Note \(number)" }
        }
        #expect(try titles() == ["Note 2", "Note 1", "Note 0"])
        // What somebody puts in its place stays, and is said.
        try home.shell("echo diary > other && mv other '\(file)'")
        try home.kith("note", "add", "Note 3")
        try await writer.wait { $0.contains("is no snapshot, and is left as it is") }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "diary\n")
        try home.shell("rm '\(file)'")
        try home.kith("note", "add", "Note 4")
        try await writer.wait { $0.hasSuffix("The file is written again.\n") }
        #expect(try titles()?.first == "Note 4")
        #expect(try await writer.stop(SIGINT) == 0)
    }
}
