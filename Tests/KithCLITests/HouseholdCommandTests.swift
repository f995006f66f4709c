import Foundation
import Testing

@Suite("A household holds others than those it should", .timeLimit(.minutes(3)))
struct HouseholdCommandTests {
    private let first: KithHome
    private let second: KithHome

    init() throws {
        first = try KithHome()
        second = try KithHome()
    }

    /// Pairs two homes by a token, typed with spaces, without mDNS.
    private func pair(_ first: KithHome, _ second: KithHome, _ options: String = "") throws -> KithHome.Result {
        try first.shell(
            """
            : > pair.out
            "$KITH" pair --token --json --no-discovery --port 0 --name first > pair.out & pair=$!
            while ! grep -q '"token"' pair.out; do kill -0 $pair || exit 1; sleep 0.05; done
            port=$(sed -n 's/.*"port" *: *\\([0-9]*\\).*/\\1/p' pair.out)
            token=$(sed -n 's/.*"token" *: *"\\([^"]*\\)".*/\\1/p' pair.out)
            KITH_HOME=\(second.folder.path) "$KITH" pair $(echo "$token" | tr - ' ') --address 127.0.0.1:$port --no-discovery --name second \(options); status=$?
            [ $status = 0 ] || kill $pair 2>/dev/null; wait $pair; exit $status
            """)
    }

    private func port(of node: RunningNode) async throws -> Int {
        var port: Int?
        try await node.wait { output in
            port = output.matches(of: /"port":(\d+)/).last.flatMap { Int($0.1) }
            return port != nil
        }
        return try #require(port)
    }

