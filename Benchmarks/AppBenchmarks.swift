import Foundation
import GRDB
import Kith
import KithStore
import KithSync

/// What an app gets beside its own queries: live lists, journals, snapshots.
enum AppBenchmarks {
    struct Item: Codable, FetchableRecord, PersistableRecord, Identifiable, Sendable {
        var id: UUID
        var title: String
        var place: Int
        static let databaseTableName = "item"
    }

    /// A store in a file of its own.
    private final class Store {
        let folder: URL
        let pool: DatabasePool
        let store: SyncedDatabase

        init(journal: TrackedTable.Journal? = nil) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "kith-app-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var configuration = Configuration()
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
            pool = try DatabasePool(path: folder.appending(path: "app.sqlite").path, configuration: configuration)
            try pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', place INTEGER NOT NULL DEFAULT 0);
                        CREATE INDEX item_by_place ON item (place, id);
                        """)
            }
            store = try SyncedDatabase(pool, tables: [TrackedTable("item", journal: journal)])
        }

        deinit {
            store.close()
            try? pool.close()
            try? FileManager.default.removeItem(at: folder)
        }

        func fill(_ count: Int) throws -> [UUID] {
            let ids = (0..<count).map { _ in UUID() }
            try pool.write { db in
                for (place, id) in ids.enumerated() { try Item(id: id, title: "Item \(place)", place: place).insert(db) }
            }
            return ids
        }
    }

    // MARK: Lists

    /// One changed row in a long list: from the commit on, until the list and its difference are there.
    static func listChange(rounds: Int, count: Int) throws -> [Line] {
        let store = try Store()
        let ids = try store.fill(count)
        let other = try DatabasePool(path: store.folder.appending(path: "app.sqlite").path)
        let sibling = try SyncedDatabase(other, tables: [TrackedTable("item")])
        defer { sibling.close() }
        let list = SteppedLiveChanges(store.store, Item.order(Column("place")))
        let first = try seconds { _ = try list.next() }
        var times: [String: [Double]] = [:]
        for number in 0..<rounds * 40 {
            for (kind, sql, pool) in [
                ("its title", "UPDATE item SET title = title || 'x'", store.pool),
                ("its place", "UPDATE item SET place = place + 1000", store.pool),
                ("its title by another process", "UPDATE item SET title = title || 'y'", other),
                ("its place by another process", "UPDATE item SET place = place + 1000", other),
            ] {
                try pool.write { try $0.execute(sql: sql + " WHERE id = ?", arguments: [ids[number * 7 % count]]) }
                let took = try seconds {
                    let change = try list.next()
                    precondition(change?.rows.count == count)
                }
                times[kind, default: []].append(took)
            }
        }
        return times.sorted { $0.key < $1.key }.map { kind, values in
            Line(
                name: "A1", work: "one row of a live list of \(count) changes \(kind)", ours: format(Sample(values: values).median),
                limit: "all rows: \(format(first))", ratio: nil, goal: "≤ 1 ms")
        }
    }

    /// Merges of one row each at 1,000 a second, while a list of all rows is followed.
    static func merges(count: Int) async throws -> Line {
        let (here, there) = (try Store(), try Store())
        let ids = try there.fill(count)
        guard case .applied = try here.store.apply(try there.store.delta(since: here.store.vector())) else { throw Failure() }
        let merges = min(5_000, count / 2)
        let slices = try (0..<merges).map { number in
            let before = try there.store.vector()
            try there.pool.write { db in
                try db.execute(sql: "UPDATE item SET place = -1, title = 'last \(number)' WHERE id = ?", arguments: [ids[number]])
            }
            return try there.store.delta(since: before)
        }
        let store = here.store
        let follower = Task {
            var changes = 0
            for try await change in store.live(Item.order(Column("place"))) {
                changes += 1
                if change.rows.count(where: { $0.place == -1 }) == merges { return (changes, ContinuousClock.now) }
            }
            return (changes, ContinuousClock.now)
        }
        try await Task.sleep(for: .milliseconds(500))
        let start = ContinuousClock.now
        for (number, slice) in slices.enumerated() {
            let due = start.advanced(by: .milliseconds(number))
            if due > .now { try await Task.sleep(until: due) }
            guard case .applied = try here.store.apply(slice) else { throw Failure() }
        }
        let applied = ContinuousClock.now
        let (changes, end) = try await follower.value
        let rate = Double(merges) / (start.duration(to: applied) / .seconds(1))
        return Line(
            name: "A2", work: "\(merges) merges at 1,000 a second, a list of \(count) followed",
            ours: "\(Int(rate)) a second in \(changes) changes; up to date after "
                + format(max(0, applied.duration(to: end) / .seconds(1))),
            limit: "", ratio: nil, goal: "≥ 1,000 a second, not behind")
    }

    private struct Failure: Error {}

    // MARK: Journals

    static func journal(rounds: Int, count: Int) throws -> [Line] {
        func update(_ journal: TrackedTable.Journal?, isSingle: Bool) throws -> Double {
            let store = try Store(journal: journal)
            let ids = try store.fill(count)
            let sql = "UPDATE item SET title = ? WHERE id = ?"
            return try processorSeconds {
                if isSingle {
                    for id in ids { try store.pool.write { try $0.cachedStatement(sql: sql).execute(arguments: ["new title", id]) } }
                } else {
                    try store.pool.write { db in
                        for id in ids { try db.cachedStatement(sql: sql).execute(arguments: ["new title", id]) }
                    }
                }
            }
        }
        return try [true, false].map { isSingle in
            let result = try compare(rounds, { try update(.days(30), isSingle: isSingle) }, { try update(nil, isSingle: isSingle) })
            return Line(
                name: "A3",
                work: "update \(count) rows\(isSingle ? ", one per transaction," : " in one transaction") with a journal, processor time",
                ours: format(result.ours.median), limit: "without: " + format(result.limit.median), ratio: result.ratio, goal: "≤ 1.3")
        }
    }

    // MARK: Snapshots

    /// From a commit to the file that shows it.
    static func snapshot(rounds: Int) async throws -> [Line] {
        let (here, there) = (try Store(), try Store())
        let other = try DatabasePool(path: here.folder.appending(path: "app.sqlite").path)
        let sibling = try SyncedDatabase(other, tables: [TrackedTable("item")])
        let file = here.folder.appending(path: "count.snapshot")
        let writer = here.store.snapshot("count", to: file) { db in try Item.fetchCount(db) }
        let running = Task { await writer.run() }
        var count = 0
        func latency(_ commit: () throws -> Void) async throws -> Double {
            count += 1
            try await Task.sleep(for: .milliseconds(60))
            try commit()
            let start = ContinuousClock.now
            while SnapshotReader(file).read(Int.self).snapshot?.content != count { try await Task.sleep(for: .microseconds(300)) }
            return start.duration(to: .now) / .seconds(1)
        }
        func insert(_ pool: DatabasePool) throws { try pool.write { try Item(id: UUID(), title: "x", place: 0).insert($0) } }
        var lines: [Line] = []
        for kind in ["a commit of this process", "a commit of another process", "a merge"] {
            var times: [Double] = []
            for _ in 0..<rounds * 20 {
                times.append(
                    try await latency {
                        switch kind {
                        case "a merge":
                            let before = try there.store.vector()
                            try insert(there.pool)
                            _ = try here.store.apply(try there.store.delta(since: before))
                        case "a commit of this process": try insert(here.pool)
                        default: try insert(other)
                        }
                    })
            }
            let sample = Sample(values: times)
            lines.append(
                Line(
                    name: "A4", work: "from \(kind) to the snapshot's file",
                    ours: "\(format(sample.median)), 99 %: \(format(sample.quantile(0.99)))", limit: "", ratio: nil, goal: "≤ 100 ms"))
        }
        running.cancel()
        await running.value
        sibling.close()
        return lines
    }
}
