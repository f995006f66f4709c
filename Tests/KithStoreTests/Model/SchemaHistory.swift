import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

/// A random list of versions of an app's schema, each made from the one before by a migration step.
struct SchemaVersions {
    struct Column: Hashable {
        var name: String
        /// The name it had first.
        let first: String
        var isNotNull: Bool
        var fallback: String?

        var sql: String {
            "\(name) TEXT\(isNotNull ? " NOT NULL" : "")\(fallback.map { " DEFAULT '\($0)'" } ?? "")"
        }
    }

    struct Version {
        /// Those that are registers.
        var columns: [Column]
        /// The step that leads to it.
        var step: String

        var table: TrackedTable {
            let renamed = columns.filter { $0.name != $0.first }
            return TrackedTable(
                "note", sets: ["tags"], counters: ["views"], texts: ["body"],
                renamed: Dictionary(uniqueKeysWithValues: renamed.map { ($0.name, $0.first) }))
        }
    }

    private(set) var versions: [Version]
    /// Whether a column is dropped, so that not everybody keeps the same.
    private(set) var drops = false
    private var names = 0

    private static let kept = ["tags TEXT NOT NULL DEFAULT '[]'", "views INTEGER NOT NULL DEFAULT 0", "body TEXT"]

    init(steps: Int, _ generator: inout SplitMix64) {
        let columns = [
            Column(name: "title", first: "title", isNotNull: false, fallback: nil),
            Column(name: "color", first: "color", isNotNull: true, fallback: "red"),
        ]
        versions = [Version(columns: columns, step: Self.createSQL("note", columns, &generator))]
        for _ in 0..<steps { addStep(&generator) }
    }

    private static func createSQL(_ name: String, _ columns: [Column], _ generator: inout SplitMix64) -> String {
        let all = (["id BLOB PRIMARY KEY NOT NULL"] + columns.map(\.sql) + kept).shuffled(using: &generator)
        return "CREATE TABLE \(name) (\(all.joined(separator: ", ")));"
    }

    private mutating func addStep(_ generator: inout SplitMix64) {
        var columns = versions[versions.count - 1].columns
        let index = Int.random(in: 0..<columns.count, using: &generator)
        let step: String
        names += 1
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
            let isNotNull = Bool.random(using: &generator)
            let name = "c\(names)"
            let fallback = isNotNull || Bool.random(using: &generator) ? "d\(names)" : nil
            columns.append(Column(name: name, first: name, isNotNull: isNotNull, fallback: fallback))
            step = "ALTER TABLE note ADD COLUMN \(columns[columns.count - 1].sql)"
        case 2 where columns.count > 1:
            step = "ALTER TABLE note DROP COLUMN \(columns.remove(at: index).name)"
            drops = true
        case 3, 4:
            step = "ALTER TABLE note RENAME COLUMN \(columns[index].name) TO r\(names)"
            columns[index].name = "r\(names)"
        case 5:
            step = "UPDATE note SET \(columns[index].name) = upper(\(columns[index].name))"
        default:
            step = rebuild(&columns, index, &generator)
        }
        versions.append(Version(columns: columns, step: step))
    }

    /// Builds the table anew, with a column that may not be NULL any more, or may be so now.
    private mutating func rebuild(_ columns: inout [Column], _ index: Int, _ generator: inout SplitMix64) -> String {
        let old = columns
        columns[index].isNotNull.toggle()
        if columns[index].isNotNull, columns[index].fallback == nil { columns[index].fallback = "n\(names)" }
        let names = ["id", "tags", "views", "body"] + columns.map(\.name)
        let values =
            ["id", "tags", "views", "body"]
            + zip(old, columns).map { $1.isNotNull ? "coalesce(\($0.name), '\($1.fallback ?? "")')" : $0.name }
        columns.shuffle(using: &generator)
        return Self.createSQL("other", columns, &generator) + """
            INSERT INTO other (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM note ORDER BY random();
            DROP TABLE note; ALTER TABLE other RENAME TO note
            """
    }
}

