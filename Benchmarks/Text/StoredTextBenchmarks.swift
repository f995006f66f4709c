import Foundation
import GRDB
import Kith
import KithText
import Synchronization

/// Texts in a store: what a history takes on disk, what a save costs, and what reading costs beside a history.
enum StoredTextBenchmarks {
    /// The whole history of a paper that was saved now and then, through a real store, packed.
    static func historyOnDisk() throws -> [Line] {
        let saves = try Trace(Trace.paper).savedTexts(every: 20)
        let time = WallClock()
        let (kept, bare) = (try PagesDatabase(.text, clock: time.read), try PagesDatabase(.text, clock: time.read))
        let id = RowID(high: 1, low: 1)
        try kept.insert("", id: id)
        for text in saves {
            time.typeForAWhile()
            try kept.save(text, id: id)
        }
        try bare.insert(saves.last ?? "", id: id)
        let grown = try kept.sidecarBytes() - bare.sidecarBytes()
        let packing = try seconds { try kept.store?.packTexts() }
        let packed = try kept.sidecarBytes() - bare.sidecarBytes()
        let work = "automerge-paper, \(saves.count) saves of 20 edits each, in SQLite"
        return [
            Line(
                name: "T8", work: "\(work): pages of all tables and indexes beside the app's, above a text without history",
                ours: "\(packed) bytes", limit: "", ratio: nil, goal: "≤ 120 kB"),
            Line(name: "T8", work: "\(work): before the last packing", ours: "\(grown) bytes", limit: "", ratio: nil, goal: "–"),
            Line(name: "T8", work: "\(work): the last packing", ours: format(packing), limit: "", ratio: nil, goal: "–"),
        ]
    }

    /// Reading bodies by id where each has a long history, against a plain table.
    static func reads(rounds: Int) throws -> Line {
        let ids = (1...500).map { RowID(high: UInt64($0), low: 7) }
        let (tracked, plain) = (try PagesDatabase(.text), try PagesDatabase(.plain))
        for id in ids {
            var body = String(repeating: "What was written first. ", count: 80)
            for pages in [tracked, plain] { try pages.insert(body, id: id) }
            for number in 1...100 {
                body += "More \(number). "
                for pages in [tracked, plain] { try pages.save(body, id: id) }
            }
        }
        func run(_ pages: PagesDatabase) throws -> Double {
            try seconds { for _ in 0..<10 { try pages.read(ids) } }
        }
        let result = try compare(rounds, { try run(tracked) }, { try run(plain) })
        return Line(
            name: "T9", work: "5,000 bodies by id, each with 101 changes", ours: format(result.ours.median),
            limit: format(result.limit.median), ratio: result.ratio, goal: "1.0")
    }

    /// Saving a text that grows while it is typed, as a text, as a register, and in a plain table.
    static func typedSaves(rounds: Int) throws -> [Line] {
        let saves = try Trace(Trace.paper).savedTexts(every: 20)
        let id = RowID(high: 1, low: 1)
        return try [("2 kB", 300..<600), ("60 kB", 7_000..<7_300)].map { name, range in
            func run(_ kind: PagesDatabase.Kind) throws -> Double {
                let pages = try PagesDatabase(kind)
                try pages.insert(saves[range.lowerBound - 1], id: id)
                return try seconds { for text in saves[range] { try pages.save(text, id: id) } } / Double(range.count)
            }
            var samples: [Sample] = [Sample(values: []), Sample(values: []), Sample(values: [])]
            for _ in 0..<rounds {
                for (index, kind) in [PagesDatabase.Kind.text, .register, .plain].enumerated() {
                    samples[index].values.append(try run(kind))
                }
            }
            return Line(
                name: "T10", work: "a save of a text of about \(name), 20 edits later: as a text; limit: as a register",
                ours: format(samples[0].median), limit: "\(format(samples[1].median)); plain \(format(samples[2].median))",
                ratio: samples[0].median / samples[1].median, goal: "–")
        }
    }
}

/// A wall clock by which somebody types two to ten characters a second.
private final class WallClock: Sendable {
    private let state = Mutex((milliseconds: Int64(1_700_000_000_000), random: SplitMix64(seed: 8)))

    var read: @Sendable () -> HybridTimestamp {
        { [self] in state.withLock { HybridTimestamp(milliseconds: $0.milliseconds) } }
    }

    func typeForAWhile() {
        state.withLock { $0.milliseconds += 2_000 + Int64($0.random.next() % 8_000) }
    }
}

/// A table of pages in a file of its own.
private final class PagesDatabase {
    enum Kind { case text, register, plain }

    private let folder: URL
    private let pool: DatabasePool
    let store: SyncedDatabase?

    init(_ kind: Kind, clock: @escaping @Sendable () -> HybridTimestamp = SyncedDatabase.Options.systemClock) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        pool = try DatabasePool(path: folder.appending(path: "pages.sqlite").path)
        try pool.write { try $0.execute(sql: "CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, body TEXT)") }
        let table = TrackedTable("page", texts: kind == .text ? ["body"] : [])
        store = kind == .plain ? nil : try SyncedDatabase(pool, tables: [table], options: SyncedDatabase.Options(clock: clock))
    }

    deinit {
        store?.close()
        try? pool.close()
        try? FileManager.default.removeItem(at: folder)
    }

    func insert(_ body: String, id: RowID) throws {
        try pool.write {
            try $0.cachedStatement(sql: "INSERT INTO page (body, id) VALUES (?, ?)").execute(arguments: [body, Data(id.bytes)])
        }
    }

    func save(_ body: String, id: RowID) throws {
        try pool.write {
            try $0.cachedStatement(sql: "UPDATE page SET body = ? WHERE id = ?").execute(arguments: [body, Data(id.bytes)])
        }
    }

    func read(_ ids: [RowID]) throws {
        try pool.read { db in
            let select = try db.cachedStatement(sql: "SELECT body FROM page WHERE id = ?")
            for id in ids {
                let body = try String.fetchOne(select, arguments: [Data(id.bytes)])
                precondition(body?.isEmpty == false)
            }
        }
    }

    /// Bytes of the pages of all tables and indexes that Kith keeps.
    func sidecarBytes() throws -> Int {
        try pool.read { db in
            try Int.fetchOne(
                db,
                sql: """
                    SELECT sum(s.pgsize) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name
                    WHERE s.aggregate = TRUE AND m.tbl_name LIKE 'kith%'
                    """) ?? 0
        }
    }
}
