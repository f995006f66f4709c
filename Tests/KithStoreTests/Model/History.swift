import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport

@testable import kith_conformance

/// A random history that the model and real stores live through together, step by step.
final class History {
    let seed: UInt64
    private var random: SplitMix64
    private let names: [String]
    private let models: [String: Model.Node]
    private let stores: [String: MergeReplica]
    private var now: UInt64 = 1_700_000_000_000
    private let skews: [Int64]
    /// Every value written to a register, and which of them somebody has knowingly overwritten.
    private var writes: [Place: Set<Model.Dot>] = [:]
    private var overwritten: [Place: Set<Model.Dot>] = [:]
    private var deleted: Set<String> = []
    /// The digest that every store at this vector must have.
    private var digests: [VersionVector: DigestSum] = [:]
    /// How many alternatives were there at the end, so that a test can tell that it saw some.
    private(set) var alternativeCount = 0

    private struct Place: Hashable {
        let row: String
        let column: String
    }

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    init(seed: UInt64) throws {
        self.seed = seed
        let deleteWins = seed % 2 == 1
        var random = SplitMix64(seed: seed)
        let names = ["A", "B", "C", "D"].prefix(Int.random(in: 2...4, using: &random)).map { $0 }
        skews = names.indices.map { _ in [0, 50, -50, 5, 100_000, -100_000].randomElement(using: &random) ?? 0 }
        self.random = random
        self.names = names
        models = Dictionary(uniqueKeysWithValues: names.map { ($0, Model.Node($0, deleteWins: deleteWins)) })
        stores = try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try MergeReplica(name: $0, deletePolicy: deleteWins ? .deleteWins : .updateWins, path: nil))
            })
    }

    /// Lives through `steps` steps, then lets everybody talk to everybody, and checks what came of it.
    func run(steps: Int, cutChance: Double) throws {
        for step in 0..<steps {
            now += UInt64.random(in: 0...3, using: &random)
            let name = pick(names)
            if Double.random(in: 0..<1, using: &random) < 0.5 {
                try commit(name)
                try compare(name, "step \(step), commit of \(name)")
            } else {
                let other = pick(names)
                if other == name { continue }
                try synchronise(to: name, from: other, isCut: Double.random(in: 0..<1, using: &random) < cutChance)
                try compare(name, "step \(step), \(other) to \(name)")
            }
        }
        try converge()
        try checkNothingWasLost()
        for name in names {
            let problems = try store(name).store.verify().problems
            if !problems.isEmpty { throw Difference(description: "seed \(seed): \(name) does not hold together: \(problems)") }
        }
    }

    // MARK: Steps

    private func commit(_ name: String) throws {
        let model = try self.model(name)
        let skew = skews[names.firstIndex(of: name) ?? 0]
        let reading = UInt64(max(0, Int64(now) + skew))
        model.begin(now: reading)
        var operations: [MergeScenario.Operation] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let id = "00000000-0000-7000-8000-00000000000\(Int.random(in: 1...4, using: &random))"
            operations.append(operation(on: id, model))
        }
        try store(name).commit(operations, now: reading)
    }

    private func operation(on id: String, _ model: Model.Node) -> MergeScenario.Operation {
        guard model.isVisible(id) else {
            let title = text()
            let color = number()
            let tags = ["a", "b", "c"].filter { _ in Bool.random(using: &random) }
            let views = Int64.random(in: 0...9, using: &random)
            note([], id, "title", model, restarting: true)
            note([], id, "color", model, restarting: true)
            model.insert(id, title: .string(title), color: .integer(color), tags: tags, views: views)
            return MergeScenario.Operation(
                op: "insert", row: id,
                columns: ["title": .string(title), "color": .integer(color), "tags": .list(tags), "views": .count(views)])
        }
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.12:
            model.delete(id)
            deleted.insert(id)
            return MergeScenario.Operation(op: "delete", row: id, columns: nil)
        case ..<0.5:
            return write(id, model, "set")
        case ..<0.62:
            return write(id, model, "resolve")
        case ..<0.68:
            // Of more, a store would make room.
            let count = model.rows[id]?.registers.values.map(\.count).max() ?? 0
            return write(id, model, count > 1 ? "resolve" : "beside")
        case ..<0.8:
            let tag = pick(["a", "b", "c", "d"])
            let isPresent = model.rows[id]?.sets["tags"]?.elements[tag]?.isEmpty == false
            model.change(id, tag: tag, isAdded: !isPresent)
            return MergeScenario.Operation(op: isPresent ? "remove" : "add", row: id, columns: ["tags": .string(tag)])
        default:
            let amount = Int64.random(in: 1...9, using: &random)
            model.increment(id, by: amount)
            return MergeScenario.Operation(op: "increment", row: id, columns: ["views": .integer(amount)])
        }
    }

    private func write(_ id: String, _ model: Model.Node, _ op: String) -> MergeScenario.Operation {
        let isTitle = Bool.random(using: &random)
        let column = isTitle ? "title" : "color"
        var content: MergeScenario.Content = isTitle ? .string(text()) : .integer(number())
        // A save of what is shown is none.
        if op == "beside" { content = isTitle ? .string("beside \(now)") : .integer(Int64(now)) }
        let value: Model.Content
        switch content {
        case .string(let string): value = .string(string)
        case .integer(let number), .count(let number): value = .integer(number)
        case .list: value = .integer(0)
        }
        let gone =
            switch op {
            case "set": model.set(id, column, value)
            case "beside": model.beside(id, column, value)
            default: model.resolve(id, column, value)
            }
        note(gone, id, column, model, restarting: false)
        return MergeScenario.Operation(op: op, row: id, columns: [column: content])
    }

    /// Keeps account of who overwrote what. A new life overwrites all that its author had seen.
    private func note(_ gone: [Model.Dot], _ id: String, _ column: String, _ model: Model.Node, restarting: Bool) {
        let place = Place(row: id, column: column)
        let seen = restarting ? model.rows[id]?.registers[column].map { Array($0.keys) } ?? [] : gone
        writes[place, default: []].insert(model.currentDot)
        overwritten[place, default: []].formUnion(seen.filter { $0 != model.currentDot })
    }

    /// Delivers slices between real stores, cut between any two rows, and the same rows between models.
    private func synchronise(to receiver: String, from sender: String, isCut: Bool, isQuiet: Bool = false) throws {
        let summary = try store(receiver).store.summary()
        let resumption = Bool.random(using: &random) ? summary.resumption : nil
        let since = try model(receiver).vector
        var request = SliceRequest(since: summary.vector, resumption: resumption)
        var slicesLeft = isCut ? Int.random(in: 0...3, using: &random) : Int.max
        var target: Model.Vector?
        while slicesLeft > 0 {
            slicesLeft -= 1
            let limits = SliceLimits(rowsMax: isCut ? 1 : Int.random(in: 1...3, using: &random))
            let slice = try store(sender).store.slice(request, limits: limits)
            guard case .applied = try store(receiver).store.apply(slice) else {
                throw Difference(description: "seed \(seed): \(receiver) refused a slice of \(sender)")
            }
            target = try target ?? model(sender).vector
            for row in slice.rows { try deliver(Self.name(row.id), to: receiver, from: sender, since) }
            let clock = try model(sender).clock
            try model(receiver).clock = max(model(receiver).clock, clock)
            if slice.isLast { return try model(receiver).finish(target ?? [:]) }
            request = SliceRequest(since: request.since, resumption: resumption, after: slice.position, target: slice.target)
            // Life goes on between slices.
            if !isQuiet, Int.random(in: 0..<4, using: &random) == 0 { try commit(pick(names)) }
        }
    }

    private func deliver(_ id: String, to receiver: String, from sender: String, _ since: Model.Vector) throws {
        guard let part = try model(sender).part(of: id, since: since) else {
            throw Difference(description: "seed \(seed): \(sender) sent row \(id) that \(receiver) does not lack")
        }
        try model(receiver).merge(id, part)
    }

    // MARK: Checks

    private func compare(_ name: String, _ moment: String) throws {
        let expected = try model(name).answer()
        let answer = try self.answer(name)
        if expected != answer {
            throw Difference(description: "seed \(seed), \(moment): the model says \(expected), the store \(answer)")
        }
        let vector = try store(name).store.vector()
        let known = Dictionary(
            uniqueKeysWithValues: names.map { ($0, vector[MergeReplica.replicaID($0)]) }.filter { $0.1 > 0 })
        if try known != model(name).vector {
            throw Difference(description: "seed \(seed), \(moment): vector \(known) instead of \(try model(name).vector)")
        }
        if seed % Self.digestShare == 0 { try compareDigests(name, moment) }
    }

    /// Every so many histories digests are compared, too, which takes as long as all the rest.
    private static let digestShare: UInt64 = Soak.isAsked ? 1 : 10

    /// The digest that is kept up to date is that of the rows, and every store that knows the same has the same.
    private func compareDigests(_ name: String, _ moment: String) throws {
        let store = try self.store(name).store
        let reading = try store.advanceDigest()
        guard reading.tampered.isEmpty else {
            throw Difference(description: "seed \(seed), \(moment): rows changed without a commit: \(reading.tampered)")
        }
        // A catch-up is not complete.
        guard let digest = reading.digest else { return }
        guard try store.recomputedDigest() == digest else {
            throw Difference(description: "seed \(seed), \(moment): the digest of \(name) is not that of its rows")
        }
        guard digests.updateValue(digest.rows, forKey: digest.vector) ?? digest.rows == digest.rows else {
            throw Difference(description: "seed \(seed), \(moment): \(name) has another digest than others at \(digest.vector)")
        }
    }

    private func converge() throws {
        for _ in names {
            for receiver in names {
                for sender in names where sender != receiver { try synchronise(to: receiver, from: sender, isCut: false, isQuiet: true) }
            }
        }
        for name in names { try compare(name, "at the end") }
        let first = try answer(names[0])
        for name in names.dropFirst() where try answer(name) != first {
            throw Difference(description: "seed \(seed): \(names[0]) and \(name) differ: \(first) and \(try answer(name))")
        }
        for name in names where try !model(name).rows.values.allSatisfy({ $0.context.isEmpty }) {
            throw Difference(description: "seed \(seed): \(name) still has contexts")
        }
    }

    /// The writes kept are exactly those that nobody who saw them has overwritten.
    private func checkNothingWasLost() throws {
        let model = try model(names[0])
        for (place, dots) in writes {
            let kept = Set(model.rows[place.row]?.registers[place.column, default: [:]].keys.map { $0 } ?? [])
            let expected = dots.subtracting(overwritten[place] ?? [])
            if kept != expected { throw Difference(description: "seed \(seed): \(place) keeps \(kept) instead of \(expected)") }
            alternativeCount += max(0, kept.count - 1)
        }
    }

    /// What a real store shows, in the words of ``Model/Node/answer()``.
    private func answer(_ name: String) throws -> [String: String] {
        let replica = try store(name)
        var answer: [String: String] = [:]
        for row in try replica.shownRows() {
            guard let id = RowID(bytes: row["id"] as Data) else { continue }
            let alternatives = try replica.store.alternatives(table: "item", id: id)
            func others(_ column: String) -> [String] {
                alternatives.filter { $0.column == column }.map { alternative in
                    let dot = alternative.stamp.dot
                    let author = names.first { MergeReplica.replicaID($0) == dot.replica } ?? "?"
                    return "\(author)\(dot.sequence)=\(Self.content(alternative.value))"
                }.sorted()
            }
            let tags = try JSONDecoder().decode([String].self, from: Data((row["tags"] as String).utf8)).sorted()
            let title = Model.Content.string(row["title"] ?? "NULL")
            let color = Model.Content.integer(row["color"] ?? -1)
            answer[Self.name(id)] = [
                "title=\(title) or \(others("title"))", "color=\(color) or \(others("color"))", "tags=\(tags)",
                "views=\(row["views"] as Int64)",
            ].sorted().joined(separator: "; ")
        }
        return answer
    }

    // MARK: Words

    private static func content(_ value: ColumnValue) -> Model.Content {
        switch value {
        case .integer(let number): .integer(number)
        case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        default: .string("\(value)")
        }
    }

    private static func name(_ id: RowID) -> String {
        "00000000-0000-7000-8000-00000000000\(id.description.suffix(1))"
    }

    private func model(_ name: String) throws -> Model.Node {
        guard let model = models[name] else { throw Difference(description: "no replica \(name)") }
        return model
    }

    private func store(_ name: String) throws -> MergeReplica {
        guard let store = stores[name] else { throw Difference(description: "no replica \(name)") }
        return store
    }

    private func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &random)] }
    private func text() -> String { "t\(Int.random(in: 0...999, using: &random))" }
    private func number() -> Int64 { Int64.random(in: 0...999, using: &random) }
}
