import KithCausality

/// Two versions that were brought together, character by character, as far as only one of them did something.
struct Meeting {
    /// What became of a character that one of the two inserted or deleted.
    struct Fate {
        /// The side that inserted it: 1, 2, or 0 when both knew it.
        var inserted: UInt8 = 0
        /// The sides that deleted it, other than by a restart.
        var deleted: UInt8 = 0
        /// The sides that deleted it by a restart, and so have never seen it as far as others can tell.
        var forgotten: UInt8 = 0
        /// By how many deletions.
        var deletions: Int32 = 0

        func isVisible(in version: Sight) -> Bool {
            switch version {
            case .before: inserted == 0 && forgotten == 0
            case .side(let side): inserted == 0 ? (deleted | forgotten) & side == 0 : inserted == side
            }
        }
    }

    /// A version of a line.
    enum Sight {
        case before
        case side(UInt8)
    }

    /// Characters in a row of the list, in order, with one fate.
    struct Element {
        let place: SpanList.Place
        let ids: Range<Int>
        let fate: Fate
    }

    private struct SidedEffect {
        let side: UInt8
        let effect: Walker.Effect
        let isRestart: Bool
    }

    private let graph: EventGraph
    private let content: WalkedContent
    /// The dots of the versions, of which the lesser one comes first in what is found.
    private let dots: (Dot, Dot)
    private var effects: [SidedEffect] = []

    init(_ graph: EventGraph, _ content: WalkedContent, _ first: Int, _ second: Int) {
        self.graph = graph
        self.content = content
        dots = (graph.dot(ofChange: graph.changeIndex(of: first)), graph.dot(ofChange: graph.changeIndex(of: second)))
    }

    /// The conflicts of the two versions, of which `difference` says what only one has. The walker stands at both together.
    mutating func conflicts(of difference: VersionDifference, _ walker: inout Walker) throws(TextError) -> [OpenConflict] {
        for range in difference.onlyFirst { try collect(range, 1, walker) }
        for range in difference.onlySecond { try collect(range, 2, walker) }
        for entry in effects { try walker.isolate(entry.effect.first, entry.effect.count, in: graph) }
        let elements = try elements(walker.spans)
        let pieces = pieces(elements, walker.spans)
        return pieces.isEmpty ? [] : try conflicts(pieces, elements, walker.spans)
    }

    private mutating func collect(_ range: Range<Int>, _ side: UInt8, _ walker: Walker) throws(TextError) {
        var found: [SidedEffect] = []
        try walker.forEachEffect(of: range) { effect throws(TextError) in
            guard effect.isDeletion, graph.hasRestarts else {
                return found.append(SidedEffect(side: side, effect: effect, isRestart: false))
            }
            var event = effect.event
            while event < effect.event + effect.count {
                let change = graph.changeIndex(of: event)
                let end = min(graph.end(ofChange: change), effect.event + effect.count)
                let part = Walker.Effect(
                    isDeletion: true, event: event, first: effect.first + event - effect.event, count: end - event)
                found.append(SidedEffect(side: side, effect: part, isRestart: graph.isRestart(change: change)))
                event = end
            }
        }
        effects += found
    }

    /// Calls `body` with the spans of the characters of an effect.
    private func forEachSpan(
        of effect: Walker.Effect, _ spans: SpanList, _ body: (SpanList.Place, Span) -> Void
    ) throws(TextError) {
        var id = effect.first
        while id < effect.first + effect.count {
            guard let place = spans.find(id) else { throw .damagedHistory("event \(id) was not walked") }
            body(place, spans[place])
            id = spans[place].end
        }
    }

    /// What only one version did, as far as the other one could see it, in the order of the text.
    private func elements(_ spans: SpanList) throws(TextError) -> [Element] {
        var fates: [Int: Fate] = [:]
        for entry in effects {
            try forEachSpan(of: entry.effect, spans) { _, span in
                if !entry.effect.isDeletion {
                    fates[span.id, default: Fate()].inserted = entry.side
                } else {
                    fates[span.id, default: Fate()].deletions += 1
                    if entry.isRestart {
                        fates[span.id, default: Fate()].forgotten |= entry.side
                    } else {
                        fates[span.id, default: Fate()].deleted |= entry.side
                    }
                }
            }
        }
        var elements: [Element] = []
        for (id, fate) in fates {
            guard let place = spans.find(id) else { throw .damagedHistory("event \(id) was not walked") }
            let span = spans[place]
            // A side may take back what it inserted; what both had deleted before was deleted more often.
            let counts = fate.inserted != 0 ? span.isPrepared : span.prepareState == Span.inserted + fate.deletions * Span.deletedOnce
            if counts { elements.append(Element(place: place, ids: span.id..<span.end, fate: fate)) }
        }
        return elements.sorted { $0.place < $1.place }
    }

