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

@Suite("Many changes of one text at once hold up other writes, or get lost")
struct TextTurnTests {
    private static let time = HybridTimestamp(milliseconds: 1_700_000_000_000)

    private static func dot(_ sequence: UInt64, _ replica: UInt64 = 9) -> Dot {
        Dot(replica: ReplicaID(high: 9, low: replica), sequence: sequence)
    }

    private static func change(_ dot: Dot, parents: [Dot] = [], _ operations: TextOperations) -> TextState.Change {
        TextState.Change(
            stamp: Stamp(dot: dot, timestamp: time), parents: parents, steps: operations.encodedSteps, inserted: operations.encodedText)
    }

    /// Insertions at the beginning of page 1 of which none knows another.
    private static func concurrent(_ sequences: ClosedRange<UInt64>, _ replica: UInt64 = 9) -> [TextState.Change] {
        sequences.map { change(dot($0, replica), [.insert("\($0 % 10)", at: 0)]) }
    }

    /// Insertions that follow one another.
    private static func chain(_ sequences: ClosedRange<UInt64>, _ replica: UInt64 = 9) -> [TextState.Change] {
        sequences.map { number in
            change(
                dot(number, replica), parents: number > 1 ? [dot(number - 1, replica)] : [],
                [.insert("\(number % 10)", at: Int(number) - 1)])
        }
    }

    private static func slice(_ changes: [TextState.Change], last: Dot? = nil, to store: TextStore) throws -> Slice {
        let vector = VersionVector(changes.map(\.stamp.dot) + [last].compactMap(\.self))
        let text = TextState(touched: vector, present: vector.entries, changes: changes)
        let since = try store.store.vector()
        return Slice(
            since: since, vector: since.joined(with: vector), target: vector.entries.map { Head(dot: $0, timestamp: time) }, clock: time,
            isFirst: true, isLast: true, position: nil, rowsRemaining: 0,
            tables: [TableSchema(name: Array("page".utf8), columns: [ColumnKey("body", .text)])],
            rows: [RowPart(table: 0, id: rowID(1), state: RowState(cells: [.init(column: 0, cell: .text(text))]))])
    }

    private static func budget(
        changes: Int, read: Int, readAside: Int = .max, changesAside: Int = 40, ofAll: Int = 100_000
    ) -> TextBudget {
        var budget = TextBudget()
        budget.changesOfAllMax = ofAll
        (budget.changesMax, budget.readMax, budget.readAsideMax, budget.changesAsideMax) = (changes, read, readAside, changesAside)
        return budget
    }

    /// Rows of tables that keep what waits.
    private static let waiting = """
        SELECT (SELECT count(*) FROM kith_text_portion) + (SELECT count(*) FROM kith_text_turn) + (SELECT count(*) FROM kith_text_aside)
            + (SELECT count(*) FROM kith_text_wait)
        """

    private static let floods: [(String, [TextState.Change])] = [
        ("none knows another", concurrent(1...300)),
        ("each follows the one before", chain(1...300)),
        ("two branches", chain(1...150, 8) + chain(1...150, 9)),
        ("in any order", (concurrent(1...150, 7) + chain(1...150, 8)).shuffled()),
    ]

    @Test(arguments: floods.indices, [Backend.memory, .pool])
    func `a flood is taken in portions, and comes to what it comes to at once`(index: Int, backend: Backend) throws {
        let (name, changes) = Self.floods[index]
        let whole = try TextStore(1)
        _ = try whole.store.apply(try Self.slice(changes, to: whole))
        let expected = try #require(try whole.body())
        #expect(expected.unicodeScalars.count == 300, "\(name)")
        // Each portion in memory, and one of each flood in a file; a long run tries all.
        for (place, (portion, read)) in [(10, 1_000_000), (10, 30), (1, 0), (299, 0)].enumerated()
        where Soak.isAsked || backend == .memory || place == index {
            let store = try TextStore(1, backend, budget: Self.budget(changes: portion, read: read))
            let commits = Commits()
            store.inner.database.add(transactionObserver: commits, extent: .databaseLifetime)
            _ = try store.store.apply(try Self.slice(changes, to: store))
            #expect(try store.body() == expected, "\(name), \(portion), \(read)")
            #expect(commits.count >= 300 / portion, "\(name), \(portion), \(read)")
            #expect(try store.count(Self.waiting) == 0)
            #expect(try store.store.refusedTextChanges().isEmpty)
            #expect(try store.store.digest() == whole.store.digest())
            #expect(try store.revisions().count == whole.revisions().count)
            try store.expectSound()
            // It goes on as any text does.
            try store.save(expected + "!")
            let other = try TextStore(2)
            #expect(try SessionPair(store.store, other.store).closings.isEmpty)
            #expect(try other.body() == expected + "!")
        }
    }

