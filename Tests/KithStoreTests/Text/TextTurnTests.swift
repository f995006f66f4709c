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
    static let time = HybridTimestamp(milliseconds: 1_700_000_000_000)

    static func dot(_ sequence: UInt64, _ replica: UInt64 = 9) -> Dot {
        Dot(replica: ReplicaID(high: 9, low: replica), sequence: sequence)
    }

    static func change(_ dot: Dot, parents: [Dot] = [], _ operations: TextOperations) -> TextState.Change {
        TextState.Change(
            stamp: Stamp(dot: dot, timestamp: time), parents: parents, steps: operations.encodedSteps, inserted: operations.encodedText)
    }

    /// Insertions at the beginning of page 1 of which none knows another.
    static func concurrent(_ sequences: ClosedRange<UInt64>, _ replica: UInt64 = 9) -> [TextState.Change] {
        sequences.map { change(dot($0, replica), [.insert("\($0 % 10)", at: 0)]) }
    }

    /// Insertions that follow one another.
    static func chain(_ sequences: ClosedRange<UInt64>, _ replica: UInt64 = 9) -> [TextState.Change] {
        sequences.map { number in
            change(
                dot(number, replica), parents: number > 1 ? [dot(number - 1, replica)] : [],
                [.insert("\(number % 10)", at: Int(number) - 1)])
        }
    }

    static func slice(_ changes: [TextState.Change], last: Dot? = nil, to store: TextStore) throws -> Slice {
        let vector = VersionVector(changes.map(\.stamp.dot) + [last].compactMap(\.self))
        let text = TextState(touched: vector, present: vector.entries, changes: changes)
        let since = try store.store.vector()
        return Slice(
            since: since, vector: since.joined(with: vector), target: vector.entries.map { Head(dot: $0, timestamp: time) }, clock: time,
            isFirst: true, isLast: true, position: nil, rowsRemaining: 0,
            tables: [TableSchema(name: Array("page".utf8), columns: [ColumnKey("body", .text)])],
            rows: [RowPart(table: 0, id: rowID(1), state: RowState(cells: [.init(column: 0, cell: .text(text))]))])
    }

    static func budget(
        changes: Int, read: Int, readAside: Int = .max, changesAside: Int = 40, ofAll: Int = 100_000
    ) -> TextBudget {
        var budget = TextBudget()
        budget.changesOfAllMax = ofAll
        (budget.changesMax, budget.readMax, budget.readAsideMax, budget.changesAsideMax) = (changes, read, readAside, changesAside)
        return budget
    }

    /// Rows of tables that keep what waits.
    static let waiting = """
        SELECT (SELECT count(*) FROM kith_text_portion) + (SELECT count(*) FROM kith_text_turn) + (SELECT count(*) FROM kith_text_aside)
            + (SELECT count(*) FROM kith_text_wait)
        """

    private static let floods: [(String, [TextState.Change])] = [
        ("none knows another", concurrent(1...120)),
        ("each follows the one before", chain(1...120)),
        ("two branches", chain(1...60, 8) + chain(1...60, 9)),
        ("in any order", (concurrent(1...60, 7) + chain(1...60, 8)).shuffled()),
    ]

    @Test(arguments: floods.indices, [Backend.memory, .pool])
    func `a flood is taken in portions, and comes to what it comes to at once`(index: Int, backend: Backend) throws {
        let (name, changes) = Self.floods[index]
        let whole = try TextStore(1)
        _ = try whole.store.apply(try Self.slice(changes, to: whole))
        let expected = try #require(try whole.body())
        #expect(expected.unicodeScalars.count == 120, "\(name)")
        // Each portion in memory, and one of each flood in a file; a long run tries all.
        for (place, (portion, read)) in [(10, 1_000_000), (10, 30), (1, 0), (119, 0)].enumerated()
        where Soak.isAsked || backend == .memory || place == index {
            let store = try TextStore(1, backend, budget: Self.budget(changes: portion, read: read))
            let commits = Commits()
            store.inner.database.add(transactionObserver: commits, extent: .databaseLifetime)
            _ = try store.store.apply(try Self.slice(changes, to: store))
            #expect(try store.body() == expected, "\(name), \(portion), \(read)")
            #expect(commits.count >= 120 / portion, "\(name), \(portion), \(read)")
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
}
