import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithText
import Synchronization
import TestSupport
import Testing

/// Texts that are mended after a comparison: in portions, too.
extension TextTurnTests {
    /// All that a store holds, as it is sent to mend another one.
    private static func frame(_ store: TextStore) throws -> Slice {
        let result = try store.store.perform(.readRows(DigestRange(), at: try store.store.vector()))
        guard case .rows(let slice) = result else { throw StoreError(.failed, "\(result)") }
        return slice
    }

    /// What each transaction writes.
    private final class Writes: TransactionObserver {
        private(set) var rows: [Int] = []
        /// How many portions of changes wait more than before it.
        private(set) var portions: [Int] = []
        private var (rowCount, portionCount) = (0, 0)

        init(_ store: TextStore) {
            store.inner.database.writeWithoutTransaction(note)
            (rows, portions) = ([], [])
            store.inner.database.add(transactionObserver: self, extent: .databaseLifetime)
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}
        func databaseDidCommit(_ db: Database) { note(db) }

        private func note(_ db: Database) {
            rows.append(db.totalChangesCount - rowCount)
            rowCount = db.totalChangesCount
            let count = (try? Int.fetchOne(db, sql: "SELECT count(*) FROM kith_text_portion")) ?? -1
            portions.append(count - portionCount)
            portionCount = count
        }
    }

    /// Stores that know the same, and of which the second one differs: pages with 300 changes in all, and titles.
    private static func differing(
        rows: UInt64, _ damage: String, textIsHere: Bool = true, budget: TextBudget, _ backend: Backend = .memory
    ) throws -> (TextStore, TextStore) {
        let (whole, damaged) = (try TextStore(1), try TextStore(2, backend, budget: budget))
        for row in 1...rows {
            let changes = Self.chain(1...300 / rows, 100 + row)
            for (store, changes) in [(whole, changes), (damaged, textIsHere ? changes : [])] {
                var slice = try Self.slice(changes, last: Self.dot(300 / rows, 100 + row), to: store)
                slice.rows[0].id = rowID(row)
                _ = try store.store.apply(slice)
            }
        }
        try whole.inner.execute("UPDATE page SET title = 'a page'")
        try damaged.receive(from: whole)
        try VerificationTests.damage(damaged.inner, damage)
        return (whole, damaged)
    }

    @Test(
        arguments: [1, 10] as [UInt64],
        [("DELETE FROM page", true), ("UPDATE page SET title = 'x'", false)] as [(String, Bool)])
    func `texts that are missing are mended in portions, and shown at once`(rows: UInt64, damage: (sql: String, textIsHere: Bool)) throws {
        let (whole, store) = try Self.differing(
            rows: rows, damage.sql, textIsHere: damage.textIsHere, budget: Self.budget(changes: 5, read: 1_000, ofAll: 30))
        let writes = Writes(store)
        guard case .mended(_, let changed) = try store.store.perform(.mend(DigestRange(), with: try Self.frame(whole))) else {
            Issue.record("Nothing was mended.")
            return
        }
        // Thirty changes are six portions.
        #expect(writes.portions.count >= 10 && writes.portions.allSatisfy { $0 <= 6 }, "\(writes.portions)")
        for row in 1...rows {
            #expect(try store.body(row: row) == whole.body(row: row))
            #expect(try store.body(row: row)?.unicodeScalars.count == Int(300 / rows))
        }
        #expect(try store.count(Self.waiting) == 0)
        #expect(try store.store.refusedTextChanges().isEmpty)
        if damage.textIsHere {
            #expect(changed.count == rows)
            #expect(try store.store.recomputedDigest() == whole.store.recomputedDigest())
        }
        try store.expectSound()
    }

    @Test func `a text that is the same on both sides is left alone when its row is mended`() throws {
        let (whole, store) = try Self.differing(
            rows: 1, "UPDATE page SET title = 'A'", budget: Self.budget(changes: 5, read: 1_000, ofAll: 30))
        let (writes, body) = (Writes(store), try store.body())
        guard case .mended(_, let changed) = try store.store.perform(.mend(DigestRange(), with: try Self.frame(whole))) else {
            Issue.record("Nothing was mended.")
            return
        }
        #expect(changed.count == 1)
        #expect(writes.rows.reduce(0, +) < 20, "\(writes.rows)")
        #expect(try store.body() == body)
        #expect(try store.count(Self.waiting) == 0)
        try store.expectSound()
    }