/// One device of a history, with some version of the app.
final class VersionedNode {
    let database: DatabaseQueue
    private(set) var store: SyncedDatabase
    private(set) var version = 0
    private let versions: [SchemaVersions.Version]
    private let options: SyncedDatabase.Options

    init(_ versions: [SchemaVersions.Version], replica: UInt64) throws {
        self.versions = versions
        database = try DatabaseQueue()
        options = TestStore.options(ReplicaID(high: 1, low: replica))
        store = try SyncedDatabase(database, tables: [versions[0].table], migrator: Self.migrator(versions[...0]), options: options)
    }

    private static func migrator(_ versions: ArraySlice<SchemaVersions.Version>) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (index, version) in versions.enumerated() {
            let step = version.step
            migrator.registerMigration("v\(index)") { try $0.execute(sql: step) }
        }
        return migrator
    }

    var columns: [SchemaVersions.Column] { versions[version].columns }

    func update(to version: Int) throws {
        store.close()
        self.version = version
        store = try SyncedDatabase(
            database, tables: [versions[version].table], migrator: Self.migrator(versions[...version]), options: options)
    }

    func receive(from other: VersionedNode) throws {
        guard case .applied = try store.apply(try other.store.delta(since: try store.vector())) else {
            throw StoreError(.failed, "refused")
        }
    }

    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try database.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    func ids() throws -> [RowID] {
        try database.read { try Data.fetchAll($0, sql: "SELECT id FROM note ORDER BY id") }.compactMap { RowID(bytes: $0) }
    }

    /// All that is shown in columns that no version drops, by their first names.
    func shown() throws -> [String] {
        let lasting = Set(versions[versions.count - 1].columns.map(\.first))
        let kept = columns.filter { lasting.contains($0.first) }
        let names = (kept.map { ($0.first, $0.name) } + [("tags", "tags"), ("views", "views"), ("body", "body")]).sorted { $0.0 < $1.0 }
        let list = names.map { "'\($0.0)', \($0.1)" }.joined(separator: ", ")
        return try database.read { try String.fetchAll($0, sql: "SELECT hex(id) || json_object(\(list)) FROM note ORDER BY id") }
    }

    /// Rows that are refused although the table could show them.
    func wronglyRefused() throws -> [RefusedRow] {
        let refused = try store.refusedRows()
        if refused.isEmpty { return [] }
        let slice = try store.delta(since: VersionVector())
        return refused.filter { row in
            guard let part = slice.rows.first(where: { $0.id == row.id }) else { return true }
            let state = NamedState(part, slice.tables[part.table])
            return !columns.contains { column in
                guard column.isNotNull, case .register(let register)? = state.cell(column.first) else { return false }
                return register.shown?.value == .null
            }
        }
    }
}

/// Devices that are updated at random moments through the same versions, while all of them write.
final class SchemaHistory {
    private var generator: SplitMix64
    private let seed: UInt64
    let versions: SchemaVersions
    private var nodes: [VersionedNode] = []
    private var inserted: Set<RowID> = []
    private var deleted: Set<RowID> = []
    private var elementCount = 100_000
    private(set) var refusedCount = 0
    /// How often digests had to be compared.
    private(set) var comparedCount = 0

    init(seed: UInt64) throws {
        self.seed = seed
        generator = SplitMix64(seed: seed)
        versions = SchemaVersions(steps: Int.random(in: 2...6, using: &generator), &generator)
        for replica: UInt64 in 1...3 { nodes.append(try VersionedNode(versions.versions, replica: replica)) }
    }