    private final class Commits: TransactionObserver, Sendable {
        private let state = Mutex(0)
        var count: Int { state.withLock(\.self) }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) { state.withLock { $0 += 1 } }
        func databaseDidRollback(_ db: Database) {}
    }

    @Test func `what waited for one change is taken in portions, too`() throws {
        let store = try TextStore(1, budget: Self.budget(changes: 10, read: 30))
        try store.insert("")
        let first = Self.change(Self.dot(1), [.insert("first ", at: 0)])
        let followers = (2...200 as ClosedRange<UInt64>).map { Self.change(Self.dot($0), parents: [Self.dot(1)], [.insert("x", at: 6)]) }
        _ = try store.store.apply(try Self.slice(followers, to: store))
        #expect(try store.body() == "")
        #expect(try store.store.refusedTextChanges().count == 199)
        _ = try store.store.apply(try Self.slice([first], last: Self.dot(200), to: store))
        #expect(try store.body() == "first " + String(repeating: "x", count: 199))
        #expect(try store.count(Self.waiting) == 0)
        try store.expectSound()
    }

    /// Of two devices that were apart for long, each change is read for several purposes.
    @Test(arguments: [(600, true), (299, false)])
    func `a text with as many older changes as may be read shows what comes`(readAside: Int, isShown: Bool) throws {
        let store = try TextStore(1, budget: Self.budget(changes: 10, read: 20, readAside: readAside))
        try store.insert("")
        for changes in [Self.chain(1...300, 8), Self.chain(1...300, 9)] {
            for start in stride(from: 0, to: 300, by: 30) {
                _ = try store.store.apply(try Self.slice(Array(changes[start..<start + 30]), to: store))
                try store.store.takeTextTurns()
            }
        }
        #expect(try store.store.refusedTextChanges().isEmpty == isShown)
        #expect(try (store.body()?.unicodeScalars.count == 600) == isShown)
        try store.expectSound()
    }

    @Test(arguments: [(50, 1_000, .max), (.max, 60, .max), (.max, 1_000, 50)] as [(Int, Int, Int)])
    func `a text of which too much changed at once is passed on, can be edited, and is merged by a store that may read more`(
        readAside: Int, heads: Int, steps: Int
    ) throws {
        let folder = try TemporaryFolder()
        var little = Self.budget(changes: 10, read: 20, readAside: readAside)
        (little.headsMax, little.stepsMax, little.stepsAsideMax) = (heads, min(steps, 40), steps)
        var store = try TextStore(1, .queue, folder: folder, budget: little)
        try store.insert("own text")
        _ = try store.store.apply(try Self.slice(Self.concurrent(1...300), to: store))
        let shown = try #require(try store.body())
        #expect(shown.unicodeScalars.count < 300 && shown.contains("own text"))
        // Those that are not shown are named, and nothing is broken.
        #expect(try store.store.refusedTextChanges().count == 308 - shown.unicodeScalars.count)
        #expect(try store.store.refusedTextChanges().allSatisfy { $0.reason == nil && $0.dot.replica == Self.dot(1).replica })
        try store.expectSound()
        try store.save(shown + ", edited")
        let (waiting, count) = (
            try #require(store.store.size().shares.first { $0.author == .unknown }), try store.store.refusedTextChanges().count
        )
        #expect(waiting.hiddenBytes > 15 * count)
        // A store that may read more gets all of it from this one.
        let other = try TextStore(2)
        #expect(try SessionPair(store.store, other.store).closings.isEmpty)
        #expect(try other.body()?.unicodeScalars.count == 300 + "own text, edited".count)
        #expect(try other.store.refusedTextChanges().isEmpty)
        // It is tried again by a process that may read more.
        store.store.close()
        store = try TextStore(1, .queue, folder: folder)
        try store.store.takeTextTurns()
        #expect(try store.body() == other.body())
        #expect(try store.count(Self.waiting) == 0)
        #expect(try store.store.digest() == other.store.digest())
        try store.expectSound()
    }

    @Test(arguments: [1, 40, 299, 300]) func `what comes for many texts in one slice is taken in portions, too`(ofAll: Int) throws {
        let (whole, store) = (try TextStore(1), try TextStore(1, budget: Self.budget(changes: 20, read: 1_000, ofAll: ofAll)))
        var slice = try Self.slice(Self.chain(1...30, 100), to: store)
        for row in 2...10 as ClosedRange<UInt64> {
            var next = try Self.slice(Self.chain(1...30, 100 + row), to: store)
            next.rows[0].id = rowID(row)
            slice.rows += next.rows
            slice.vector.join(next.vector)
            slice.target += next.target
        }
        let commits = Commits()
        store.inner.database.add(transactionObserver: commits, extent: .databaseLifetime)
        for target in [whole, store] { _ = try target.store.apply(slice) }
        for row in 1...10 as ClosedRange<UInt64> {
            #expect(try store.body(row: row) == whole.body(row: row))
            #expect(try store.body(row: row)?.unicodeScalars.count == 30)
        }
        #expect(commits.count >= 300 / max(ofAll, 20))
        #expect(try store.count(Self.waiting) == 0)
        #expect(try store.store.digest() == whole.store.digest())
        try store.expectSound()
    }

    private final class Saving: Sendable {
        let isOver = Mutex(false)
        let saves = Mutex(0)
        let failure = Mutex<String?>(nil)
    }

    @Test func `a user who saves while a flood is merged loses nothing, and all stores come to one text`() throws {
        let store = try TextStore(1, .pool, budget: Self.budget(changes: 5, read: 10, changesAside: 60))
        try store.insert("begin")
        let flood = try Self.slice(Self.chain(1...150, 8) + Self.concurrent(1...150, 9), to: store)
        let state = Saving()
        nonisolated(unsafe) let saver = store
        let thread = Thread {
            var saves = 0
            while saves < 5 || !state.isOver.withLock(\.self), saves < 500 {
                do {
                    let base = try saver.version()
                    try saver.save(try saver.body().map { $0 + "+" } ?? "", base: base)
                } catch {
                    state.failure.withLock { $0 = "\(error)" }
                    break
                }
                saves += 1
            }
            state.saves.withLock { $0 = saves }
        }
        thread.start()
        _ = try store.store.apply(flood)
        state.isOver.withLock { $0 = true }
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        #expect(state.failure.withLock(\.self) == nil)
        let saves = state.saves.withLock(\.self)
        try store.store.takeTextTurns()
        let body = try #require(try store.body())
        // A version that is read a moment before its text may lack some of it, which is then inserted twice; nothing is ever lost.
        #expect(body.count { $0 == "+" } >= saves && body.unicodeScalars.count >= 305)
        #expect(try store.count(Self.waiting) == 0)
        try store.expectSound()
        let other = try TextStore(2)
        #expect(try SessionPair(store.store, other.store).closings.isEmpty)
        #expect(try other.body() == body)
        try other.expectSound()
    }

    @Test(arguments: 0..<UInt64(Soak.count(5, soaking: 12)))
    func `stores that take different portions come to one text`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let budgets = [Self.budget(changes: 1, read: 0), Self.budget(changes: 3, read: 5, changesAside: 7), TextBudget()]
        let stores = try budgets.enumerated().map { try TextStore(UInt64($0.offset + 1), budget: $0.element) }
        try stores[0].insert("begin")
        for store in stores.dropFirst() { try store.receive(from: stores[0]) }
        for _ in 0..<60 {
            let store = stores[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<7:
                var text = Array(try store.body() ?? "")
                let place = Int.random(in: 0...text.count, using: &random)
                if Bool.random(using: &random) || place == text.count {
                    text.insert(contentsOf: "abc", at: place)
                } else {
                    text.remove(at: place)
                }
                try store.exists() ? store.save(String(text)) : store.insert(String(text))
            case 7 where try store.exists(): try store.delete()
            default: try store.receive(from: stores[Int.random(in: 0..<3, using: &random)])
            }
        }
        for _ in 0..<2 {
            for store in stores { for other in stores where other.inner !== store.inner { try store.receive(from: other) } }
        }
        for store in stores {
            #expect(try store.body() == stores[0].body())
            #expect(try store.store.digest() == stores[0].store.digest())
            #expect(try store.count(Self.waiting) == 0)
            try store.expectSound()
        }
    }

    // MARK: Mending

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
