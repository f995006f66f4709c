/// The scalars behind the numbers that a walker of a part of the history deals with, and lines of them.
struct WalkedContent {
    /// A character in the list of a walk, or the end of a span.
    struct Cursor: Comparable {
        var place: SpanList.Place
        var offset: Int

        static func < (left: Cursor, right: Cursor) -> Bool {
            left.place == right.place ? left.offset < right.offset : left.place < right.place
        }
    }

    private let base: TextBuffer
    private let inserted: ContiguousArray<Unicode.Scalar>
    /// For each insertion its first event, ascending, and where its scalars begin in ``inserted``.
    private var insertions: ContiguousArray<(event: Int, textStart: Int)> = []

    private static let searchLength = 256

    init(_ log: ChangeLog, _ changes: Range<Int>, base: TextBuffer) {
        self.base = base
        inserted = log.pool.inserted
        for index in changes {
            var event = log.graph.changes[index].start
            for step in log.steps(ofChange: index).map({ log.pool.steps[$0] }) {
                if step.isInsert { insertions.append((event, step.textStart)) }
                event += step.magnitude
            }
        }
    }

    /// The scalars of characters with numbers in a row; those behind the end of the older text are none.
    func scalars(_ ids: Range<Int>) -> ContiguousArray<Unicode.Scalar> {
        if ids.lowerBound >= Span.older {
            return base.scalars(in: min(ids.lowerBound - Span.older, base.count)..<min(ids.upperBound - Span.older, base.count))
        }
        var result: ContiguousArray<Unicode.Scalar> = []
        guard !insertions.isEmpty else { return result }
        var entry = insertions.lastIndex(startingAtOrBefore: ids.lowerBound) { $0.event }
        var id = ids.lowerBound
        while id < ids.upperBound {
            let end = entry + 1 < insertions.count ? min(insertions[entry + 1].event, ids.upperBound) : ids.upperBound
            let start = insertions[entry].textStart + id - insertions[entry].event
            result.append(contentsOf: inserted[start..<start + end - id])
            id = end
            entry += 1
        }
        return result
    }

    /// How many of the characters exist: older text is one span of unknown length.
    private func count(_ ids: Range<Int>) -> Int {
        ids.lowerBound < Span.older ? ids.count : max(0, min(ids.upperBound - Span.older, base.count) - (ids.lowerBound - Span.older))
    }

    private func firstLineBreak(_ ids: Range<Int>) -> Int? {
        let end = ids.lowerBound + count(ids)
        var start = ids.lowerBound
        while start < end {
            let part = start..<min(start + Self.searchLength, end)
            if let found = scalars(part).firstIndex(where: \.isLineBreak) { return start + found }
            start = part.upperBound
        }
        return nil
    }

    private func lastLineBreak(_ ids: Range<Int>) -> Int? {
        var end = ids.lowerBound + count(ids)
        while end > ids.lowerBound {
            let part = max(end - Self.searchLength, ids.lowerBound)..<end
            if let found = scalars(part).lastIndex(where: \.isLineBreak) { return part.lowerBound + found }
            end = part.lowerBound
        }
        return nil
    }

    // MARK: Lines of the version that the walker stands at

    /// Where the line begins in which `cursor` stands.
    func lineStart(_ cursor: Cursor, _ spans: SpanList) -> Cursor {
        var cursor = cursor
        while true {
            let span = spans[cursor.place]
            if span.isPrepared, let found = lastLineBreak(span.id..<span.id + cursor.offset) {
                return Cursor(place: cursor.place, offset: found + 1 - span.id)
            }
            guard let place = spans.before(cursor.place) else { return Cursor(place: cursor.place, offset: 0) }
            cursor = Cursor(place: place, offset: spans[place].length)
        }
    }

    /// Calls `body` with the characters from `cursor` to the next line break that stands in the version, or to the end; where that is.
    func forEachPart(ofLineFrom cursor: Cursor, _ spans: SpanList, _ body: (Span, _ ids: Range<Int>) -> Void) -> Cursor {
        var cursor = cursor
        while true {
            let span = spans[cursor.place]
            let ids = span.id + cursor.offset..<span.end
            if span.isPrepared, let found = firstLineBreak(ids) {
                body(span, ids.lowerBound..<found)
                return Cursor(place: cursor.place, offset: found - span.id)
            }
            body(span, ids.lowerBound..<ids.lowerBound + count(ids))
            guard let place = spans.after(cursor.place) else { return Cursor(place: cursor.place, offset: span.length) }
            cursor = Cursor(place: place, offset: 0)
        }
    }

    /// The lines with those of the characters that stand in the version; `nil` if none do.
    func lines(around characters: [Range<Int>], _ spans: SpanList) -> Range<Int>? {
        guard let first = firstStanding(characters, spans), let last = firstStanding(characters, spans, fromEnd: true) else { return nil }
        let start = lineStart(first, spans)
        var end = spans.preparedBefore(last.place) + last.offset
        _ = forEachPart(ofLineFrom: last, spans) { span, ids in
            if span.isPrepared { end += ids.count }
        }
        let offset = spans[start.place].isPrepared ? start.offset : 0
        return spans.preparedBefore(start.place) + offset..<end
    }

    private func firstStanding(_ characters: [Range<Int>], _ spans: SpanList, fromEnd: Bool = false) -> Cursor? {
        for range in fromEnd ? characters.reversed() : characters {
            var id = fromEnd ? range.upperBound - 1 : range.lowerBound
            while range.contains(id), let place = spans.find(id) {
                let span = spans[place]
                if span.isPrepared { return Cursor(place: place, offset: id - span.id) }
                id = fromEnd ? span.id - 1 : span.end
            }
        }
        return nil
    }

    // MARK: The text after all changes walked

    /// Where those of the characters stand that nobody has deleted.
    func visiblePositions(of characters: [Range<Int>], _ spans: SpanList) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in characters {
            var id = range.lowerBound
            while id < range.upperBound, let place = spans.find(id) {
                let span = spans[place]
                let end = min(span.end, range.upperBound)
                if span.isVisible {
                    let start = spans.visibleBefore(place) + id - span.id
                    result.append(start..<start + end - id)
                }
                id = end
            }
        }
        return result
    }
}
