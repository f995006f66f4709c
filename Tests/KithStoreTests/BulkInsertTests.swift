import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("The clocks of inserted rows are stored later than the rows")
struct BulkInsertTests {
    fileprivate static func insert(_ numbers: ClosedRange<UInt64>, _ db: Database) throws {
        let insert = try db.cachedStatement(sql: "INSERT INTO note (id, title) VALUES (?, ?)")
        for number in numbers { try insert.execute(arguments: [key(number), "note \(number)"]) }
    }

    private static func runs(_ notes: TestStore) throws -> Int {
        try notes.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_run") } ?? 0
    }

    /// The sequences that live in the rows, each as often as it does.
    private static func sequences(_ notes: TestStore) throws -> [UInt64: Int] {
        try notes.store.delta(since: VersionVector()).rows.reduce(into: [:]) { counts, row in
            for dot in row.state.liveDots { counts[dot.sequence, default: 0] += 1 }
        }
    }

    @Test(arguments: Backend.allCases) func `a bulk insert leaves runs, and whoever reads rows expands them`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { try Self.insert(1...5_000, $0) }
        #expect(try Self.runs(notes) == 21)
        #expect(try notes.sequence() == 1)
        #expect(try Self.runs(notes) == 21)
        #expect(try Self.sequences(notes) == [1: 5_000])
        #expect(try Self.runs(notes) == 0)
        try notes.expectSound()
        let other = try TestStore()
        try other.receive(from: notes)
        #expect(try other.store.digest() == notes.store.digest())
    }

    @Test func `a few rows, and rows that do not follow each other, are stored at once`() throws {
        let notes = try TestStore()
        try notes.database.write { try Self.insert(1...15, $0) }
        try notes.database.write { db in
            for number: Int64 in 1...100 {
                try db.execute(
                    sql: "INSERT INTO note (rowid, id) VALUES (?, ?)", arguments: [1_000 - 2 * number, key(UInt64(number + 100))])
            }
        }
        #expect(try Self.runs(notes) == 0)
        try notes.database.write { try Self.insert(301...316, $0) }
        #expect(try Self.runs(notes) == 1)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `an update or deletion expands the run that the row is in, no other`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { try Self.insert(1...720, $0) }
        #expect(try Self.runs(notes) == 3)
        try notes.execute("UPDATE note SET title = 'x' WHERE id = ?", [key(240)])
        #expect(try Self.runs(notes) == 2)
        try notes.execute("DELETE FROM note WHERE id IN (?, ?)", [key(481), key(720)])
        #expect(try Self.runs(notes) == 1)
        try notes.execute("UPDATE note SET rowid = 9000 WHERE id = ?", [key(241)])
        #expect(try Self.runs(notes) == 0)
        #expect(try notes.state(rowID(240))?.sequences("title") == [2])
        #expect(try notes.state(rowID(239))?.sequences("title") == [1])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `rows are written again in the transaction that inserts them`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            try Self.insert(1...300, db)
            try db.execute(sql: "UPDATE note SET views = views + 1 WHERE rowid % 7 = 0")
            try db.execute(sql: "DELETE FROM note WHERE rowid % 50 = 0")
            try db.execute(sql: "INSERT OR REPLACE INTO note (id, title) VALUES (?, 'again')", arguments: [key(3)])
            try Self.insert(301...700, db)
        }
        #expect(try notes.sequence() == 1)
        #expect(try Self.sequences(notes) == [1: 700])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `last_insert_rowid() and changes() tell of the app's rows`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO note (rowid, id) VALUES (77, ?)", arguments: [key(1)])
            #expect(db.lastInsertedRowID == 77)
            #expect(db.changesCount == 1)
            try db.inTransaction {
                for number: UInt64 in 1_000...1_999 {
                    try db.execute(sql: "INSERT INTO note (rowid, id) VALUES (?, ?)", arguments: [number, key(number)])
                    #expect(db.lastInsertedRowID == Int64(number))
                }
                return .commit
            }
            #expect(db.lastInsertedRowID == 1_999)
        }
    }

    @Test(arguments: [false, true]) func `VACUUM renumbers rows that are still in runs`(isDeletion: Bool) throws {
        let notes = try TestStore(.pool)
        try notes.database.write { try Self.insert(1...500, $0) }
        try notes.database.writeWithoutTransaction { db in
            let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            try db.inTransaction {
                for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
                try db.execute(sql: "UPDATE note SET rowid = 5000 - rowid")
                try db.execute(sql: "UPDATE kith_canary SET rowid = 1")
                for trigger in triggers { try db.execute(sql: trigger["sql"]) }
                return .commit
            }
        }
        #expect(try Self.runs(notes) == 3)
        if isDeletion { try notes.execute("DELETE FROM note WHERE id = ?", [key(250)]) }
        #expect(try notes.store.delta(since: VersionVector()).rows.count == 500)
        try notes.expectSound()
    }

    @Test func `a store that is opened again knows the rows that are in runs`() throws {
        let notes = try TestStore(.pool)
        try notes.database.write { try Self.insert(1...400, $0) }
        notes.store.close()
        let again = try TestStore(.pool, folder: notes.folder)
        #expect(try Self.runs(again) == 0)
        #expect(try Self.sequences(again) == [1: 400])
        try again.expectSound()
    }

    @Test func `a transaction whose clocks cannot be stored is not committed`() throws {
        let notes = try TestStore()
        try notes.database.write { try Self.insert(1...3, $0) }
        // Another row's clocks stand where the new ones belong.
        try notes.execute(
            "INSERT INTO kith_clock_0 SELECT 4, id, replica, sequence, timestamp, columns, NULL, NULL FROM kith_clock_0 WHERE row = 1")
        #expect(throws: (any Error).self) { try notes.database.write { try Self.insert(4...6, $0) } }
        #expect(try notes.row(rowID(5)) == nil)
        #expect(try notes.sequence() == 1)
        try notes.execute("DELETE FROM kith_clock_0 WHERE row = 4")
        try notes.database.write { try Self.insert(4...6, $0) }
        #expect(try notes.sequence() == 2)
        try notes.expectSound()
    }

    @Test func `a transaction that cannot be committed says why`() throws {
        let notes = try TestStore()
        try notes.database.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN")
            try Self.insert(1...3, db)
            try db.execute(sql: "DROP TABLE kith_dot")
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "COMMIT") }
            #expect(error?.message?.contains("kith_dot") == true, "\(error?.message ?? "")")
            if db.isInsideTransaction { try db.execute(sql: "ROLLBACK") }
        }
        try notes.database.write { try Self.insert(1...3, $0) }
        try notes.expectSound()
    }

    @Test(arguments: [false, true])
    func `a statement that inserts very many rows stores clocks in its midst, and takes them back if it fails`(fails: Bool) throws {
        let notes = try TestStore()
        let insert = """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO note (id, color) SELECT CASE WHEN i < 5000 OR \(fails ? 0 : 1) THEN randomblob(16) END, i FROM n
            """
        try notes.database.write { db in
            try Self.insert(1...10, db)
            if fails { #expect(throws: DatabaseError.self) { try db.execute(sql: insert) } } else { try db.execute(sql: insert) }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM kith_run") == (fails ? 0 : 20))
            try Self.insert(11...20, db)
        }
        #expect(try notes.store.delta(since: VersionVector()).rows.count == (fails ? 20 : 5_020))
        try notes.expectSound()
    }

    /// Inserts rows after each commit of somebody else.
    private final class Importer: TransactionObserver, Sendable {
        private let rows: UInt64
        private let state = Mutex((next: UInt64(1), isInserting: false))

        init(rows: UInt64) { self.rows = rows }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}
        func databaseDidCommit(_ db: Database) {
            let first = state.withLock { state -> UInt64? in
                if state.isInserting { return nil }
                state = (state.next + rows, true)
                return state.next - rows
            }
            guard let first else { return }
            try? db.inTransaction {
                try BulkInsertTests.insert(first...first + rows - 1, db)
                return .commit
            }
            state.withLock { $0.isInserting = false }
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [(.queue, 100), (.pool, 100), (.memory, 2_100)] as [(Backend, UInt64)])
    func `somebody who inserts without a pause keeps nobody from reading or writing`(backend: Backend, rows: UInt64) throws {
        let notes = try TestStore(backend)
        let importer = Importer(rows: rows)
        notes.database.add(transactionObserver: importer)
        try notes.execute("CREATE TABLE other (x)")
        #expect(try !notes.store.delta(since: VersionVector()).rows.isEmpty)
        let other = try TestStore()
        try other.execute("INSERT INTO note (id) VALUES (?)", [key(1_000_000)])
        try notes.receive(from: other)
        notes.database.remove(transactionObserver: importer)
        try notes.expectSound()
    }

    private static let damages = [
        "ids = x'00'", "ids = zeroblob(0)", "count = 0", "count = -1", "count = 9223372036854775807", "first = -5",
        "first = 9223372036854775807", "columns = -1", "columns = 9223372036854775807", "tbl = 99", "tbl = 'x'", "replica = 77",
        "replica = -1", "sequence = 1000",
    ]

    @Test(arguments: damages)
    func `a damaged run costs its rows their clocks, and opening the store gives them new ones`(damage: String) throws {
        let notes = try TestStore(.queue)
        try notes.database.write { try Self.insert(1...720, $0) }
        try notes.execute("UPDATE kith_run SET \(damage) WHERE number = 2")
        notes.store.close()
        let damaged = try TestStore(.queue, folder: notes.folder)
        #expect(try Self.sequences(damaged) == [1: 480, 2: 240])
        try damaged.expectSound()
    }

    @Test func `a run that is damaged while the store is open is told by verify and mended by the next opening`() throws {
        let notes = try TestStore(.queue)
        try notes.database.write { try Self.insert(1...720, $0) }
        try notes.execute("UPDATE kith_run SET count = 9 WHERE number = 2")
        #expect(try notes.store.verify().problems == ["Table note: 240 rows have no clocks."])
        #expect(try notes.store.delta(since: VersionVector()).rows.count == 480)
        try notes.execute("UPDATE note SET color = 1 WHERE rowid <= 240")
        notes.store.close()
        let again = try TestStore(.queue, folder: notes.folder)
        try again.expectSound()
        #expect(try Self.sequences(again) == [1: 720 - 240, 2: 240, 3: 240])
    }

    @Test func `clocks of a row that is gone give way to those of a run, clocks of the row itself stay`() throws {
        let notes = try TestStore()
        try notes.database.write { try Self.insert(1...20, $0) }
        let clocks = "SELECT ?, ?, replica, 1, timestamp, 4, NULL, NULL FROM kith_run"
        try notes.execute("INSERT INTO kith_clock_0 \(clocks)", [3, key(77)])
        try notes.execute("INSERT INTO kith_clock_0 \(clocks)", [4, key(4)])
        #expect(try Self.sequences(notes) == [1: 20])
        try notes.expectSound()
    }

    /// Bulk inserts between savepoints, updates, deletions and statements that fail, at random.
    @Test(arguments: 1...UInt64(Soak.count(4, soaking: 12))) func `savepoints take back what they take back from the table`(seed: UInt64)
        throws
    {
        var random = SplitMix64(seed: seed)
        let notes = try TestStore(Backend.allCases[Int(seed % 3)])
        var next: UInt64 = 1
        for _ in 0..<4 {
            try notes.database.writeWithoutTransaction { db in
                try db.inTransaction {
                    var depth = 0
                    for _ in 0..<25 {
                        switch Int.random(in: 0..<9, using: &random) {
                        case 0..<4:
                            let count = UInt64([1, 7, 20, 260].randomElement(using: &random) ?? 1)
                            try Self.insert(next...next + count - 1, db)
                            next += count
                        case 4:
                            try db.execute(sql: "UPDATE note SET views = views + 1 WHERE rowid % 97 = ?", arguments: [Int64(next % 97)])
                        case 5:
                            try db.execute(sql: "DELETE FROM note WHERE rowid % 89 = ?", arguments: [Int64(next % 89)])
                        case 6:
                            try db.execute(sql: "SAVEPOINT s")
                            depth += 1
                        case 7 where depth > 0:
                            try db.execute(sql: "ROLLBACK TO s")
                            if Bool.random(using: &random) {
                                try db.execute(sql: "RELEASE s")
                                depth -= 1
                            }
                        case 8 where depth > 0:
                            try db.execute(sql: "RELEASE s")
                            depth -= 1
                        default:
                            // Fails at its last row, when the others are there already.
                            try? db.execute(
                                sql: """
                                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                                    INSERT INTO note (id, color) SELECT CASE WHEN i < 300 THEN randomblob(16) END, i FROM n
                                    """)
                        }
                    }
                    return Int.random(in: 0..<4, using: &random) == 0 ? .rollback : .commit
                }
            }
        }
        let sequence = try notes.sequence()
        let shown = try notes.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } ?? 0
        let rows = try notes.store.delta(since: VersionVector()).rows
        #expect(rows.count { $0.state.tombstones.isEmpty } == shown)
        #expect(rows.allSatisfy { $0.state.liveDots.allSatisfy { (1...max(1, sequence)).contains($0.sequence) } })
        try notes.expectSound()
        let other = try TestStore()
        try other.receive(from: notes)
        #expect(try other.store.digest() == notes.store.digest())
    }
}
