import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A killed process leaves half a step behind")
struct KilledProcessTests {
    private static let killCount = Soak.count(8, soaking: 1_000)

    /// The program stands beside the one that runs the tests.
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("kith-conformance")

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "kith-conformance is not where the tests are"))
    func `after kill -9 at any moment the store opens as the same replica, holds together, and has all that was committed`() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 9)
        var replica: String?
        for round in 0..<Self.killCount {
            let output = try Self.runAndKill(
                "write-until-killed", folder.file("store"), afterMilliseconds: Int.random(in: 1...150, using: &random))
            let database = try DatabasePool(path: folder.file("store"))
            if try database.read({ try !$0.tableExists("item") }) { continue }
            let store = try SyncedDatabase(database, tables: [TrackedTable("item", sets: ["tags"], counters: ["views"], texts: ["body"])])
            #expect(store.identityDoubt == nil)
            let summary = try store.summary()
            if let replica { #expect(summary.replica.description == replica) }
            replica = summary.replica.description
            let committed = output.filter { $0.hasPrefix("committed ") }.compactMap { UInt64($0.dropFirst(10)) }.max() ?? 0
            #expect(summary.vector[summary.replica] >= committed)
            #expect(try store.verify().problems == [], "round \(round)")
            let halves = try database.read {
                try Int.fetchOne(
                    $0, sql: "SELECT count(*) FROM (SELECT 1 FROM item WHERE title <> 'peer' GROUP BY title HAVING count(*) = 1)")
            }
            #expect(halves == 0)
            store.close()
            try database.close()
            if round % 20 == 19 { try FileManager.default.removeItem(atPath: folder.file("store")); replica = nil }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "kith-conformance is not where the tests are"))
    func `after kill -9 in the middle of an attachment, every one that a row names is whole, and one that was on its way goes on`() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 10)
        var attached = 0
        // On a busy machine none may have come so far: then some have more time.
        for round in 0..<Self.killCount + 20 where round < Self.killCount || attached == 0 {
            let limit = round < Self.killCount ? 150 : 3_000
            let output = try Self.runAndKill(
                "attach-until-killed", folder.file("store"), afterMilliseconds: Int.random(in: 1...limit, using: &random))
            let database = try DatabaseQueue(path: folder.file("store"))
            if try database.read({ try !$0.tableExists("photo") }) { continue }
            let store = try SyncedDatabase(database, tables: [TrackedTable("photo", attachments: ["file"])])
            let named = try database.read { try String.fetchAll($0, sql: "SELECT file FROM photo") }
            let said = output.filter { $0.hasPrefix("committed ") }.map { String($0.dropFirst(10)) }
            #expect(Set(said).subtracting(named).isEmpty, "what was said to be committed is there")
            #expect(try store.verifyAttachments() == [], "no content is half there")
            for id in named.compactMap({ AttachmentID($0) }) {
                if case .present = store.attachmentState(id) { attached += 1 } else { Issue.record("\(id) is not there") }
            }
            // The one on its way takes up what was proved.
            if let moving = FileManager.default.enumerator(atPath: folder.file("store-kith-files"))?.compactMap({ $0 as? String })
                .first(where: { $0.hasSuffix(".part") }),
                let id = AttachmentID(moving.dropLast(5).filter { $0 != "/" })
            {
                #expect(try store.incomingAttachment(id) != nil)
            }
            store.close()
            try database.close()
            if round % 20 == 19 {
                for name in ["store", "store-kith-files"] { try? FileManager.default.removeItem(atPath: folder.file(name)) }
            }
        }
        #expect(attached > 0)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "kith-conformance is not where the tests are"))
    func `a copy of files that another process writes all the time is one of its commits, or is refused`() throws {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["write-until-killed", folder.file("store")]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        // The program writes as long as this test reads what it says.
        _ = try pipe.fileHandleForReading.read(upToCount: 1)
        var (copies, refusals) = (0, 0)
        while copies < Soak.count(40, soaking: 2_000), refusals < 20_000 {
            if refusals % 8 == 0 { _ = pipe.fileHandleForReading.availableData }
            do {
                let copy = try SyncedDatabase.copyInMemory(ofDatabaseAt: folder.file("store"))
                let problems = try copy.read { db in
                    guard try db.tableExists("item") else { return [String]() }
                    let halves = "SELECT count(*) FROM (SELECT 1 FROM item WHERE title <> 'peer' GROUP BY title HAVING count(*) = 1)"
                    let isHalf = try Int.fetchOne(db, sql: halves) != 0
                    return try String.fetchAll(db, sql: "PRAGMA quick_check") + (isHalf ? ["half a commit"] : [])
                }
                #expect(problems.allSatisfy { $0 == "ok" }, "\(problems)")
                copies += 1
            } catch let error as StoreError where error.code == .busy {
                refusals += 1
            }
        }
        #expect(copies > 0)
    }

    /// Rows of the table that is migrated.
    private static let rowCount = Soak.count(2_000, soaking: 100_000)

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "kith-conformance is not where the tests are"))
    func
        `after kill -9 in the midst of new ids or an adoption, rows have all of their old keys or all of their new ones, and are tracked all or none`()
        throws
    {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 11)
        var found: Set<String> = []
        for round in 0..<Soak.count(4, soaking: 40) {
            let path = folder.file("store\(round)")
            let before = try DatabaseQueue(path: path)
            try before.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE recipe (id INTEGER PRIMARY KEY, title TEXT);
                        CREATE TABLE step (id INTEGER PRIMARY KEY, recipe INTEGER NOT NULL REFERENCES recipe (id));
                        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(Self.rowCount))
                        INSERT INTO recipe SELECT n, 'r' || n FROM n;
                        INSERT INTO step SELECT id, id FROM recipe;
                        """)
            }
            try before.close()
            let milliseconds = Int.random(in: 1...max(400, Self.rowCount / 16), using: &random)
            _ = try Self.runAndKill("migrate-until-killed", path, afterMilliseconds: milliseconds)
            let database = try DatabaseQueue(path: path)
            let (keys, tracked) = try database.read { db in
                (
                    try String.fetchAll(db, sql: "SELECT DISTINCT typeof(id) FROM recipe UNION SELECT DISTINCT typeof(recipe) FROM step"),
                    try db.tableExists("kith_meta")
                )
            }
            #expect(keys.count == 1)
            found.insert((keys.first ?? "") + (tracked ? " tracked" : ""))
            #expect(
                try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM step s JOIN recipe r ON r.id = s.recipe") }
                    == Self.rowCount)
            let tables = [TrackedTable("recipe"), TrackedTable("step")]
            if tracked {
                let clocks = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_clock_0") }
                #expect(clocks == Self.rowCount)
            } else {
                try KeyMigration(tables, form: .text).run(on: database)
            }
            let store = try SyncedDatabase(database, tables: tables)
            #expect(try store.verify().problems == [])
            store.close()
            try database.close()
        }
        #expect(found.isSubset(of: ["integer", "text", "text tracked"]))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "kith-conformance is not where the tests are"))
    func `after kill -9 in the middle of a snapshot, the file is whole and holds what was written last, and nothing else is left`() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 12)
        let file = folder.url("store.snapshot")
        var hasBeen = false
        for round in 0..<Self.killCount {
            let output = try Self.runAndKill(
                "snapshot-until-killed", folder.file("store"), afterMilliseconds: Int.random(in: 1...150, using: &random))
            let said = output.filter { $0.hasPrefix("committed ") }.compactMap { Int($0.dropFirst(10)) }.max() ?? 0
            switch SnapshotReader(file).read([Int].self) {
            case .ok(let snapshot):
                let count = try #require(snapshot.content.first)
                hasBeen = true
                #expect(count >= said && snapshot.content == [Int](repeating: count, count: 100_000), "round \(round)")
            case .missing: #expect(said == 0 && !hasBeen)
            case let other: Issue.record("round \(round): \(other)")
            }
        }
        let store = try TestStore(sql: "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, n INTEGER)", tables: [TrackedTable("item")])
        _ = try store.store.snapshot("count", to: file) { _ in [0] }.write()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasSuffix(".kith-new") })
    }

    /// The whole lines that the program wrote before it was killed.
    private static func runAndKill(_ program: String, _ path: String, afterMilliseconds milliseconds: Int) throws -> [String] {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = [program, path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        // The moment only has to be some moment: while it opens the store, or after.
        if milliseconds % 4 > 0 { _ = try pipe.fileHandleForReading.read(upToCount: 1) }
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let rest = try pipe.fileHandleForReading.readToEnd() ?? Data()
        return String(decoding: rest, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
