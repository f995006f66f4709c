import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport

/// Random months of a few stores that delete, collect garbage, fall silent and return, with an account of what every user
/// wrote, and of which writes somebody who saw them has overwritten or deleted.
final class GarbageHistory {
    private let seed: UInt64
    private var random: SplitMix64
    private let nodes: [Node]
    private let time = Time()
    private var nextValue = 1
    private var writes: [Int: RowID] = [:]
    private var gone: Set<Int> = []
    private(set) var collectedCount = 0
    private(set) var listingCount = 0
    private(set) var mendedCount = 0
    /// Pairs of stores that differed at equal vectors.
    private(set) var differenceCount = 0
    /// Rows that a store has written anew because another one had collected them. Who deletes such a row before hearing of that
    /// has it back once more.
    private var mended: Set<RowID> = []

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    final class Time: Sendable {
        let milliseconds = Mutex<Int64>(1_700_000_000_000)
        var now: Int64 { milliseconds.withLock { $0 } }
        func pass(hours: Int64) { milliseconds.withLock { $0 += hours * 3_600_000 } }
    }

    private final class Node {
        let name: String
        let database: DatabaseQueue
        let store: SyncedDatabase
        var awayUntil: Int64 = 0

        init(_ name: String, _ time: Time, hasCounter: Bool) throws {
            self.name = name
            database = try DatabaseQueue()
            try database.write {
                try $0.execute(
                    sql: """
                        CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title INTEGER, color INTEGER,
                            tags TEXT NOT NULL DEFAULT '[]'\(hasCounter ? ", views INTEGER NOT NULL DEFAULT 0" : ""))
                        """)
            }
            store = try SyncedDatabase(
                database, tables: [TrackedTable("item", sets: ["tags"], counters: hasCounter ? ["views"] : [])],
                options: SyncedDatabase.Options(
                    clock: { HybridTimestamp(milliseconds: time.now) },
                    makeReplicaID: { ReplicaID(high: 7, low: UInt64(name.utf8.first ?? 0)) }))
        }

