import KithCausality

@testable import KithText

/// The rule of conflicts word by word, with one record a character and sets of changes as bits: written apart from the search, to judge it.
struct NaiveConflicts {
    private struct Found {
        let places: [Int]
        let before: String
        let versions: [TextConflict.Version]
    }

    private let graph: NaiveGraph
    /// All characters that were ever inserted, in the order of the text.
    private let characters: [NaiveWalker.Character]
    private let restarts: UInt64

    static func all(in changes: [TextChange]) -> [TextConflict] {
        NaiveConflicts(changes).conflicts
    }

    private init(_ changes: [TextChange]) {
        graph = NaiveGraph(changes)
        characters = NaiveWalker.characters(changes)
        restarts = changes.indices.reduce(0) { $0 | (changes[$1].isRestart ? 1 << UInt64($1) : 0) }
    }

    private func past(_ index: Int) -> UInt64 { graph.ancestors[index] | 1 << UInt64(index) }

    private func isVisible(_ character: Int, _ version: UInt64) -> Bool {
        characters[character].author & version != 0 && characters[character].deleters & version == 0
    }

    private func visible(_ version: UInt64) -> [Int] { characters.indices.filter { isVisible($0, version) } }

    private var everything: UInt64 { graph.changes.indices.reduce(0) { $0 | 1 << UInt64($1) } }

    // MARK: Versions that were brought together

    /// Pairs of changes, the one with the lesser dot first.
    private var pairs: Set<[Int]> {
        let heads = graph.changes.indices.filter { head in !graph.ancestors.contains { $0 & 1 << UInt64(head) != 0 } }
        let sets = graph.changes.map { change in graph.changes.indices.filter { change.parents.contains(graph.changes[$0].dot) } } + [heads]
        var pairs: Set<[Int]> = []
        for set in sets {
            for left in set {
                for right in set where graph.changes[left].dot < graph.changes[right].dot { pairs.insert([left, right]) }
            }
        }
        return pairs
    }

    private var conflicts: [TextConflict] {
        var open: [Found] = []
        for pair in pairs {
            for found in meetings(pair[0], pair[1]) {
                let isEnded = graph.changes.indices.contains { later in
                    graph.ancestors[later] & 1 << UInt64(pair[0]) != 0 && graph.ancestors[later] & 1 << UInt64(pair[1]) != 0
                        && touches(later, found)
                }
                if !isEnded { open.append(found) }
            }
        }
        return grouped(open)
    }

    // MARK: Meeting

    /// A character that one of the versions inserted, or deleted and the other one could see.
    private struct Mark {
        let character: Int
        var inserted = 0
        var deleted: Set<Int> = []
    }

    private func meetings(_ left: Int, _ right: Int) -> [Found] {
        let sides = [past(left), past(right)]
        let (merge, common) = (sides[0] | sides[1], sides[0] & sides[1])
        // What both lost by restarts is as if it had never been.
        let remembered = graph.surroundings[left] | graph.surroundings[right] | 1 << UInt64(left) | 1 << UInt64(right)
        var stretches: [[Mark]] = [[]]
        for character in characters.indices where characters[character].author & remembered != 0 {
            var mark = Mark(character: character)
            if isVisible(character, merge), characters[character].author & common != 0 {
                stretches.append([])
                continue
            }
            if characters[character].author & common == 0 {
                guard isVisible(character, merge) else { continue }
                mark.inserted = characters[character].author & sides[0] != 0 ? 1 : 2
            } else {
                guard isVisible(character, common) else { continue }
                for side in 1...2 where characters[character].deleters & sides[side - 1] & ~restarts != 0 { mark.deleted.insert(side) }
            }
            if mark.inserted != 0 || !mark.deleted.isEmpty { stretches[stretches.count - 1].append(mark) }
        }
        let pieces = stretches.flatMap { $0.split { $0.inserted != 0 && isBreak($0.character) } }.filter { isMet(Array($0)) }
        return lines(pieces.map(Array.init), sides, merge, common, remembered)
    }

    private func isBreak(_ character: Int) -> Bool { ["\n", "\r"].contains(characters[character].scalar) }

    private func isMet(_ piece: [Mark]) -> Bool {
        if Set(piece.map(\.inserted)).isSuperset(of: [1, 2]) { return true }
        for line in piece.split(whereSeparator: { isBreak($0.character) })
        where line.contains(where: { $0.inserted != 0 }) && line.contains(where: { $0.deleted == [1, 2] }) { return true }
        return piece.indices.contains { index in
            guard piece[index].inserted != 0 else { return false }
            let other = 3 - piece[index].inserted
            let before = piece[..<index].last { !$0.deleted.isEmpty }
            let after = piece[index...].first { !$0.deleted.isEmpty }
            return before?.deleted.contains(other) == true && after?.deleted.contains(other) == true
        }
    }

