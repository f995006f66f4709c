import KithCausality
import KithText
import TestSupport

/// Changes of several sites that edit, each at the version it knows, and now and then learn from one another.
struct RandomGraph {
    /// Parents first.
    private(set) var changes: [TextChange] = []
    private var sites: [Site] = []
    private var sequences: [UInt64]
    private let isHot: Bool
    private let hasOwnBranches: Bool
    private let hasRestarts: Bool
    private let hasLines: Bool

    private struct Site {
        var document = TextDocument()
        var known: Set<Int> = []
    }

    private static let alphabet = [
        "a", "b", "c", "x", "y", "z", "\n", "\r\n", "é", "e\u{301}", "漢", "😀", "👩\u{200D}💻", "🇫🇷",
    ]

    /// - Parameters:
    ///   - isHot: few characters at few places, for dense conflicts.
    ///   - hasOwnBranches: one replica's changes may be concurrent to each other.
    ///   - hasRestarts: now and then somebody replaces the whole text.
    ///   - hasLines: many scalars are line breaks, and somebody begins with some lines.
    init(
        sites siteCount: Int, changes count: Int, isHot: Bool = false, hasOwnBranches: Bool = false, hasRestarts: Bool = false,
        hasLines: Bool = false, using random: inout SplitMix64
    ) throws {
        self.hasLines = hasLines
        self.isHot = isHot
        self.hasOwnBranches = hasOwnBranches
        self.hasRestarts = hasRestarts
        sequences = Array(repeating: 0, count: siteCount)
        sites = Array(repeating: Site(), count: siteCount)
        if hasLines { try begin() }
        while changes.count < count {
            let site = random.below(siteCount)
            if random.chance(32), !changes.isEmpty {
                try learn(site, from: random.below(siteCount))
            } else {
                try edit(site, using: &random)
            }
        }
    }

    /// A graph of a random kind.
    ///
    /// - Parameter maybeRestarts: whether some have restarts.
    static func any(maybeRestarts: Bool = true, using random: inout SplitMix64) throws -> RandomGraph {
        try RandomGraph(
            sites: 2 + random.below(4), changes: 5 + random.below(25), isHot: random.chance(50),
            hasOwnBranches: random.chance(30), hasRestarts: maybeRestarts && random.chance(30), using: &random)
    }

    private mutating func begin() throws {
        sequences[0] += 1
        let change = try sites[0].document.edit([.insert("one two\nthree\n\nfour\r\nfive", at: 0)], as: dot(0, 1)).change
        changes.append(change)
        for site in sites.indices {
            if site > 0 { _ = try sites[site].document.merge([change]) }
            sites[site].known.insert(0)
        }
    }

    private mutating func learn(_ site: Int, from other: Int) throws {
        let news = sites[other].known.subtracting(sites[site].known).sorted()
        _ = try sites[site].document.merge(news.map { changes[$0] })
        sites[site].known.formUnion(news)
    }

    private mutating func edit(_ site: Int, using random: inout SplitMix64) throws {
        let author = hasOwnBranches ? random.below(sites.count) : site
        if hasRestarts, random.chance(20) { return try restart(site, author, using: &random) }
        var operations = TextOperations()
        var length = sites[site].document.text.count
        for _ in 0..<(isHot ? 1 : random.pick([1, 1, 1, 2, 3])) {
            addOperation(to: &operations, &length, using: &random)
        }
        sequences[author] += 1
        let parents = sites[site].document.version
        let change = try sites[site].document.edit(operations, as: dot(author, sequences[author])).change
        sites[site].known.insert(changes.count)
        changes.append(TextChange(dot: change.dot, parents: parents, operations: operations, lengthBefore: change.lengthBefore))
    }

    private mutating func restart(_ site: Int, _ author: Int, using random: inout SplitMix64) throws {
        sequences[author] += 1
        let newText = random.pick(["", "R", "RS", "漢😀"])
        let change = try sites[site].document.restart(with: newText, as: dot(author, sequences[author])).change
        sites[site].known.insert(changes.count)
        changes.append(change)
    }

    private func addOperation(
        to operations: inout TextOperations, _ length: inout Int, using random: inout SplitMix64
    ) {
        if length > 0, random.chance(isHot ? 15 : 40) {
            let position = random.below(length)
            let count = isHot ? 1 : min(length - position, random.pick([1, 1, 2, 3, 8]))
            operations.delete(count, at: position)
            length -= count
        } else {
            let position = random.pick([0, length, isHot ? length / 2 : random.below(length + 1), min(1, length)])
            var text = ""
            for _ in 0..<random.pick(isHot ? [1, 1, 1, 2] : [1, 1, 2, 4]) {
                text += hasLines && random.chance(25) ? "\n" : isHot ? random.pick(["A", "B", "C", "漢", "😀"]) : random.pick(Self.alphabet)
            }
            operations.insert(text, at: position)
            length += text.unicodeScalars.count
        }
    }
}

extension [TextChange] {
    /// The same changes in another order, parents still first.
    func reordered(using random: inout SplitMix64) -> [TextChange] {
        var rest = self
        var placed: Set<Dot> = []
        var result: [TextChange] = []
        while !rest.isEmpty {
            let ready = rest.indices.filter { placed.isSuperset(of: rest[$0].parents) }
            let change = rest.remove(at: random.pick(Array<Int>(ready)))
            placed.insert(change.dot)
            result.append(change)
        }
        return result
    }
}
