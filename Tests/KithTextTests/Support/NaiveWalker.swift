import KithCausality

@testable import KithText

/// A graph of at most 64 changes, parents first, with the ancestors of each change as a set of bits.
struct NaiveGraph {
    let changes: [TextChange]
    /// For each change the bits of its ancestors.
    let ancestors: [UInt64]
    /// The same if restarts had no parents: what stands around what a change inserts.
    let surroundings: [UInt64]

    init(_ changes: [TextChange]) {
        precondition(changes.count <= 64)
        var places: [Dot: Int] = [:]
        var ancestors: [UInt64] = []
        var surroundings: [UInt64] = []
        for (index, change) in changes.enumerated() {
            places[change.dot] = index
            ancestors.append(
                change.parents.reduce(0) { bits, parent in
                    guard let place = places[parent] else { return bits }
                    return bits | ancestors[place] | 1 << UInt64(place)
                })
            surroundings.append(
                change.isRestart
                    ? 0
                    : change.parents.reduce(0) { bits, parent in
                        guard let place = places[parent] else { return bits }
                        return bits | surroundings[place] | 1 << UInt64(place)
                    })
        }
        self.changes = changes
        self.ancestors = ancestors
        self.surroundings = surroundings
    }
}

/// The event-graph walk with one record a character and linear scans: written apart from the walker, to judge it.
struct NaiveWalker {
    private struct Record {
        let id: Int
        let change: UInt64
        let scalar: Unicode.Scalar
        let left: Int
        let right: Int?
        var prepare = 1
        var visible = true
        /// The bits of the changes that deleted it.
        var deleters: UInt64 = 0
    }

    enum Rule { case fugueMax, fugue }

    private let graph: NaiveGraph
    private let rule: Rule
    private var records: [Record] = []
    /// For each event: its name, and the character it inserts or deletes.
    private var names: [(dot: Dot, index: Int)] = []
    private var targets: [Int] = []
    private var eventsOf: [Range<Int>] = []
    /// The bits of the changes that stand around what is inserted.
    private var surroundings: UInt64 = 0
    private var bit: UInt64 = 0

    static func text(_ changes: [TextChange], _ rule: Rule = .fugueMax) -> String {
        var walker = NaiveWalker(graph: NaiveGraph(changes), rule: rule)
        walker.run()
        var result = String.UnicodeScalarView()
        result.append(contentsOf: walker.records.filter(\.visible).map(\.scalar))
        return String(result)
    }

    /// A character that was inserted: the bit of the change that did, and the bits of those that deleted it.
    struct Character {
        let scalar: Unicode.Scalar
        let author: UInt64
        let deleters: UInt64
    }

    /// All characters that were ever inserted, in the order of the text.
    static func characters(_ changes: [TextChange]) -> [Character] {
        var walker = NaiveWalker(graph: NaiveGraph(changes), rule: .fugueMax)
        walker.run()
        return walker.records.map { Character(scalar: $0.scalar, author: $0.change, deleters: $0.deleters) }
    }

    private init(graph: NaiveGraph, rule: Rule) {
        self.graph = graph
        self.rule = rule
    }

    private mutating func run() {
        var prepared: UInt64 = 0
        for (index, change) in graph.changes.enumerated() {
            let wanted = graph.ancestors[index]
            for other in 0..<index {
                let bit = UInt64(1) << UInt64(other)
                if prepared & bit != 0, wanted & bit == 0 { shift(other, by: -1) }
                if prepared & bit == 0, wanted & bit != 0 { shift(other, by: 1) }
            }
            let first = targets.count
            bit = 1 << UInt64(index)
            surroundings = graph.surroundings[index] | bit
            apply(change)
            eventsOf.append(first..<targets.count)
            prepared = wanted | 1 << UInt64(index)
        }
    }

    private mutating func shift(_ change: Int, by amount: Int) {
        for event in eventsOf[change] {
            for index in records.indices where records[index].id == targets[event] { records[index].prepare += amount }
        }
    }

    private mutating func apply(_ change: TextChange) {
        var index = 0
        for operation in change.operations {
            switch operation {
            case .insert(let text, let position):
                for (offset, scalar) in text.unicodeScalars.enumerated() {
                    names.append((change.dot, index))
                    insert(scalar, position + offset)
                    index += 1
                }
            case .delete(let count, let position):
                for _ in 0..<count {
                    names.append((change.dot, index))
                    delete(position)
                    index += 1
                }
            }
        }
    }

    /// The index behind the prepared character number `position`, counted from 1.
    private func index(after position: Int) -> Int {
        var seen = 0
        var index = 0
        while seen < position {
            seen += records[index].prepare == 1 ? 1 : 0
            index += 1
        }
        return index
    }

    private mutating func delete(_ position: Int) {
        let found = index(after: position + 1) - 1
        records[found].prepare = 2
        records[found].visible = false
        records[found].deleters |= bit
        targets.append(records[found].id)
    }

    private mutating func insert(_ scalar: Unicode.Scalar, _ position: Int) {
        let id = targets.count
        let start = index(after: position)
        var end = start
        while end < records.count, records[end].prepare == 0 || records[end].change & surroundings == 0 { end += 1 }
        let left = start > 0 ? records[start - 1].id : -1
        var right = end < records.count ? records[end].id : nil
        if rule == .fugue, end < records.count, records[end].left != left { right = nil }
        func place(_ id: Int?) -> Int {
            guard let id else { return records.count }
            return records.firstIndex { $0.id == id } ?? -1
        }
        var best = start
        var hold = false
        for index in start..<end {
            let other = records[index]
            if place(other.left) < place(left) { break }
            if place(other.left) == place(left) {
                if other.right == right {
                    let (mine, theirs) = (names[id], names[other.id])
                    if (mine.dot, mine.index) < (theirs.dot, theirs.index) { break }
                    hold = false
                } else {
                    hold = place(other.right) < place(right)
                }
            }
            if !hold { best = index + 1 }
        }
        records.insert(Record(id: id, change: bit, scalar: scalar, left: left, right: right), at: best)
        targets.append(id)
    }
}
