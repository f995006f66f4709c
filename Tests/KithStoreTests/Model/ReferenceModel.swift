import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync

/// What stores with foreign keys must show, from scratch and from the merged rows alone.
///
/// Slow and plain on purpose: whole sets, again and again until nothing changes.
struct ReferenceModel {
    enum Action: String, CaseIterable {
        case cascade = "CASCADE"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case noAction = "NO ACTION"

        var isHard: Bool { self != .setNull && self != .setDefault }
        var holdsParent: Bool { self == .restrict || self == .noAction }
    }

    struct Column {
        let name: String
        let parent: String
        let action: Action
    }

    struct Table {
        let name: String
        var policy = DeletePolicy.updateWins
        let columns: [Column]
    }

    struct Place: Hashable {
        let table: String
        let id: RowID
    }

    private struct Merged {
        var isAlive: Bool
        var values: [String: ColumnValue]
    }

    /// How often the rule had something to do.
    struct Census: Equatable {
        var hidden = 0
        var held = 0
        var substituted = 0
    }

    let tables: [Table]
    /// What a column shows that is `SET DEFAULT`, if that row is shown.
    let standIn: RowID

    var sql: String {
        let standIn = "x'\(standIn.description)'"
        return tables.map { table in
            let columns = table.columns.map {
                ", \($0.name) BLOB\($0.action == .setDefault ? " DEFAULT \(standIn)" : "") REFERENCES \($0.parent) (id) ON DELETE \($0.action.rawValue)"
            }
            let indices = table.columns.map { "CREATE INDEX IF NOT EXISTS \(table.name)_\($0.name) ON \(table.name) (\($0.name));" }
            return "CREATE TABLE IF NOT EXISTS \(table.name) (id BLOB PRIMARY KEY NOT NULL, name TEXT\(columns.joined()));\n"
                + indices.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    var tracked: [TrackedTable] { tables.map { TrackedTable($0.name, deletePolicy: $0.policy) } }

    /// The rows that a store with these merged rows shows, with what their references show.
    func shown(_ delta: Slice, counting census: inout Census) -> [Place: [String: ColumnValue]] {
        var rows: [Place: Merged] = [:]
        for part in delta.rows where !part.state.cells.isEmpty {
            let schema = delta.tables[part.table]
            let name = String(decoding: schema.name, as: UTF8.self)
            guard let table = tables.first(where: { $0.name == name }) else { continue }
            var values: [String: ColumnValue] = [:]
            for column in table.columns {
                values[column.name] = column.action == .setDefault ? .blob(standIn.bytes) : .null
                if let index = schema.columns.firstIndex(where: { $0.name == Array(column.name.utf8) }),
                    case .register(let register)? = part.state[index], let value = register.shown?.value
                {
                    values[column.name] = value
                }
            }
            rows[Place(table: name, id: part.id)] = Merged(isAlive: part.state.isVisible(table.policy), values: values)
        }
        let shown = shownPlaces(rows)
        census.hidden += rows.filter { $0.value.isAlive && !shown.contains($0.key) }.count
        census.held += rows.filter { !$0.value.isAlive && shown.contains($0.key) }.count
        var result: [Place: [String: ColumnValue]] = [:]
        for place in shown {
            guard let merged = rows[place], let table = table(place) else { continue }
            var values = merged.values
            for column in table.columns where !column.action.isHard {
                guard let parent = parent(values[column.name], column), !shown.contains(parent) else { continue }
                let hasStandIn = column.action == .setDefault && shown.contains(Place(table: column.parent, id: standIn))
                census.substituted += 1
                values[column.name] = hasStandIn ? .blob(standIn.bytes) : .null
            }
            result[place] = values
        }
        return result
    }

    private func shownPlaces(_ rows: [Place: Merged]) -> Set<Place> {
        func parents(_ place: Place, _ isMeant: (Action) -> Bool) -> [Place] {
            guard let merged = rows[place], let table = table(place) else { return [] }
            return table.columns.filter { isMeant($0.action) }.compactMap { parent(merged.values[$0.name], $0) }
        }
        func shrink(_ set: Set<Place>, _ keep: (Place, Set<Place>) -> Bool) -> Set<Place> {
            var set = set
            while true {
                let smaller = set.filter { keep($0, set) }
                if smaller == set { return set }
                set = smaller
            }
        }
        let possible = shrink(Set(rows.keys)) { place, set in parents(place, \.isHard).allSatisfy(set.contains) }
        var brought: Set<Place> = []
        while true {
            let own = shrink(possible.filter { rows[$0]?.isAlive == true }) { place, set in
                parents(place) { $0 == .cascade }.allSatisfy { set.contains($0) || brought.contains($0) }
            }
            var more = brought
            for place in own { more.formUnion(parents(place, \.holdsParent)) }
            for place in brought { more.formUnion(parents(place, \.isHard)) }
            if more == brought { return own.union(brought) }
            brought = more
        }
    }

    /// What a store does show.
    func found(_ database: any DatabaseReader) throws -> [Place: [String: ColumnValue]] {
        try database.read { db in
            var result: [Place: [String: ColumnValue]] = [:]
            for table in tables {
                for row in try Row.fetchAll(db, sql: "SELECT * FROM \(table.name)") {
                    guard let id = RowID(bytes: row["id"] as Data) else { continue }
                    var values: [String: ColumnValue] = [:]
                    for column in table.columns {
                        values[column.name] = (row[column.name] as Data?).map { .blob(Array($0)) } ?? .null
                    }
                    result[Place(table: table.name, id: id)] = values
                }
            }
            return result
        }
    }

    private func table(_ place: Place) -> Table? { tables.first { $0.name == place.table } }

    private func parent(_ value: ColumnValue?, _ column: Column) -> Place? {
        guard case .blob(let bytes)? = value, let id = RowID(bytes: bytes) else { return nil }
        return Place(table: column.parent, id: id)
    }
}

/// Stores with one schema of foreign keys, each checked against the model after whatever happens to it.
final class ReferenceNetwork {
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    let model: ReferenceModel
    let stores: [TestStore]
    let name: String
    private(set) var census = ReferenceModel.Census()

    init(_ model: ReferenceModel, count: Int, name: String) throws {
        self.model = model
        self.name = name
        stores = try (0..<count).map { index in
            try TestStore(replica: ReplicaID(high: 1, low: UInt64(index)), sql: model.sql, tables: model.tracked)
        }
    }

    /// Runs a statement, which may fail as SQLite's own rule demands.
    @discardableResult
    func attempt(_ store: Int, _ sql: String, _ arguments: StatementArguments = []) throws -> Bool {
        do {
            try stores[store].execute(sql, arguments)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        }
    }

    /// Brings what `sender` has to `receiver`, in slices of `rowsMax` rows, of which at most `slicesMax` arrive.
    func synchronise(to receiver: Int, from sender: Int, rowsMax: Int = .max, slicesMax: Int = .max) throws {
        let summary = try stores[receiver].store.summary()
        var request = SliceRequest(since: summary.vector, resumption: summary.resumption)
        for _ in 0..<slicesMax {
            let slice = try stores[sender].store.slice(request, limits: SliceLimits(rowsMax: rowsMax, bytesMax: .max))
            guard case .applied = try stores[receiver].store.apply(slice) else { throw Difference(description: "\(name): refused") }
            try check(receiver)
            if slice.isLast { return }
            request = SliceRequest(
                since: request.since, resumption: request.resumption, after: slice.position, target: slice.target)
        }
    }

    func check(_ store: Int) throws {
        let dangling = try stores[store].database.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check") }
        if !dangling.isEmpty { throw Difference(description: "\(name), store \(store): dangling \(dangling)") }
        let expected = model.shown(try stores[store].store.delta(since: VersionVector()), counting: &census)
        let found = try model.found(stores[store].database)
        if expected == found { return }
        let places = Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }
        let text = places.map { "\($0): shown \(String(describing: found[$0])), expected \(String(describing: expected[$0]))" }
        throw Difference(description: "\(name), store \(store): \(text.sorted().joined(separator: "; "))")
    }

    /// Lets everybody know everything; all must show the same and be sound.
    func converge() throws {
        for _ in 0..<2 {
            for receiver in stores.indices {
                for sender in stores.indices where sender != receiver { try synchronise(to: receiver, from: sender) }
            }
        }
        let first = try (model.found(stores[0].database), stores[0].store.digest())
        for (index, store) in stores.enumerated() {
            let problems = try store.store.verify().problems
            if !problems.isEmpty { throw Difference(description: "\(name), store \(index): \(problems)") }
            let other = try (model.found(store.database), store.store.digest())
            if other.0 != first.0 || other.1 != first.1 { throw Difference(description: "\(name): stores 0 and \(index) differ") }
        }
    }

    func close() {
        for store in stores { store.store.close() }
    }
}