    private func lines(_ pieces: [[Mark]], _ sides: [UInt64], _ merge: UInt64, _ common: UInt64, _ remembered: UInt64) -> [Found] {
        var byLine: [Range<Int>: [Mark]] = [:]
        for piece in pieces {
            guard let first = piece.first(where: { $0.inserted != 0 })?.character else { continue }
            let breaks = visible(merge).filter(isBreak)
            let start = breaks.last { $0 < first }.map { $0 + 1 } ?? 0
            byLine[start..<(breaks.first { $0 > first } ?? characters.count), default: []] += piece
        }
        return byLine.map { line, marks in
            func text(_ version: UInt64, _ isLeftOut: (Int) -> Bool = { _ in false }) -> String {
                var text = String.UnicodeScalarView()
                text.append(contentsOf: line.filter { isVisible($0, version) && !isLeftOut($0) }.map { characters[$0].scalar })
                return String(text)
            }
            let versions = (0...1).map { side in
                let own = sides[side] & ~common
                var bits: UInt64 = 0
                for mark in marks {
                    let character = characters[mark.character]
                    bits |= own & (mark.inserted == 0 ? character.deleters & ~restarts : character.author)
                }
                let changes = graph.changes.indices.filter { bits & 1 << UInt64($0) != 0 }.map { graph.changes[$0].dot }
                return TextConflict.Version(text: text(sides[side]), changes: changes.sorted())
            }
            return Found(
                places: marks.filter { $0.inserted != 0 }.map(\.character).sorted(),
                before: text(common) {
                    characters[$0].author & remembered == 0 || characters[$0].deleters & merge & restarts != 0
                }, versions: versions)
        }
    }

    // MARK: Ending

    /// The lines that hold what is left of a place, as positions in a version.
    private func lines(of found: Found, _ version: [Int]) -> (place: Range<Int>, lines: Range<Int>)? {
        let left = version.indices.filter { found.places.contains(version[$0]) }
        guard let first = left.first, let last = left.last else { return nil }
        var (start, end) = (first, last)
        while start > 0, !isBreak(version[start - 1]) { start -= 1 }
        while end < version.count, !isBreak(version[end]) { end += 1 }
        return (first..<last + 1, start..<end)
    }

    private func touches(_ index: Int, _ found: Found) -> Bool {
        let version = visible(graph.ancestors[index])
        guard let lines = lines(of: found, version)?.lines else { return false }
        var isLine = version.indices.map { lines.contains($0) }
        for operation in graph.changes[index].operations {
            switch operation {
            case .insert(let text, let position):
                let isBehind = position > 0 && isLine[position - 1]
                let isBefore = position < isLine.count && isLine[position]
                let scalars = Array(text.unicodeScalars)
                if isBehind, isBefore { return true }
                if isBehind, !scalars[0].isLineBreak { return true }
                if isBefore, !scalars[scalars.count - 1].isLineBreak { return true }
                isLine.insert(contentsOf: scalars.map { _ in false }, at: position)
            case .delete(let count, let position):
                if isLine[position..<position + count].contains(true) { return true }
                isLine.removeSubrange(position..<position + count)
            }
        }
        return false
    }

    // MARK: What is shown

    private func grouped(_ open: [Found]) -> [TextConflict] {
        let text = visible(everything)
        var shown: [(place: Range<Int>, lines: Range<Int>, found: [Found])] = []
        for found in open {
            guard let (place, lines) = lines(of: found, text) else { continue }
            shown.append((place, lines, [found]))
        }
        while let (left, right) = overlap(shown.map(\.lines)) {
            let other = shown.remove(at: right)
            let (place, lines) = (shown[left].place, shown[left].lines)
            shown[left].place = min(place.lowerBound, other.place.lowerBound)..<max(place.upperBound, other.place.upperBound)
            shown[left].lines = min(lines.lowerBound, other.lines.lowerBound)..<max(lines.upperBound, other.lines.upperBound)
            shown[left].found += other.found
        }
        return shown.sorted { $0.place.lowerBound < $1.place.lowerBound }.map { place, lines, found in
            let sorted = found.sorted { left, right in
                for (one, other) in zip(left.versions, right.versions) {
                    if one.changes != other.changes { return one.changes.lexicographicallyPrecedes(other.changes) }
                    if one.text != other.text { return one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }
                }
                return left.before.utf8.lexicographicallyPrecedes(right.before.utf8)
            }
            var versions: [TextConflict.Version] = []
            for version in sorted.flatMap(\.versions) where !versions.contains(version) { versions.append(version) }
            return TextConflict(place: place, line: lines, before: sorted[0].before, versions: versions)
        }
    }

    private func overlap(_ ranges: [Range<Int>]) -> (Int, Int)? {
        for left in ranges.indices {
            for right in ranges.indices where right > left && ranges[left].overlaps(ranges[right]) { return (left, right) }
        }
        return nil
    }
}