        var device: [UInt8] { Array(name.utf8) }
    }

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        let names = ["A", "B", "C", "D", "E"].prefix(Int.random(in: 3...5, using: &random))
        let time = time
        nodes = try names.map { try Node($0, time, hasCounter: seed % 3 == 0) }
        for node in nodes { try node.store.setMembers(nodes.filter { $0 !== node }.map(\.device)) }
    }

    func run(steps: Int) throws {
        for _ in 0..<steps {
            time.pass(hours: Int64.random(in: 0...96, using: &random))
            try step(pick(nodes))
        }
        for node in nodes { node.awayUntil = 0 }
        try synchroniseAll()
        try compare()
        try check()
    }

    private func synchroniseAll() throws {
        for round in 0..<12 {
            for left in nodes { for right in nodes where left !== right { try synchronise(to: left, from: right, isCut: false) } }
            if try Set(nodes.map { try $0.store.vector() }).count == 1, round > 1 { return }
        }
    }

    /// Lets stores that differ although they know the same be mended, as sessions do. They differ where one had collected a row
    /// that another had not when an edit by a member who was silent for too long brought it back.
    private func compare() throws {
        for left in nodes {
            for right in nodes where try left.store.digest() != right.store.digest() {
                differenceCount += 1
                try SessionPair(left.store, right.store).wait(seconds: 60)
            }
        }
        if differenceCount > 0 { try synchroniseAll() }
    }

    // MARK: Steps

    private func step(_ node: Node) throws {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<30: try edit(node)
        case ..<38: try delete(node)
        case ..<41: try restore(node)
        case ..<44: node.awayUntil = time.now + Int64.random(in: 30...200, using: &random) * 86_400_000
        case ..<56: collectedCount += try node.store.collectGarbage()
        default:
            let other = pick(nodes)
            if other === node || node.awayUntil > time.now || other.awayUntil > time.now { return }
            let isCut = Int.random(in: 0..<4, using: &random) == 0
            try synchronise(to: node, from: other, isCut: isCut)
            if Bool.random(using: &random) { try synchronise(to: other, from: node, isCut: isCut) }
        }
    }

    /// Writes a title that nobody else writes, and sometimes more.
    private func edit(_ node: Node) throws {
        let id = rowID(UInt64.random(in: 1...5, using: &random))
        let value = nextValue
        nextValue += 1
        let tags = ["[\"x\"]", "[\"y\"]", "[]"][value % 3]
        let before = try shown(node, id)
        writes[value] = id
        let arguments: StatementArguments = [value, value % 2 == 0 ? value : 0, tags, Data(id.bytes)]
        if before == nil {
            try execute(node, "INSERT INTO item (title, color, tags, id) VALUES (?, ?, ?, ?)", arguments)
        } else {
            gone.formUnion(before.map { [$0] } ?? [])
            let color = "color = CASE ?2 WHEN 0 THEN color ELSE ?2 END"
            try execute(node, "UPDATE item SET title = ?1, \(color), tags = CASE ?2 WHEN 0 THEN tags ELSE ?3 END WHERE id = ?4", arguments)
        }
    }

    private func delete(_ node: Node) throws {
        let id = rowID(UInt64.random(in: 1...5, using: &random))
        guard let title = try shown(node, id) else { return }
        gone.insert(title)
        gone.formUnion(try alternatives(node, id))
        try execute(node, "DELETE FROM item WHERE id = ?", [Data(id.bytes)])
    }

    private func restore(_ node: Node) throws {
        guard let row = try node.store.trash(max: 1).first else { return }
        try node.store.restore(table: "item", id: row.id)
        let value = nextValue
        nextValue += 1
        writes[value] = row.id
        try execute(node, "UPDATE item SET title = ? WHERE id = ?", [value, Data(row.id.bytes)])
    }

    /// Delivers slices as a session does, sometimes only the first few; both then know each other to be there.
    private func synchronise(to receiver: Node, from sender: Node, isCut: Bool) throws {
        let summary = try receiver.store.summary()
        var request = SliceRequest(since: summary.vector, resumption: summary.resumption)
        var slicesLeft = isCut ? Int.random(in: 0...3, using: &random) : .max
        let own = summary.vector[summary.replica]
        while slicesLeft > 0 {
            slicesLeft -= 1
            let limits = SliceLimits(rowsMax: Int.random(in: 1...3, using: &random))
            let slice = try travelled(try sender.store.slice(request, limits: limits))
            if slice.listing != nil { listingCount += 1 }
            switch try receiver.store.apply(slice, from: sender.device) {
            case .applied: break
            case .incomplete where !request.since.isEmpty:
                request = SliceRequest(since: VersionVector())
                continue
            default: throw Failure(description: "seed \(seed): \(receiver.name) refused a slice of \(sender.name)")
            }
            if slice.isLast { break }
            request = SliceRequest(
                since: slice.since, resumption: request.resumption, after: slice.position, target: slice.target)
        }
        let after = try receiver.store.summary()
        if after.vector[after.replica] > own {
            mendedCount += 1
            let others = after.vector.entries.filter { $0.replica != after.replica }
            let known = VersionVector(others + [Dot(replica: after.replica, sequence: own)])
            mended.formUnion(try receiver.store.delta(since: known).rows.map(\.id))
        }
        for (left, right) in [(receiver, sender), (sender, receiver)] {
            let summary = try right.store.summary()
            try left.store.noteMember(right.device, replica: summary.replica, durable: summary.vector)
        }
    }

    /// The slice as it comes out of its frame.
    private func travelled(_ slice: Slice) throws -> Slice {
        guard case .slice(let read, _)? = try FrameCodec.decode(FrameCodec.encode(.slice(slice, alsoSentTo: []))), read == slice else {
            throw Failure(description: "seed \(seed): a slice changed under way")
        }
        return read
    }

    // MARK: Checks

    private func check() throws {
        let digest = try nodes[0].store.digest()
        for node in nodes {
            let problems = try node.store.verify().problems
            if !problems.isEmpty { throw Failure(description: "seed \(seed): \(node.name) does not hold together: \(problems)") }
            if try node.store.digest() != digest {
                throw Failure(
                    description: "seed \(seed): \(nodes[0].name) and \(node.name) differ:\n\(try text(nodes[0]))\n\(try text(node))")
            }
        }
        for number: UInt64 in 1...5 {
            let id = rowID(number)
            let alive = Set(writes.filter { $0.value == id }.keys).subtracting(gone)
            let kept = Set(try shown(nodes[0], id).map { [$0] } ?? []).union(try alternatives(nodes[0], id))
            if !alive.isSubset(of: kept) {
                throw Failure(description: "seed \(seed): row \(number) lost \(alive.subtracting(kept)), shows \(kept)")
            }
            if alive.isEmpty, !kept.isEmpty, !mended.contains(id) {
                throw Failure(description: "seed \(seed): row \(number) came back with \(kept)")
            }
        }
    }

    private func text(_ node: Node) throws -> String {
        let rows = try node.store.delta(since: VersionVector()).rows.map { "\($0.id) \($0.state)" }
        return ([node.name, "\(try node.store.vector())"] + rows).joined(separator: "\n")
    }

    private func shown(_ node: Node, _ id: RowID) throws -> Int? {
        try node.database.read {
            try Int.fetchOne($0, sql: "SELECT coalesce(title, -1) FROM item WHERE id = ?", arguments: [Data(id.bytes)])
        }
    }

    private func alternatives(_ node: Node, _ id: RowID) throws -> [Int] {
        try node.store.alternatives(table: "item", id: id).filter { $0.column == "title" }.compactMap {
            if case .integer(let number) = $0.value { Int(number) } else { nil }
        }
    }

    private func execute(_ node: Node, _ sql: String, _ arguments: StatementArguments) throws {
        try node.database.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    private func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &random)] }
}
