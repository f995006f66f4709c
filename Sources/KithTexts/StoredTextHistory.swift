import KithCausality
import KithLedger
import KithText

/// The changes of one text as rows and packed chunks.
package struct StoredTextHistory: TextHistory {
    package let archive: TextArchive
    package let text: Int64

    /// Rows read at once.
    private static let pageChanges = 64

    package func headers(endingAt end: Int) throws -> [TextChangeHeader] {
        let rows = try archive.unpacked(text, endingAt: end, max: Self.pageChanges)
        if !rows.isEmpty { return rows.reversed().map(\.header) }
        return try archive.chunk(text, before: end)?.headers.filter { $0.end <= end } ?? []
    }

    package func operations(in events: Range<Int>) throws -> [TextOperations] {
        var result: [[TextOperations]] = []
        try forEachPart(before: events.upperBound, downTo: events.lowerBound, operations: true) { changes in
            result.append(changes.map(\.operations))
        }
        return result.reversed().flatMap { $0 }
    }

    package func lastEvent(of dot: Dot, before end: Int) throws -> Int? {
        var found: Int?
        try forEachPart(before: end, downTo: 0) { changes in
            found = found ?? changes.first { $0.header.dot == dot }?.header.lastEvent
        } until: {
            found != nil
        }
        return found
    }

    /// Hands out the changes that end at `end` or before and begin at `start` or after, newest part first, each part in order.
    package func forEachPart(
        before end: Int, downTo start: Int, operations: Bool = false, _ body: ([ArchivedChange]) throws -> Void,
        until isDone: () -> Bool = { false }
    ) throws {
        var next = end
        while next > start, !isDone() {
            var part = Array(
                try archive.unpacked(text, endingAt: next, max: Self.pageChanges, operations: operations).reversed())
            if part.isEmpty {
                part = try archive.changes(text, before: next, operations: operations)
            }
            guard let first = part.first?.header.firstEvent, first < next else {
                throw TextError.damagedHistory("no changes before event \(next)")
            }
            let lowest = next
            try body(part.filter { $0.header.firstEvent >= start && $0.header.end <= lowest })
            next = first
        }
    }
}
