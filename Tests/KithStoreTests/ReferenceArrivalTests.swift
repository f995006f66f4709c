import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("What references show depends on the order in which rows arrive")
struct ReferenceArrivalTests {
    /// Where deletions win, a row can be deleted and yet refer to others, and be referred to.
    private static let model = ReferenceModel(
        tables: [
            .init(
                name: "node", policy: .deleteWins,
                columns: [
                    .init(name: "owner", parent: "node", action: .cascade), .init(name: "base", parent: "node", action: .restrict),
                ])
        ], standIn: rowID(0))

    /// A row of a small graph: the rows it refers to, by their place in the order of arrival.
    private struct Node {
        let owner: Int?
        let base: Int?
        let isDeleted: Bool
    }

    /// Every fortieth of the graphs; a long run takes all.
    private static let graphStep = Soak.count(40, soaking: 1)

    @Test func `graphs of three rows, row by row in every order`() throws {
        let graphs = stride(from: 0, to: 18 * 18 * 18, by: Self.graphStep).map { number -> [Node] in
            var rest = number
            func next(_ count: Int) -> Int {
                defer { rest /= count }
                return rest % count
            }
            return (0..<3).map { place in
                let others = [nil] + (0..<3).filter { $0 != place }
                return Node(owner: others[next(3)], base: others[next(3)], isDeleted: next(2) == 1)
            }
        }
        try Self.check(graphs)
    }

    @Test func `some of the graphs of five rows, row by row`() throws {
        var random = SplitMix64(seed: 5)
        let graphs = (0..<Soak.count(80, soaking: 50_000)).map { _ in
            (0..<5).map { place in
                func other() -> Int? {
                    (0..<5).filter { $0 != place }.randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil }
                }
                return Node(owner: other(), base: other(), isDeleted: Bool.random(using: &random))
            }
        }
        try Self.check(graphs)
    }

    @Test func `a long chain of rows whose end arrives first`() throws {
        let count = Soak.count(1_000, soaking: 30_000)
        func open() throws -> TestStore { try TestStore(sql: Self.model.sql, tables: Self.model.tracked) }
        let (author, reader) = (try open(), try open())
        try author.database.write { db in
            let insert = try db.makeStatement(sql: "INSERT INTO node (id, owner) VALUES (?, ?)")
            for place in (1...count).reversed() {
                try insert.execute(arguments: [key(UInt64(place)), place == count ? nil : key(UInt64(place + 1))])
            }
        }
        try reader.receive(from: author, rowsMax: count - 1)
        #expect(try reader.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM node") } == count)
    }

    /// One author makes the rows and lets them refer to each other, another one deletes some; a third store gets the first row of each
    /// graph, then the second row of each, and so on.
    private static func check(_ graphs: [[Node]]) throws {
        let network = try ReferenceNetwork(model, count: 3, name: "arrival")
        defer { network.close() }
        func id(_ graph: Int, _ place: Int) -> Data { key(UInt64(place * graphs.count + graph + 1)) }
        let rows = graphs.enumerated().flatMap { graph, nodes in nodes.enumerated().map { (graph, $0.offset, $0.element) } }
        try network.stores[0].database.write { db in
            let insert = try db.makeStatement(sql: "INSERT INTO node (id, name) VALUES (?, '')")
            for (graph, place, _) in rows { try insert.execute(arguments: [id(graph, place)]) }
        }
        try network.synchronise(to: 1, from: 0)
        try network.stores[1].database.write { db in
            let delete = try db.makeStatement(sql: "DELETE FROM node WHERE id = ?")
            for (graph, place, row) in rows where row.isDeleted { try delete.execute(arguments: [id(graph, place)]) }
        }
        try network.stores[0].database.write { db in
            let update = try db.makeStatement(sql: "UPDATE node SET owner = ?, base = ? WHERE id = ?")
            for (graph, place, row) in rows {
                try update.execute(arguments: [row.owner.map { id(graph, $0) }, row.base.map { id(graph, $0) }, id(graph, place)])
            }
        }
        try network.synchronise(to: 0, from: 1)
        try network.synchronise(to: 2, from: 0, rowsMax: graphs.count)
        let (author, reader) = (network.stores[0], network.stores[2])
        #expect(try model.found(author.database) == model.found(reader.database))
        #expect(try author.store.digest() == reader.store.digest())
        #expect(try reader.store.verify().problems.isEmpty)
        #expect(network.census.held > 0 && network.census.hidden > 0)
    }
}