    @Test func `a text of which two stores were told different things stands there once, and what only one was told beside it`() throws {
        let budget = Self.budget(changes: 10, read: 1_000, ofAll: 300)
        let stores = (try TextStore(1, budget: budget), try TextStore(2, budget: budget))
        let changes = Self.chain(1...300)
        let others = changes.map { change in
            var change = change
            change.inserted = Array("A".utf8)
            return change
        }
        _ = try stores.0.store.apply(try Self.slice(changes, to: stores.0))
        _ = try stores.1.store.apply(try Self.slice(others, to: stores.1))
        let frames = (try Self.frame(stores.0), try Self.frame(stores.1))
        let texts = (try stores.0.body(), try stores.1.body())
        #expect(try stores.0.store.perform(.mend(DigestRange(), with: frames.1)).hasMended)
        _ = try stores.1.store.perform(.mend(DigestRange(), with: frames.0))
        // Of two changes the greater one stays.
        #expect(try stores.1.body() == texts.1)
        let (body, told) = (try #require(try stores.0.body()), try #require(texts.0))
        #expect(body.count == 600 && body.contains(told))
        #expect(body.count { $0 == "A" } == 300)
        try stores.1.receive(from: stores.0)
        #expect(try stores.1.body() == body)
        for store in [stores.0, stores.1] {
            #expect(try store.count(Self.waiting) == 0)
            #expect(try store.store.recomputedDigest() == stores.0.store.recomputedDigest())
            try store.expectSound()
        }
    }

    /// Damages a file behind the store's back once the store has committed.
    private final class Damage: TransactionObserver {
        private(set) var error: (any Error)?
        private let path: String
        private var sql: String?

        init(_ store: TextStore, _ sql: String) {
            (path, self.sql) = (store.inner.path, sql)
            store.inner.database.add(transactionObserver: self, extent: .databaseLifetime)
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}

        func databaseDidCommit(_ db: Database) {
            guard let sql else { return }
            self.sql = nil
            do { try VerificationTests.damage(DatabaseQueue(path: path), sql) } catch { self.error = error }
        }
    }

    @Test func `a row that goes while others are mended comes back with its whole text`() throws {
        let (whole, store) = try Self.differing(
            rows: 2, "DELETE FROM page WHERE rowid = 1; UPDATE page SET title = 'A' WHERE rowid = 2",
            budget: Self.budget(changes: 5, read: 1_000, ofAll: 30), .pool)
        let damage = Damage(store, "DELETE FROM page WHERE rowid = 2")
        for _ in 1...2 {
            _ = try store.store.perform(.mend(DigestRange(), with: try Self.frame(whole)))
            // A later comparison finds that a row is missing, but not that changes of its text are.
            for row in 1...2 as ClosedRange<UInt64> where try store.exists(row: row) {
                #expect(try store.body(row: row) == whole.body(row: row))
            }
            try whole.receive(from: store)
        }
        #expect(damage.error == nil)
        for row in 1...2 as ClosedRange<UInt64> { #expect(try store.body(row: row) == whole.body(row: row)) }
        #expect(try store.body(row: 2)?.unicodeScalars.count == 150)
        try store.expectSound()
    }

    @Test(arguments: 0..<4) func `a text that is mended while the app saves is whole in the end`(attempt: Int) throws {
        let (whole, store) = try Self.differing(
            rows: 2, "DELETE FROM page WHERE rowid = 1", budget: Self.budget(changes: 5, read: 1_000, ofAll: 10), .pool)
        nonisolated(unsafe) let saver = store
        let thread = Thread {
            Thread.sleep(forTimeInterval: 0.003 * Double(attempt))
            try? saver.inner.execute("UPDATE page SET title = 'own'")
        }
        thread.start()
        let first = try store.store.perform(.mend(DigestRange(), with: try Self.frame(whole)))
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        #expect(try store.count("SELECT count(*) FROM page WHERE title = 'own'") >= 1)
        // Both know the same again.
        try whole.receive(from: store)
        let second = try store.store.perform(.mend(DigestRange(), with: try Self.frame(whole)))
        #expect(first.hasMended != second.hasMended)
        #expect(try store.body() == whole.body())
        #expect(try store.body()?.unicodeScalars.count == 150)
        #expect(try store.count(Self.waiting) == 0)
        #expect(try store.store.recomputedDigest() == whole.store.recomputedDigest())
        try store.expectSound()
    }
}