    // MARK: Places

    /// The places where the two versions met, in the order of the text.
    private func pieces(_ elements: [Element], _ spans: SpanList) -> [MeetingPiece] {
        var pieces: [MeetingPiece] = []
        var start = 0
        while start < elements.count {
            var end = start + 1
            while end < elements.count, !isAnyKept(between: elements[end - 1].place, elements[end].place, spans) { end += 1 }
            let stretch = elements[start..<end]
            let inserted = stretch.reduce(0) { $0 | $1.fate.inserted }
            let deleted = stretch.reduce(0) { $0 | $1.fate.deleted }
            // One side alone meets nobody, and two that only deleted agree.
            if inserted != 0, inserted | deleted == 3 {
                var scan = MeetingScan()
                for index in start..<end { scan.add(elements[index], index, content) }
                pieces += scan.found()
            }
            start = end
        }
        return pieces
    }

    /// Whether a character that both have stands between two that are next to each other among those that only one version changed.
    private func isAnyKept(between left: SpanList.Place, _ right: SpanList.Place, _ spans: SpanList) -> Bool {
        var place = left
        while let next = spans.after(place), next < right {
            if spans[next].isPrepared { return true }
            place = next
        }
        return false
    }

    // MARK: Lines

    private func conflicts(
        _ pieces: [MeetingPiece], _ elements: [Element], _ spans: SpanList
    ) throws(TextError) -> [OpenConflict] {
        let fates = Dictionary(uniqueKeysWithValues: elements.map { ($0.ids.lowerBound, $0.fate) })
        var lines: [(pieces: ArraySlice<MeetingPiece>, texts: [String])] = []
        var end: WalkedContent.Cursor?
        for (number, piece) in pieces.enumerated() {
            let element = elements[piece.firstInserted]
            let cursor = WalkedContent.Cursor(
                place: element.place, offset: piece.inserted[0].lowerBound - element.ids.lowerBound)
            if let end, cursor < end {
                let started = lines[lines.count - 1].pieces.startIndex
                lines[lines.count - 1].pieces = pieces[started...number]
                continue
            }
            var texts = [String.UnicodeScalarView](repeating: .init(), count: 3)
            let sights: [Sight] = [.before, .side(1), .side(2)]
            end = content.forEachPart(ofLineFrom: content.lineStart(cursor, spans), spans) { span, ids in
                let fate = fates[span.id]
                if fate == nil, !span.isPrepared { return }
                let scalars = content.scalars(ids)
                for (index, sight) in sights.enumerated() where fate?.isVisible(in: sight) ?? true {
                    texts[index].append(contentsOf: scalars)
                }
            }
            lines.append((pieces[number...number], texts.map { String($0) }))
        }
        let changes = try changes(of: lines.map(\.pieces), elements, spans)
        return zip(lines, changes).map { line, changes in
            let first = TextConflict.Version(text: line.texts[1], changes: changes.0)
            let second = TextConflict.Version(text: line.texts[2], changes: changes.1)
            return OpenConflict(
                inserted: line.pieces.flatMap(\.inserted), before: line.texts[0],
                versions: dots.0 < dots.1 ? [first, second] : [second, first])
        }
    }

    /// For each line the changes of the first and of the second version that met there, sorted.
    private func changes(
        of lines: [ArraySlice<MeetingPiece>], _ elements: [Element], _ spans: SpanList
    ) throws(TextError) -> [([Dot], [Dot])] {
        var found = lines.map { _ in (Set<Int>(), Set<Int>()) }
        var lineOfDeleted: [Int: Int] = [:]
        for (number, pieces) in lines.enumerated() {
            for piece in pieces {
                for index in piece.firstElement...piece.lastElement where elements[index].fate.inserted == 0 {
                    lineOfDeleted[elements[index].ids.lowerBound] = number
                }
                for (ids, side) in zip(piece.inserted, piece.sides) { add(ids, side, to: &found[number]) }
            }
        }
        for entry in effects where entry.effect.isDeletion && !entry.isRestart {
            try forEachSpan(of: entry.effect, spans) { _, span in
                guard let number = lineOfDeleted[span.id] else { return }
                let event = entry.effect.event + span.id - entry.effect.first
                add(event..<event + span.length, entry.side, to: &found[number])
            }
        }
        return found.map { first, second in
            (first.map(graph.dot(ofChange:)).sorted(), second.map(graph.dot(ofChange:)).sorted())
        }
    }

    private func add(_ events: Range<Int>, _ side: UInt8, to changes: inout (Set<Int>, Set<Int>)) {
        for index in graph.changeIndex(of: events.lowerBound)...graph.changeIndex(of: events.upperBound - 1) {
            if side == 1 { changes.0.insert(index) } else { changes.1.insert(index) }
        }
    }
}
