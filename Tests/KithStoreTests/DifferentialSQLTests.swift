import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A statement does otherwise on a tracked table than on a plain one")
struct DifferentialSQLTests {
    private static let seeds = 1...Soak.count(6, soaking: 200)
    /// For each seed.
    private static let statementCount = Soak.count(160, soaking: 500)

    /// What a program can tell of a statement and what it left behind.
    private struct Outcome: Equatable, CustomStringConvertible {
        var rows: [String] = []
        var error: String?
        var changes: Int?
        var lastInsertedRow: Int64 = 0
        var isInTransaction = false
        var contents: [String] = []

        var description: String {
            (["\(error ?? "ok"), \(changes ?? -1) changes, last \(lastInsertedRow), in transaction: \(isInTransaction)"] + rows + contents)
                .joined(separator: "\n")
        }
    }

    private static func outcome(of sql: String, in db: Database) throws -> Outcome {
        var outcome = Outcome()
        do {
            outcome.rows = try Row.fetchAll(db, sql: sql).map(\.description)
        } catch let error as DatabaseError {
            outcome.error = "\(error.extendedResultCode.rawValue) \(error.message ?? "")"
        }
        outcome.isInTransaction = db.isInsideTransaction
        outcome.changes = db.changesCount
        outcome.lastInsertedRow = db.lastInsertedRowID
        outcome.contents = try contents(RandomSQL.names, in: db)
        return outcome
    }

    private static func contents(_ tables: [String], rowids: Bool = true, in db: Database) throws -> [String] {
        try tables.flatMap { table in
            let columns = try (rowids ? ["rowid"] : []) + db.columns(in: table).map(\.name)
            let values = columns.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
            return try String.fetchAll(db, sql: "SELECT '\(table) ' || \(values) FROM \(table) ORDER BY \(rowids ? "rowid" : "id")")
        }
    }

    private static func database(_ isRecursive: Bool, _ form: KeyForm, triggers: Bool = true) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let database = try DatabaseQueue(configuration: configuration)
        try database.write { try $0.execute(sql: RandomSQL.tables(form) + (triggers ? RandomSQL.triggers(isRecursive: isRecursive) : "")) }
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive ? "ON" : "OFF")") }
        return database
    }

    @Test(arguments: seeds)
    func `rows, results, errors, counts and what triggers saw are the same; the store is sound, and a peer has the same`(seed: Int) throws {
        let isRecursive = seed.isMultiple(of: 3)
        // Each form has its seeds, with and without triggers that fire themselves.
        let form = KeyForm.allCases[seed / 3 % 3]
        let (plain, tracked) = (try Self.database(isRecursive, form), try Self.database(isRecursive, form))
        let store = try SyncedDatabase(tracked, tables: RandomSQL.tracked(form), options: TestStore.options())
        let peer = try Self.database(false, form, triggers: false)
        let other = try SyncedDatabase(peer, tables: RandomSQL.tracked(form), options: TestStore.options())
        var statements = RandomSQL(random: SplitMix64(seed: UInt64(seed)), form: form)
        for part in 0..<4 {
            try plain.writeWithoutTransaction { plain in
                try tracked.writeWithoutTransaction { tracked in
                    // Clocks of inserted rows are stored at the commit, after which the count is theirs until the next write.
                    var isCounted = false
                    for number in 0..<Self.statementCount / 4 {
                        let sql = statements.next()
                        var wanted = try Self.outcome(of: sql, in: plain)
                        var found = try Self.outcome(of: sql, in: tracked)
                        if wanted.error == nil, !sql.hasPrefix("BEGIN"), !sql.hasPrefix("SAVEPOINT"), !sql.hasPrefix("RO") {
                            isCounted = wanted.isInTransaction || !sql.hasPrefix("COMMIT") && !sql.hasPrefix("RELEASE")
                        }
                        if !isCounted { (wanted.changes, found.changes) = (nil, nil) }
                        try #require(found == wanted, "seed \(seed), \(part).\(number): \(sql)\nPLAIN \(wanted)\nTRACKED \(found)")
                    }
                    for db in [plain, tracked] where db.isInsideTransaction { try db.execute(sql: "COMMIT") }
                }
            }
            try #require(try store.verify().problems == [], "seed \(seed), after part \(part)")
            _ = try other.apply(try store.delta(since: try other.vector()))
            let names = ["folder", "item", "day", "single"]
            let mine = try tracked.read { try Self.contents(names, rowids: false, in: $0) }
            let theirs = try peer.read { try Self.contents(names, rowids: false, in: $0) }
            try #require(mine == theirs, "seed \(seed), after part \(part)")
        }
        #expect(try other.verify().problems == [])
    }
}
