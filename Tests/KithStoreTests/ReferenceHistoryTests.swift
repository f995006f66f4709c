import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A merge leaves a reference that dangles, or stores that show different rows")
struct ReferenceHistoryTests {
    // MARK: All small histories

    /// When the two stores exchange after their first steps.
    enum Meeting: CaseIterable {
        case none, there, back, both
    }

    private static let actions: [ReferenceModel.Action] = [.cascade, .restrict, .setNull, .setDefault]

    @Test(arguments: [DeletePolicy.updateWins, .deleteWins], Meeting.allCases)
    func `all histories of two steps each: parents come and go on one store, children on the other`(policy: DeletePolicy, meeting: Meeting)
        throws
    {
        let model = ReferenceModel(
            tables: [.init(name: "parent", policy: policy, columns: [])]
                + Self.actions.enumerated().map { index, action in
                    .init(name: "child\(index)", policy: policy, columns: [.init(name: "up", parent: "parent", action: action)])
                },
            standIn: rowID(1))
        let network = try ReferenceNetwork(model, count: 2, name: "\(policy) \(meeting)")
        defer { network.close() }
        // Two steps of each side for each action; every history has a parent and a child of its own.
        let place = try #require(Meeting.allCases.firstIndex(of: meeting))
        // A long run tries each history with every meeting, others with one.
        let numbers = (0..<81 * Self.actions.count).filter { Soak.isAsked || $0 / Self.actions.count % Meeting.allCases.count == place }
        let histories = numbers.map { number -> (action: Int, steps: [Int], id: UInt64) in
            let action = number % Self.actions.count
            var rest = number / Self.actions.count
            let steps = (0..<4).map { _ in
                defer { rest /= 3 }
                return rest % 3
            }
            return (action, steps, UInt64(number + 2))
        }
        try network.attempt(0, "INSERT INTO parent (id) VALUES (?)", [key(1)])
        for history in histories { try network.attempt(0, "INSERT INTO parent (id, name) VALUES (?, 'first')", [key(history.id)]) }
        try network.synchronise(to: 1, from: 0)
        for round in 0..<2 {
            for history in histories {
                let (id, table) = (key(history.id), "child\(history.action)")
                switch history.steps[round] {
                case 1: try network.attempt(0, "DELETE FROM parent WHERE id = ?", [id])
                case 2:
                    try network.attempt(
                        0, "INSERT INTO parent (id, name) VALUES (?, 'again') ON CONFLICT (id) DO UPDATE SET name = name || '!'", [id])
                default: break
                }
                switch history.steps[round + 2] {
                case 1: try network.attempt(1, "INSERT OR IGNORE INTO \(table) (id, up) VALUES (?, ?)", [id, id])
                case 2: try network.attempt(1, "DELETE FROM \(table) WHERE id = ?", [id])
                default: break
                }
            }
            try network.check(0)
            try network.check(1)
            if round == 1 { break }
            if meeting == .there || meeting == .both { try network.synchronise(to: 1, from: 0) }
            if meeting == .back || meeting == .both { try network.synchronise(to: 0, from: 1) }
        }
        try network.converge()
    }

    // MARK: Random graphs

    private static let graph = ReferenceModel(
        tables: [
            .init(
                name: "node",
                columns: [
                    .init(name: "owner", parent: "node", action: .cascade), .init(name: "base", parent: "node", action: .restrict),
                    .init(name: "soft", parent: "node", action: .setNull), .init(name: "spare", parent: "node", action: .setDefault),
                ]),
            .init(
                name: "leaf", policy: .deleteWins,
                columns: [
                    .init(name: "owner", parent: "node", action: .cascade), .init(name: "base", parent: "node", action: .noAction),
                    .init(name: "soft", parent: "leaf", action: .setNull), .init(name: "next", parent: "leaf", action: .cascade),
                ]),
        ], standIn: rowID(1))

    private static let seeds = 0..<Soak.count(16, soaking: 5_000)
    /// Fewer are enough, if all that is counted has happened in them.
    private static let usualCount = 6

    @Test func `random graphs, deliveries and cuts: what is shown follows from what is known`() throws {
        var census = ReferenceModel.Census()
        for seed in Self.seeds {
            let isEnough = census.hidden > 10 && census.held > 10 && census.substituted > 0
            if !Soak.isAsked, seed >= Self.usualCount, isEnough { break }
            let seen = try Self.run(UInt64(seed))
            census.hidden += seen.hidden
            census.held += seen.held
            census.substituted += seen.substituted
        }
        #expect(census.hidden > 10 && census.held > 10 && census.substituted > 0, "\(census)")
    }

    private static func run(_ seed: UInt64) throws -> ReferenceModel.Census {
        var random = SplitMix64(seed: seed)
        func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        let network = try ReferenceNetwork(graph, count: pick(2..<5), name: "seed \(seed)")
        defer { network.close() }
        let ids = (1..<UInt64(pick(4..<8))).map(key)
        for table in graph.tables {
            for id in ids { try network.attempt(0, "INSERT INTO \(table.name) (id, name) VALUES (?, '')", [id]) }
        }
        for store in network.stores.indices.dropFirst() { try network.synchronise(to: store, from: 0) }
        for _ in 0..<pick(15..<40) {
            let store = pick(0..<network.stores.count)
            if pick(0..<4) == 0 {
                let other = (store + 1 + pick(0..<network.stores.count - 1)) % network.stores.count
                let isCut = pick(0..<2) == 0
                try network.synchronise(to: store, from: other, rowsMax: pick(1..<4), slicesMax: isCut ? pick(1..<4) : .max)
                continue
            }
            let table = graph.tables[pick(0..<2)]
            let id = ids[pick(0..<ids.count)]
            let column = table.columns[pick(0..<table.columns.count)]
            /// A row that is shown, for SQLite takes no other.
            func target(_ column: ReferenceModel.Column) throws -> Data? {
                let shown = try network.stores[store].database.read { db in
                    try Data.fetchAll(db, sql: "SELECT id FROM \(column.parent) ORDER BY id")
                }
                return shown.isEmpty ? nil : shown[pick(0..<shown.count)]
            }
            switch pick(0..<10) {
            case 0...2:
                let targets = try table.columns.map { pick(0..<4) == 0 ? try target($0) : nil }
                try network.attempt(
                    store,
                    "INSERT OR IGNORE INTO \(table.name) (id, \(table.columns.map(\.name).joined(separator: ", "))) VALUES (?, ?, ?, ?, ?)",
                    StatementArguments([id] + targets as [(any DatabaseValueConvertible)?]))
            case 3...4: try network.attempt(store, "DELETE FROM \(table.name) WHERE id = ?", [id])
            case 5...7: try network.attempt(store, "UPDATE \(table.name) SET \(column.name) = ? WHERE id = ?", [try target(column), id])
            case 8: try network.attempt(store, "UPDATE \(table.name) SET name = name || '!' WHERE id = ?", [id])
            default: try network.attempt(store, "REPLACE INTO \(table.name) SELECT * FROM \(table.name) WHERE id = ?", [id])
            }
            try network.check(store)
        }
        try network.converge()
        return network.census
    }
}
