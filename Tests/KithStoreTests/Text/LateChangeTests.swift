import Foundation
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithText
import Synchronization
import TestSupport
import Testing

/// Honest devices send what a new life of a row begins after before it, or have collected it; after a lie they mend what they lack.
@Suite("What a restart replaces comes after it, and two devices show different texts, or one shows no more changes")
struct LateChangeTests {
    private static func stamp(_ sequence: UInt64) -> Stamp { BadTextTests.stamp(sequence) }

    private static func apply(_ changes: [TextState.Change], last: UInt64, to store: TextStore) throws {
        guard case .applied = try store.store.apply(try BadTextTests.slice(changes, last: last, to: store)) else {
            throw StoreError(.failed, "refused")
        }
        try store.store.takeTextTurns()
    }

    private static func restart(
        _ sequence: UInt64, parents: [UInt64], replacing count: Int, _ text: String
    ) -> TextState.Change {
        var restart = BadTextTests.change(
            sequence, parents: parents.map { stamp($0).dot }, [.delete(count: count, at: 0), .insert(text, at: 0)])
        restart.replacedScalars = count
        return restart
    }

    private static let changes = [
        BadTextTests.change(1, [.insert("ab", at: 0)]),
        BadTextTests.change(2, parents: [stamp(1).dot], [.insert("c", at: 2)]),
        BadTextTests.change(3, [.insert("x", at: 0)]),
        restart(4, parents: [2, 3], replacing: 4, "new"),
        BadTextTests.change(5, parents: [stamp(4).dot], [.insert("er", at: 3)]),
    ]

    /// Of the whole budget, and of so little that all is made beside the writers.
    private static let budgets: [TextBudget] = [TextBudget(), small(1), small(2)]

    private static func small(_ count: Int) -> TextBudget {
        var budget = TextBudget()
        (budget.changesMax, budget.changesOfAllMax, budget.readMax, budget.changesAsideMax) = (count, 3, 2, 3)
        return budget
    }

    @Test(arguments: budgets.indices)
    func `the text is the same in any order`(index: Int) throws {
        var digests: Set<StoreDigest> = []
        // Every tenth order, beginning with another one for each budget; a long run tries all.
        for (number, order) in Self.orders(of: Array(Self.changes.indices)).enumerated() where Soak.isAsked || number % 10 == index {
            let store = try TextStore(1, budget: Self.budgets[index])
            try store.insert("")
            for index in order { try Self.apply([Self.changes[index]], last: 5, to: store) }
            #expect(try store.body() == "newer", "\(order)")
            #expect(try store.store.refusedTextChanges().isEmpty, "\(order)")
            #expect(try store.count(Self.besides) == 0, "\(order)")
            try store.expectSound()
            digests.insert(try store.store.recomputedDigest())
            // What is sent on is what was sent.
            let other = try TextStore(2)
            try other.receive(from: store)
            #expect(try other.body() == "newer", "\(order)")
        }
        #expect(digests.count == 1)
    }

    private static let besides = "SELECT count(*) FROM kith_text WHERE doc < 0"

    @Test(arguments: budgets.indices)
    func `what was built on a restart that lied about its past stays, and the text goes on`(index: Int) throws {
        let store = try TextStore(1, budget: Self.budgets[index])
        try store.insert("")
        try Self.apply([Self.restart(2, parents: [1], replacing: 9, "new")], last: 2, to: store)
        #expect(try store.body() == "new")
        try store.save("new and mine")
        try Self.apply([BadTextTests.change(1, [.insert("ab", at: 0)])], last: 2, to: store)
        #expect(try store.body() == "new and mine")
        let refused = try store.store.refusedTextChanges()
        #expect(refused.map(\.dot) == [Self.stamp(1).dot] && refused.allSatisfy { $0.reason != nil })
        try store.expectSound()
        try store.save("new, mine, and more")
        // What others write is shown as before.
        try Self.apply([BadTextTests.change(3, parents: [Self.stamp(2).dot], [.insert("theirs, ", at: 0)])], last: 3, to: store)
        #expect(try store.body() == "theirs, new, mine, and more")
        #expect(try store.count(Self.besides) == 0)
        try store.expectSound()
    }

    @Test func `a history that is too long to be made anew goes on without what came late`() throws {
        var budget = Self.small(2)
        budget.readAsideMax = 3
        let store = try TextStore(1, budget: budget)
        try store.insert("")
        let late = [Self.changes[0], Self.changes[2]]
        try Self.apply([Self.restart(4, parents: [1, 3], replacing: 3, "new"), Self.changes[4]], last: 5, to: store)
        for text in ["newer.", "newer..", "newer..."] { try store.save(text) }
        try Self.apply(late, last: 5, to: store)
        #expect(try store.body() == "newer...")
        #expect(Set(try store.store.refusedTextChanges().map(\.dot)) == Set(late.map(\.stamp.dot)))
        let other = try TextStore(2)
        try other.receive(from: store)
        try other.save("even newer...")
        try store.receive(from: other)
        #expect(try store.body() == "even newer...")
        try store.expectSound()
    }

    @Test(arguments: [1, 2]) func `what a killed process had begun to make anew is dropped`(count: Int) throws {
        let store = try TextStore(1, budget: Self.small(count))
        try store.insert("")
        try Self.apply(Array(Self.changes[3...]), last: 5, to: store)
        try store.inner.execute(
            """
            INSERT INTO kith_text (tbl, id, col, doc, heads, next, applied, staging)
                SELECT tbl, id, col, ~doc, x'00', 0, x'00', 0 FROM kith_text;
            INSERT INTO kith_text_change (text, first, length, replica, sequence, timestamp, steps, inserted)
                SELECT number, 7, 1, 0, 1, 1, x'ff', x'ff' FROM kith_text WHERE doc < 0;
            """)
        try store.expectSound()
        try Self.apply(Array(Self.changes[..<3]), last: 5, to: store)
        #expect(try store.body() == "newer")
        #expect(try store.count(Self.besides) == 0)
        #expect(try store.count("SELECT count(*) FROM kith_text_change WHERE text NOT IN (SELECT number FROM kith_text)") == 0)
        try store.expectSound()
    }

    @Test(arguments: 0..<4) func `a user who saves while a text is made anew loses nothing`(attempt: Int) throws {
        let store = try TextStore(1, .pool, budget: Self.small(1))
        try store.insert("")
        try Self.apply(Array(Self.changes[3...]), last: 5, to: store)
        nonisolated(unsafe) let saver = store
        let failures = Mutex<[String]>([])
        let thread = Thread {
            for number in 0..<10 {
                Thread.sleep(forTimeInterval: 0.002 * Double(attempt))
                do { try saver.save("newer" + String(repeating: "+", count: number + 1)) } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        thread.start()
        try Self.apply(Array(Self.changes[..<3]), last: 5, to: store)
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        try store.store.takeTextTurns()
        #expect(failures.withLock(\.self).isEmpty)
        #expect(try store.body() == "newer++++++++++")
        #expect(try store.store.refusedTextChanges().isEmpty)
        #expect(try store.count(Self.besides) == 0)
        try store.expectSound()
        let other = try TextStore(2)
        try other.receive(from: store)
        #expect(try other.body() == store.body())
    }

    private static func orders(of numbers: [Int]) -> [[Int]] {
        if numbers.isEmpty { return [[]] }
        return numbers.indices.flatMap { index in
            var rest = numbers
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }
}
