import KithCausality

/// Replays changes of a part of the graph and says what each one does to the text that all earlier ones gave.
///
/// Builds the state of a sequence CRDT for just these changes and is thrown away afterwards. The text before them is
/// one span of unknown characters, so neither it nor older changes are needed.
/// Gentle and Kleppmann, "Collaborative Text Editing with Eg-walker", EuroSys 2025.
struct Walker {
    private struct DeletedRun {
        var length: Int
        /// The first character deleted; the others follow it.
        var target: Int
    }

    private(set) var spans = SpanList()
    /// Which characters the events of deletions deleted.
    private var deletions = RunIndex(filler: DeletedRun(length: 0, target: 0))
    /// The version the walker stands at: the one that the next operation's positions refer to.
    private(set) var version: EventVersion = []
    private var difference = VersionDifference()
    /// Where the spans hang in the tree, once an insertion has met too many concurrent ones to look at each.
    private var siblings: SiblingIndex?
    /// At how many concurrent spans one insertion looks before it searches them.
    private let scannedSpansMax: Int
    /// How many spans and blocks were undone, redone and looked at: what the walk cost, besides what grows with the logarithm.
    private(set) var steps = 0

    /// A walker that stands before the first change of a text.
    init(scannedSpansMax: Int = 64) {
        self.scannedSpansMax = scannedSpansMax
    }

    /// Forgets everything walked, to go on from the version `base`, below everything it will walk.
    mutating func reset(base: EventVersion) {
        spans.reset()
        deletions.removeAll()
        siblings = nil
        version = base
    }

    // MARK: Moving between versions

    /// What a move undoes and does.
    private enum Part { case insertions, deletions, both }

    /// Undoes and redoes changes walked before, so that positions refer to the version `target`.
    ///
    /// What was inserted before a restart does not stand around what comes after it; what was deleted stays deleted.
    mutating func move(to target: EventVersion, in graph: EventGraph) throws(TextError) {
        guard version != target else { return }
        if graph.hasRestarts {
            try shift(.deletions, to: target, in: graph)
            try shift(.insertions, to: target, in: graph)
        } else {
            try shift(.both, to: target, in: graph)
        }
        version = target
    }

    /// Undoes what was inserted in the version that the walker stands at, for a restart, which has deleted all of it.
    mutating func leavePast(in graph: EventGraph) throws(TextError) {
        try shift(.insertions, to: [], in: graph)
    }

    private mutating func shift(_ part: Part, to target: EventVersion, in graph: EventGraph) throws(TextError) {
        try graph.difference(version, target, stoppingAtRestarts: part == .insertions, &difference)
        for range in difference.onlyFirst { try shift(part, range, by: -1, in: graph) }
        for range in difference.onlySecond.reversed() { try shift(part, range, by: 1, in: graph) }
    }

    private mutating func shift(
        _ part: Part, _ range: Range<Int>, by amount: Int32, in graph: EventGraph
    ) throws(TextError) {
        var event = range.lowerBound
        while event < range.upperBound {
            let place = deletions.floor(event)
            var first = event
            var count: Int
            var kind = Part.insertions
            if let place, event < deletions.key(at: place) + deletions[place].length {
                let offset = event - deletions.key(at: place)
                first = deletions[place].target + offset
                count = min(deletions[place].length - offset, range.upperBound - event)
                kind = .deletions
            } else {
                let end = deletions.next(place).map { deletions.key(at: $0) } ?? range.upperBound
                count = min(end, range.upperBound) - event
            }
            event += count
            if part != .both, part != kind { continue }
            let unit = kind == .insertions ? Span.inserted : Span.deletedOnce
            while count > 0 {
                let length = try shiftSpan(first, atMost: count, by: amount * unit, in: graph)
                first += length
                count -= length
            }
        }
    }

    /// Shifts the state of up to `count` characters from `id` on that share a span; how many.
    private mutating func shiftSpan(
        _ id: Int, atMost count: Int, by amount: Int32, in graph: EventGraph
    ) throws(TextError) -> Int {
        var place = try place(of: id)
        let span = spans[place]
        steps += 1
        if id > span.id { place = try split(place, at: id - span.id, in: graph) }
        let length = min(span.end - id, count)
        if id + length < span.end { place = try split(place, at: length, in: graph).previous }
        let state = span.prepareState + amount
        guard state >= 0 else { throw .damagedHistory("event \(id) is undone twice") }
        spans.setState(place, prepare: state, visible: span.isVisible)
        return length
    }

    // MARK: Looking at what was walked

    /// What events did: characters in a row that they inserted or deleted.
    struct Effect {
        let isDeletion: Bool
        let event: Int
        /// The first character; the others have the numbers after it.
        let first: Int
        let count: Int
    }