    func run(steps: Int) throws {
        let last = versions.versions.count - 1
        for step in 0..<steps {
            let node = nodes[Int.random(in: 0..<nodes.count, using: &generator)]
            switch Int.random(in: 0..<10, using: &generator) {
            case 0, 1:
                if node.version < last {
                    try node.update(to: min(last, node.version + Int.random(in: 1...2, using: &generator)))
                    try expectSound(node, "step \(step)")
                }
            case 2, 3, 4:
                let other = nodes[Int.random(in: 0..<nodes.count, using: &generator)]
                if other !== node { try node.receive(from: other) }
            default:
                try write(node)
            }
            if step % 12 == 11 { try meet("step \(step)") }
        }
        try meet("before the last update")
        for node in nodes.shuffled(using: &generator) where node.version < last { try node.update(to: last) }
        try meet("at the end")
        for node in nodes {
            #expect(try node.store.refusedRows() == [], "seed \(seed)")
            if !versions.drops { #expect(try node.store.digest() == nodes[0].store.digest(), "seed \(seed)") }
        }
    }

    private func value(_ column: SchemaVersions.Column) -> String? {
        if !column.isNotNull, Int.random(in: 0..<5, using: &generator) == 0 { return nil }
        return ["a", "b", "C"].randomElement(using: &generator)
    }

    private func write(_ node: VersionedNode) throws {
        let ids = try node.ids()
        guard let id = ids.randomElement(using: &generator), Int.random(in: 0..<3, using: &generator) > 0 else {
            return try insert(node)
        }
        let row = Data(id.bytes)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            try node.execute("DELETE FROM note WHERE id = ?", [row])
            deleted.insert(id)
        case 1:
            // Greater than all before, for a writer's own set stands in the order in which it was written.
            elementCount += 1
            try node.execute("UPDATE note SET tags = json_insert(tags, '$[#]', ?) WHERE id = ?", [elementCount, row])
        case 2:
            try node.execute("UPDATE note SET views = views + 1, body = coalesce(body, '') || 'x' WHERE id = ?", [row])
        default:
            guard let column = node.columns.randomElement(using: &generator) else { return }
            try node.execute("UPDATE note SET \(column.name) = ? WHERE id = ?", [value(column), row])
        }
    }

    private func insert(_ node: VersionedNode) throws {
        let id = RowID(high: 0x0190_0000_0000_7000, low: UInt64(inserted.count + 1))
        inserted.insert(id)
        var names = ["id", "body"]
        var values: [(any DatabaseValueConvertible)?] = [Data(id.bytes), "text"]
        for column in node.columns where Bool.random(using: &generator) {
            names.append(column.name)
            values.append(value(column))
        }
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        try node.execute("INSERT INTO note (\(names.joined(separator: ", "))) VALUES (\(marks))", StatementArguments(values))
    }

    private func expectSound(_ node: VersionedNode, _ when: String) throws {
        #expect(try node.store.verify().problems == [], "seed \(seed), \(when)")
        #expect(try node.wronglyRefused() == [], "seed \(seed), \(when)")
    }

    /// An edit of a column that was dropped since may keep its row where it is known alone: then digests are compared, as in each session.
    private func compareDigests(_ when: String) throws {
        for (index, a) in nodes.enumerated() {
            for b in nodes[..<index] where try a.version == b.version && a.shown() != b.shown() {
                let sessions = try SessionPair(a.store, b.store)
                try sessions.wait(seconds: 30)
                #expect(sessions.closings.isEmpty, "seed \(seed), \(when)")
                comparedCount += 1
            }
        }
    }

    /// Everybody gets everything.
    private func meet(_ when: String) throws {
        for _ in 0..<2 { for a in nodes { for b in nodes where a !== b { try b.receive(from: a) } } }
        if versions.drops { try compareDigests(when) }
        for node in nodes {
            try expectSound(node, when)
            let refused = Set(try node.store.refusedRows().map(\.id))
            refusedCount += refused.count
            #expect(inserted.subtracting(deleted).subtracting(refused).subtracting(try node.ids()) == [], "seed \(seed), \(when)")
            for other in nodes where other.version == node.version {
                #expect(try node.shown() == other.shown(), "seed \(seed), \(when)")
            }
        }
    }
}