    private func members(_ home: KithHome) throws -> [String] {
        let shown = try home.kith("household", "show", "--json").json() as? [String: Any]
        return (shown?["members"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }.sorted()
    }

    @Test func `a machine is paired, synchronises what it wrote alone, is revoked, and comes back`() async throws {
        try second.kith("note", "add", "Written alone")
        #expect(try first.kith("household", "show").output.contains("by itself"))
        let paired = try pair(first, second)
        #expect(paired.status == 0, "\(paired.error)\(paired.output)")
        #expect(try members(first) == ["first", "second"])
        #expect(try second.kith("household", "show").output.contains("Joining"))
        // It was paired: no word of the list may say that a person has added the other machine by hand.
        #expect(try second.kith("device", "list").output.hasPrefix("first "))
        #expect(try !second.kith("device", "list").output.contains("by hand") && listed(by: second).map { $0["role"] == nil } == true)
        #expect(try listed(by: first)?["role"] as? String == "member")

        let one = try RunningNode(first, "--no-discovery", "--port", "0", "--json")
        let port = try await port(of: one)
        let id = try first.kith("device", "id").lastLine
        try second.kith("device", "add", id, "--address", "127.0.0.1:\(port)")
        let two = try RunningNode(second, "--no-discovery", "--port", "0")
        try await one.wait { _ in try first.kith("note", "list").output.contains("Written alone") }
        try await two.wait { _ in try members(second) == ["first", "second"] }
        try first.kith("device", "rename", "second", "attic")
        try await two.wait { _ in try members(second) == ["attic", "first"] }
        // A machine may also choose its own name, and goes by it everywhere.
        let renamed = try second.kith("device", "rename", "attic", "loft")
        #expect(renamed.status == 0 && renamed.output.contains("is now loft"), "\(renamed)")
        try await one.wait { _ in try members(first) == ["first", "loft"] }
        try first.kith("device", "rename", "loft", "attic")
        try await two.wait { _ in try members(second) == ["attic", "first"] }
        try await one.wait { _ in try state(ofFirstIn: first) == "connected" }

        #expect(try first.kith("device", "revoke", "attic").status == 0)
        #expect(try members(first) == ["first"])
        // The node looks at the household twice a second.
        try await one.wait { $0.contains("\"state\":\"localOnly\"") }
        try await two.wait { _ in try state(ofFirstIn: second) == "notReachable" }
        try first.kith("note", "add", "After the revocation")
        let diagnosis = try second.kith("doctor", "--no-discovery")
        #expect(diagnosis.status == 69)
        // Who has nobody left to trust does not listen.
        #expect(diagnosis.output.contains("Nothing answers"), "\(diagnosis.output)")
        #expect(try !second.kith("note", "list").output.contains("After"))

        #expect(try second.kith("household", "leave").status == 0)
        try await two.wait { $0.contains("Local only") }
        #expect(try second.kith("note", "list").output.contains("Written alone"))
        let again = try pair(first, second)
        #expect(again.status == 0, "\(again.error)")
        try second.kith("device", "add", id, "--address", "127.0.0.1:\(port)")
        try await two.wait { _ in try second.kith("note", "list").output.contains("After the revocation") }
        // Under a new key it goes on as before, in the running node, too.
        let before = try second.kith("device", "id").lastLine
        let renewed = try second.kith("device", "renew")
        #expect(renewed.status == 0, "\(renewed.error)")
        #expect(try second.kith("device", "id").lastLine != before)
        try second.kith("note", "add", "Under a new key")
        try await one.wait { _ in try first.kith("note", "list").output.contains("Under a new key") }
        // With its answer to the next note the machine tells what of its own is on its disk; else it does so within a quarter of a minute.
        try first.kith("note", "add", "An answer")
        let safe = { (home: KithHome) in try home.kith("status").output.contains("Everything you wrote is safe on:") }
        try await one.wait { _ in try safe(first) }
        try await one.wait { _ in try first.kith("note", "show", "Under a new key").output.contains("Safe on: second.") }
        // What it wrote under its earlier keys is known for its own.
        let shown = try first.kith("history", "--device", "second").output
        #expect(shown.contains("Written alone") && shown.contains("Under a new key") && !shown.contains("removed"), "\(shown)")
        // It leaves, and the other one hears of it by itself.
        #expect(try second.kith("household", "leave").status == 0)
        try await one.wait { _ in try members(first) == ["first"] }
        try await two.wait { _ in try second.kith("household", "show").output.contains("by itself") }
        // Who is gone can be named still, so that what it did can be found and taken back.
        #expect(try first.kith("history").output.contains("second (removed)"))
        let explained = try first.kith("note", "explain", "Under a new key").output
        #expect(explained.contains("second (removed)"), "\(explained)")
        #expect(try first.kith("trash", "restore", "--from", "second").output.hasPrefix("Nothing that second deleted"))
        expectFailure(try first.kith("history", "--device", "nobody"), 66, "nobody")
        #expect(try first.kith("revert", "--device", "second", "--since", "yesterday").status == 0)
        let left = try first.kith("note", "list").output
        #expect(!left.contains("Written alone") && !left.contains("Under a new key") && left.contains("An answer"), "\(left)")
        #expect(try await one.stop(SIGTERM) == 0)
        #expect(try await two.stop(SIGTERM) == 0)
    }

    @Test(arguments: [true, false])
    func `a machine that is paired with one whose node trusts nobody yet learns where that will listen`(isFixed: Bool) async throws {
        let chosen = isFixed ? "\(Int.random(in: 20_000..<32_000))" : "0"
        let node = try RunningNode(first, "--no-discovery", "--no-web", "--port", chosen, "--json")
        let status = first.store.path + "-status.json"
        try await node.wait { _ in
            FileManager.default.contents(atPath: status).map { String(decoding: $0, as: UTF8.self).contains("\"futurePort\"") } ?? false
        }
        #expect(try pair(first, second).status == 0)
        let port = try await port(of: node)
        if isFixed { #expect("\(port)" == chosen) }
        let listed = try second.kith("device", "list").output
        #expect(listed.contains("127.0.0.1:\(port)"), "\(listed)")
        try first.kith("note", "add", "Hello")
        let other = try RunningNode(second, "--no-discovery", "--no-web", "--port", "0")
        try await other.wait { _ in try second.kith("note", "list").output.contains("Hello") }
        #expect(try await other.stop(SIGTERM) == 0)
        #expect(try await node.stop(SIGTERM) == 0)
    }

    @Test func `of two households a person says which one is kept`() throws {
        let (third, fourth) = (try KithHome(), try KithHome())
        #expect(try pair(first, second).status == 0)
        #expect(try pair(third, fourth).status == 0)
        let refused = try pair(first, third)
        #expect(refused.status == 65)
        #expect(refused.error.contains("--join"), "\(refused.error)")
        let before = try household(first)
        #expect(try household(third) != before)
        let joined = try pair(first, third, "--join")
        #expect(joined.status == 0, "\(joined.error)\(joined.output)")
        #expect(try household(third) == before)
        #expect(try third.kith("device", "list", "--json").json() as? [[String: Any]] != nil)
        #expect(try household(fourth) != before)
    }

    private func state(ofFirstIn home: KithHome) throws -> String? { try listed(by: home)?["state"] as? String }

    private func listed(by home: KithHome) throws -> [String: Any]? {
        (try home.kith("device", "list", "--json").json() as? [[String: Any]])?.first
    }

    private func household(_ home: KithHome) throws -> String? {
        (try home.kith("household", "show", "--json").json() as? [String: Any])?["household"] as? String
    }
}