    /// Calls `body` with what the events of `range` did.
    func forEachEffect(of range: Range<Int>, _ body: (Effect) throws(TextError) -> Void) throws(TextError) {
        var event = range.lowerBound
        while event < range.upperBound {
            let place = deletions.floor(event)
            let effect: Effect
            if let place, event < deletions.key(at: place) + deletions[place].length {
                let offset = event - deletions.key(at: place)
                effect = Effect(
                    isDeletion: true, event: event, first: deletions[place].target + offset,
                    count: min(deletions[place].length - offset, range.upperBound - event))
            } else {
                let end = deletions.next(place).map { deletions.key(at: $0) } ?? range.upperBound
                effect = Effect(isDeletion: false, event: event, first: event, count: min(end, range.upperBound) - event)
            }
            try body(effect)
            event += effect.count
        }
    }

    /// Cuts spans so that none has only some of the characters from `first` on.
    mutating func isolate(_ first: Int, _ count: Int, in graph: EventGraph) throws(TextError) {
        for id in [first, first + count] {
            let place = try place(of: id == first ? id : id - 1)
            let span = spans[place]
            if id > span.id, id < span.end { _ = try split(place, at: id - span.id, in: graph) }
        }
    }

    /// Moves to the version after a change that was just applied.
    mutating func stand(at event: Int) {
        version = .one(event)
    }

    // MARK: Applying operations

    /// Deletes `count` characters from `position` on, by events from `event` on; calls `body` with each range of the
    /// effect text, in order, that was still there.
    mutating func delete(
        _ count: Int, at position: Int, event: Int, in graph: EventGraph, _ body: (_ position: Int, _ length: Int) -> Void
    ) throws(TextError) {
        var event = event
        var remaining = count
        while remaining > 0 {
            guard let (found, offset, visibleBefore) = spans.seek(position) else {
                throw .damagedHistory("a deletion at \(position) lies outside the text")
            }
            let span = spans[found]
            var place = found
            if offset > 0 { place = try split(place, at: offset, in: graph) }
            let length = min(span.length - offset, remaining)
            if length < span.length - offset { place = try split(place, at: length, in: graph).previous }
            steps += 1
            if span.isVisible { body(visibleBefore, length) }
            spans.setState(place, prepare: Span.inserted + Span.deletedOnce, visible: false)
            record(DeletedRun(length: length, target: span.id + offset), at: event)
            event += length
            remaining -= length
        }
    }

    private mutating func record(_ run: DeletedRun, at event: Int) {
        if let place = deletions.floor(event) {
            let last = deletions[place]
            if deletions.key(at: place) + last.length == event, last.target + last.length == run.target {
                deletions[place].length += run.length
                return
            }
        }
        deletions.insert(event, run)
    }

    /// Inserts `count` characters at `position`, by events from `event` on; where they appear in the effect text.
    ///
    /// - Parameter author: decides between changes that insert at the same place.
    mutating func insert(
        _ count: Int, at position: Int, event: Int, author: Authorship, in graph: EventGraph
    ) throws(TextError) -> Int {
        var place = spans.first
        var left = EventGraph.root
        var effect = 0
        if position > 0 {
            guard let found = spans.seek(position - 1) else {
                throw .damagedHistory("an insertion at \(position) lies outside the text")
            }
            let span = spans[found.place]
            left = span.id + found.offset
            effect = found.visibleBefore + (span.isVisible ? 1 : 0)
            place = SpanList.Place(block: found.place.block, index: found.place.index + 1)
            if found.offset + 1 < span.length {
                place = try split(found.place, at: found.offset + 1, in: graph)
            } else if left + 1 == event, span.isVisible {
                let next = spans[spans.normalised(place)]
                if next.isInserted, next.id == span.rightOrigin {
                    spans.extend(found.place, by: count)
                    return effect
                }
            }
        }
        let end = spans.firstInserted(from: place)
        let right = spans[end]
        let new = Span(
            id: event, length: count, leftOrigin: left, rightOrigin: right.id, prepareState: Span.inserted, isVisible: true,
            isLeftChild: right.leftOrigin == left)
        if spans.normalised(place) != end {
            if let found = try integrate(new, from: place, to: end, effect, author, graph) {
                (place, effect) = found
            } else if let found = try search(new, before: end, author, graph) {
                (place, effect) = (found, spans.visibleBefore(found))
            }
        }
        spans.insert(new, at: place)
        if var siblings {
            self.siblings = nil
            let entry = new.sibling(author.name(of: new.id))
            try siblings.insert(entry) { other throws(TextError) in try isSibling(other, before: new, entry.name) }
            self.siblings = siblings
        }
        return effect
    }

    // MARK: What is concurrent

