import Foundation
import GRDB
import KithStore
import TestSupport
import Testing

@testable import Kith

/// Risk: of several processes with one file two synchronise, none does, one does not hear of what another wrote, or what a killed one had
/// written is lost.
///
/// The processes are the example `SeveralProcesses`, killed at random, and another device that they synchronise with.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SeveralProcessesTests {
    private static let processes = 8
    /// How long: ten seconds here, ten minutes in `make soak`.
    private static let seconds = Soak.count(10, soaking: 600)

    @Test func `eight processes that are killed at random lose nothing and end equal`() async throws {
        let folder = try TemporaryFolder()
        let device = try await OtherDevice(of: folder.url.appending(path: "machine"), in: folder.url.appending(path: "other"))
        var random = SplitMix64(seed: Soak.firstSeed)
        var workers = try (0..<Self.processes).map { _ in try LineProcess("SeveralProcessesExample", device.machine) }
        var written: Set<String> = []
        var repeated = 0
        var handovers: [Duration] = []
        defer { for worker in workers { worker.kill() } }
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var rounds = 0
        while ContinuousClock.now < end {
            let round = rounds
            rounds += 1
            for (number, worker) in workers.enumerated() {
                for line in 0..<Int.random(in: 1...3, using: &random) { worker.type("\(round)-\(number)-\(line)") }
                worker.type("all")
            }
            try device.add("other \(round)")
            let holder = try await Self.holder(among: workers)
            // Every other time the one that synchronises, amid its writing.
            let victim = round % 2 == 0 ? holder : Int.random(in: 0..<workers.count, using: &random)
            if round % 3 == 0 { try await Task.sleep(for: .milliseconds(Int.random(in: 1...40, using: &random))) }
            workers[victim].kill()
            let start = ContinuousClock.now
            let old = workers[victim]
            written.formUnion(old.written.filter { $0 != "all" })
            repeated += old.written.count { $0 == "all" }
            let others = workers.indices.filter { $0 != victim }.map { workers[$0] }
            if victim == holder {
                _ = try await Self.holder(among: others)
                handovers.append(start.duration(to: .now))
            }
            workers[victim] = try LineProcess("SeveralProcessesExample", device.machine)
        }
        for worker in workers { try await worker.finishWriting() }
        for worker in workers {
            written.formUnion(worker.written.filter { $0 != "all" })
            repeated += worker.written.count { $0 == "all" }
        }
        // What an observer shows last is what is in the file, and the other device has the same.
        try await device.until { try device.sum() == device.sumHere() && workers.allSatisfy { $0.seen == (try? device.sumHere()) } }
        let here = try device.textsHere()
        #expect(written.subtracting(here).isEmpty, "what a process had committed is gone")
        #expect(try device.timesHere("all") >= repeated)
        #expect((0..<rounds).allSatisfy { here.contains("other \($0)") })
        #expect(try device.textsThere() == here)
        _ = try await Self.holder(among: workers)
        let sorted = handovers.sorted()
        if let longest = sorted.last {
            print("\(rounds) rounds; \(sorted.count) hand-overs, half of them within \(sorted[sorted.count / 2]), the longest \(longest)")
        }
        #expect(handovers.count >= rounds / 2)
        await device.stop()
    }

    @Test func `a standby looks several times a second whether it can take over`() {
        #expect(Node.standbyMilliseconds * 2 <= 1_000)
    }

    /// The one process that synchronises, once there is one. Never are there two.
    private static func holder(among workers: [LineProcess]) async throws -> Int {
        for _ in 0..<12_000 {
            let holders = workers.indices.filter { workers[$0].synchronises }
            try #require(holders.count <= 1, "processes \(holders) synchronise at once")
            if let holder = holders.first { return holder }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw NobodyTookOver()
    }

    private struct NobodyTookOver: Error {}
}

/// Another device, in this process, that trusts the one that the processes are on.
private final class OtherDevice {
    let machine: URL
    private let app: SyncedApp
    /// To look at the file of the processes.
    private let reader: DatabaseQueue

    init(of machine: URL, in folder: URL) async throws {
        self.machine = machine
        var options = SyncedApp.Options()
        options.usesDiscovery = false
        options.port = 0
        func open(_ folder: URL) throws -> SyncedApp {
            try SyncedApp("org.example.lines", migrator: Self.migrator, tables: [Self.table], at: .folder(folder), options: options)
        }
        app = try open(folder)
        let here = try open(machine)
        let port = try await app.node.port()
        try here.trust.add(
            TrustedDevice(
                id: app.trust.ownID, name: "other", addresses: [PeerAddress(host: "127.0.0.1", port: port)], added: Date()))
        try app.trust.add(TrustedDevice(id: here.trust.ownID, name: "machine", added: Date()))
        let path = here.store.database.path
        try await here.close()
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        reader = try DatabaseQueue(path: path, configuration: configuration)
        app.start()
    }

    static let table = TrackedTable("line", counters: ["times"], key: ["text"])

    /// As the example has it.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: "CREATE TABLE line (id BLOB PRIMARY KEY NOT NULL, text TEXT NOT NULL, times INTEGER NOT NULL DEFAULT 0)")
        }
        return migrator
    }

    func add(_ text: String) throws {
        try app.database.write { db in
            try db.execute(sql: "INSERT INTO line (id, text, times) VALUES (kith_key('line', ?1), ?1, 1)", arguments: [text])
        }
    }

    func sum() throws -> String { try app.database.read(Self.sum) }
    func sumHere() throws -> String { try reader.read(Self.sum) }
    func textsThere() throws -> Set<String> { try app.database.read { Set(try String.fetchAll($0, sql: "SELECT text FROM line")) } }
    func textsHere() throws -> Set<String> { try reader.read { Set(try String.fetchAll($0, sql: "SELECT text FROM line")) } }
    func timesHere(_ text: String) throws -> Int {
        try reader.read { try Int.fetchOne($0, sql: "SELECT times FROM line WHERE text = ?", arguments: [text]) ?? 0 }
    }

    private static func sum(_ db: Database) throws -> String {
        let row = try Row.fetchOne(db, sql: "SELECT count(*), coalesce(sum(times), 0) FROM line")
        let (lines, times): (Int, Int) = (row?[0] ?? 0, row?[1] ?? 0)
        return "sees \(lines) lines, \(times) times"
    }

    func until(_ condition: () throws -> Bool) async throws {
        try await app.until(condition)
    }

    func stop() async { try? await app.close() }
}
