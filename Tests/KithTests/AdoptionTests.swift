import Foundation
import GRDB
import Kith
import KithTrust
import Testing

/// The risk: a store that was filled alone for months loses something, or takes something along, when it joins others.
@Suite struct AdoptionTests {
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '');
        CREATE TABLE diary (id BLOB PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE, tags TEXT NOT NULL DEFAULT '[]');
        """

    private func node() throws -> TestNode {
        try TestNode(sql: Self.sql, tables: [TrackedTable("note"), TrackedTable("diary", sets: ["tags"], key: ["day"])])
    }

    /// Rows written alone, by the hundred.
    private func fill(_ node: TestNode, _ name: String, rows: Int) throws {
        try node.database.write { db in
            for index in 0..<rows {
                try db.execute(sql: "INSERT INTO note (id, title) VALUES (randomblob(16), ?)", arguments: ["\(name) \(index)"])
            }
        }
    }

    private func keepDiary(_ node: TestNode, _ tags: String) throws {
        let sql = "INSERT INTO diary (id, day, tags) VALUES (kith_key('diary', ?1), ?1, ?2)"
        for day in 1...9 { try node.database.write { try $0.execute(sql: sql, arguments: ["2026-02-0\(day)", tags]) } }
    }

    private func tagsOfDays(_ node: TestNode) throws -> [String] {
        try node.database.read { try String.fetchAll($0, sql: "SELECT tags FROM diary ORDER BY day") }
    }

    private func ids(_ node: TestNode) throws -> Set<Data> {
        try node.database.read { try Data.fetchSet($0, sql: "SELECT id FROM note") }
    }

    private func asTrusted(_ node: TestNode, port: Int? = nil) throws -> TrustedDevice {
        let addresses = try port.map { [try PeerAddress(host: "127.0.0.1", port: $0)] } ?? []
        return try TrustedDevice(id: node.trust.ownID, name: "", addresses: addresses, added: Date(timeIntervalSince1970: 0))
    }

    /// What pairing does: the second joins the first, and dials it.
    private func pair(_ first: TestNode, _ second: TestNode, port: Int) throws {
        try first.trust.admit(asTrusted(second), founding: Household.founded(as: "first", by: first.trust.key()))
        try second.trust.join(try #require(first.trust.household).id, through: asTrusted(first, port: port))
    }

    @Test func `rows keep their ids and what has one key is one row`() async throws {
        let (a, b) = (try node(), try node())
        try fill(a, "a", rows: 300)
        try fill(b, "b", rows: 300)
        try keepDiary(a, #"["kitchen"]"#)
        try keepDiary(b, #"["attic"]"#)
        let before = try ids(a).union(ids(b))
        a.start()
        b.start()
        try await a.until { a.node.status.state == .localOnly && b.node.status.state == .localOnly }
        // The port is known only once a device is trusted.
        try a.trust.admit(asTrusted(b), founding: Household.founded(as: "a", by: a.trust.key()))
        try pair(a, b, port: try await a.port())
        for node in [a, b] {
            try await node.until { try ids(node) == before && node.node.status.state == .upToDate }
            let days = try tagsOfDays(node)
            #expect(days.count == 9 && days.allSatisfy { $0.contains("kitchen") && $0.contains("attic") })
        }
        await a.stop()
        await b.stop()
    }

    @Test func `an adoption that is cut again and again goes on where it was`() async throws {
        let (a, b) = (try node(), try node())
        try fill(a, "a", rows: 100)
        for part in 0..<20 { try fill(b, "b \(part)", rows: 500) }
        let before = try ids(a).union(ids(b))
        a.start()
        try a.trust.admit(asTrusted(b), founding: Household.founded(as: "a", by: a.trust.key()))
        let port = try await a.port()
        try pair(a, b, port: port)
        var held = 0
        for _ in 0..<3 {
            b.start()
            try await a.until { try ids(a).count > min(held + 200, before.count - 1) }
            await b.stop()
            try await a.until { a.node.status.peers.allSatisfy { $0.state == .notReachable } }
            // What has come stays.
            let now = try ids(a).count
            #expect(try now >= held && ids(b).count >= 10_000)
            held = now
        }
        b.start()
        for node in [a, b] { try await node.until { try ids(node) == before } }
        await a.stop()
        await b.stop()
    }

    @Test func `whose sponsor is never met keeps all and may go back`() async throws {
        let b = try node()
        try fill(b, "b", rows: 50)
        let before = try ids(b)
        let a = try node()
        try a.trust.found(Household.founded(as: "a", by: a.trust.key()))
        // Port 1 answers to nobody.
        try b.trust.join(try #require(a.trust.household).id, through: asTrusted(a, port: 1))
        b.start()
        try await b.until { b.node.status.sentence.contains("joins a household") }
        #expect(b.node.status.state == .waiting && b.node.status.remedy != nil)
        try fill(b, "while it waits", rows: 1)
        try b.trust.leave()
        try await b.until { b.node.status.state == .localOnly && b.trust.standing == .alone }
        #expect(try ids(b).isSuperset(of: before) && ids(b).count == 51)
        #expect(try b.store.members().isEmpty)
        await b.stop()
    }

    @Test func `who leaves and joins another household takes its notes and nothing else is mixed`() async throws {
        let (a, b, c) = (try node(), try node(), try node())
        for (node, name) in [(a, "a"), (b, "b"), (c, "c")] { try fill(node, name, rows: 20) }
        for node in [a, c] {
            try node.trust.admit(asTrusted(b), founding: Household.founded(as: "it", by: node.trust.key()))
            node.start()
        }
        try pair(a, b, port: try await a.port())
        b.start()
        try await a.until { try ids(a).count == 40 }
        try await b.until { try ids(b).count == 40 }
        // As `kith pair --join` does it; the household of a hears of nothing that happens in the other one.
        try pair(c, b, port: try await c.port())
        try await c.until { try ids(c).count == 60 }
        try fill(c, "c later", rows: 1)
        try await b.until { try ids(b).count == 61 }
        #expect(try ids(a).count == 40 && !a.trust.isTrusted(c.trust.ownID) && !b.trust.isTrusted(a.trust.ownID))
        for node in [a, b, c] { await node.stop() }
    }
}
