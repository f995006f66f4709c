import KithCausality
import KithLedger
import KithText

/// The changes of one text as rows and packed chunks.
package struct StoredTextHistory: TextHistory {
    package let archive: TextArchive
    package let text: Int64

    /// Rows read at once.
    private static let pageChanges = 64

    private let ends = ChangeEnds()

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
        if !ends.isAsked {
            ends.isAsked = true
            var found: Int?
            try forEachPart(before: end, downTo: 0) { changes in
                found = found ?? changes.first { $0.header.dot == dot }?.header.lastEvent
            } until: {
                found != nil
            }
            return found
        }
        if ends.limit < end { try ends.read(self, before: end) }
        return ends[dot].flatMap { $0 < end ? $0 : nil }
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

/// Where the changes of a history end. They are read when a second one is asked for: many of them cost no search of the history each.
private final class ChangeEnds {
    private typealias End = (sequence: UInt64, lastEvent: Int)

    /// Whether one was asked for before.
    var isAsked = false
    /// Those are noted that end at this event or before.
    private(set) var limit = 0
    /// By replica, in the order of their sequences.
    private var ends: [ReplicaID: ContiguousArray<End>] = [:]

    func read(_ history: StoredTextHistory, before end: Int) throws {
        ends = [:]
        try history.forEachPart(before: end, downTo: 0) { changes in
            for change in changes.reversed() {
                let dot = change.header.dot
                ends[dot.replica, default: []].append((dot.sequence, change.header.lastEvent))
            }
        }
        for index in ends.values.indices { ends.values[index].sort { $0.sequence < $1.sequence } }
        limit = end
    }

    subscript(dot: Dot) -> Int? {
        guard let ends = ends[dot.replica] else { return nil }
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle].sequence < dot.sequence { low = middle + 1 } else { high = middle }
        }
        return low < ends.count && ends[low].sequence == dot.sequence ? ends[low].lastEvent : nil
    }
}