    /// Where among concurrent spans a new one belongs, by the rule of FugueMax, and how many visible characters
    /// come before it; `nil` if there are too many to look at each.
    ///
    /// Of two insertions at one place with the same right origin the smaller (replica, sequence, index) goes first;
    /// else the one with the farther right origin. Weidner and Kleppmann, "The Art of the Fugue", 2025, in the list
    /// form of Eg-walker.
    private mutating func integrate(
        _ new: Span, from start: SpanList.Place, to end: SpanList.Place, _ effect: Int,
        _ author: Authorship, _ graph: EventGraph
    ) throws(TextError) -> (SpanList.Place, Int)? {
        var best = (place: start, effect: effect)
        var reached = effect
        var hold = false
        var left = scannedSpansMax
        var place = spans.normalised(start)
        while place != end {
            if left == 0 { return nil }
            left -= 1
            steps += 1
            let other = spans[place]
            if other.leftOrigin == new.leftOrigin {
                if other.rightOrigin == new.rightOrigin {
                    if author.name(of: new.id) < name(of: other.id, graph) { break }
                    hold = false
                } else {
                    hold = try isRightOrigin(of: other, at: place, before: end)
                }
            } else if spans.isBefore(other.leftOrigin, new.leftOrigin) {
                break
            }
            if other.isVisible { reached += other.length }
            place.index += 1
            if !hold { best = (place, reached) }
            place = spans.normalised(place)
        }
        return best
    }

    /// Whether the right origin of the span at `place`, which is not `end`, comes before `end`.
    private func isRightOrigin(of span: Span, at place: SpanList.Place, before end: SpanList.Place) throws(TextError) -> Bool {
        // Mostly it is the very next span: people who write newest on top.
        let next = spans.normalised(place.next)
        if spans[next].id == span.rightOrigin { return true }
        return try self.place(of: span.rightOrigin) < end
    }

    private func name(of event: Int, _ graph: EventGraph) -> Authorship.EventName {
        graph.authorship(of: event).name(of: event)
    }

    /// The same place, found in the tree: behind all that hangs below what comes before it there; `nil` if nothing does.
    private mutating func search(
        _ new: Span, before end: SpanList.Place, _ author: Authorship, _ graph: EventGraph
    ) throws(TextError) -> SpanList.Place? {
        let siblings = siblings ?? index(graph)
        self.siblings = siblings
        let (parent, name) = (new.parent, author.name(of: new.id))
        if let id = try siblings.last(of: parent, where: { other throws(TextError) in try isSibling(other, before: new, name) }) {
            return spans.endOfSubtree(id, at: try place(of: id), &steps)
        }
        // The first right child stands right behind its parent.
        guard new.isLeftChild else { return nil }
        guard let next = siblings.first(of: parent) else { return end }
        guard let previous = spans.neighbour(before: try place(of: next), &steps) else { return nil }
        return spans.endOfSubtree(spans[previous].id, at: previous, &steps)
    }

    private func place(of id: Int) throws(TextError) -> SpanList.Place {
        guard let place = spans.find(id) else { throw .damagedHistory("event \(id) was not walked") }
        return place
    }

    /// Whether a span that hangs where a new one will, of this name, stands before it.
    private func isSibling(_ entry: SiblingIndex.Entry, before new: Span, _ name: Authorship.EventName) throws(TextError) -> Bool {
        if !new.isLeftChild {
            let other = spans[try place(of: entry.id)].rightOrigin
            if other != new.rightOrigin { return spans.isBefore(new.rightOrigin, other) }
        }
        return entry.name < name
    }

    /// All spans as they hang in the tree, and ready for more.
    private mutating func index(_ graph: EventGraph) -> SiblingIndex {
        spans.noteOrigins()
        var entries: ContiguousArray<(parent: Int, order: Int, id: Int)> = []
        entries.reserveCapacity(spans.count)
        spans.forEach { _, span in
            if span.id < Span.older { entries.append((span.parent, entries.count, span.id)) }
        }
        entries.sort { ($0.parent, $0.order) < ($1.parent, $1.order) }
        steps += entries.count
        return SiblingIndex(ContiguousArray(entries.map { .init(parent: $0.parent, id: $0.id, name: name(of: $0.id, graph)) }))
    }

    /// Cuts a span in two; where the second part lies.
    private mutating func split(_ place: SpanList.Place, at offset: Int, in graph: EventGraph) throws(TextError) -> SpanList.Place {
        let right = spans.split(place, at: offset)
        let span = spans[right]
        guard siblings != nil, span.id < Span.older else { return right }
        // Nothing else can hang on the character before, or the span had been cut here.
        let entry = span.sibling(name(of: span.id, graph))
        try siblings?.insert(entry) { _ in false }
        return right
    }
}

extension Span {
    /// Where it hangs in the tree.
    fileprivate var parent: Int { isLeftChild ? SiblingIndex.left(of: rightOrigin) : SiblingIndex.right(of: leftOrigin) }

    fileprivate func sibling(_ name: Authorship.EventName) -> SiblingIndex.Entry {
        SiblingIndex.Entry(parent: parent, id: id, name: name)
    }
}
