import KithCausality
import KithLedger
import KithSync
import KithText

/// The changes of one text as rows and packed chunks.
package struct StoredTextHistory: TextHistory {
    package let archive: TextArchive
    package let text: Int64

    /// Rows read at once.
    private static let pageChanges = 64

    /// Commits beyond these have made no change of the text; `nil` where that is not known.
    private let applied: VersionVector?
    private let ends = ChangeEnds()
    private let allowance: Allowance

    /// - Parameters:
    ///   - readMax: how many changes may be read.
    ///   - isForEachPurpose: whether so many may be read for each ``Purpose``: a merge reads most of what it needs for several.
    package init(archive: TextArchive, text: Int64, applied: VersionVector? = nil, readMax: Int = .max, isForEachPurpose: Bool = false) {
        self.archive = archive
        self.text = text
        self.applied = applied
        allowance = Allowance(readMax, isForEachPurpose: isForEachPurpose)
    }

    /// What a change is read for.
    package enum Purpose: CaseIterable, Sendable {
        case header, operations, search, end
    }

    /// What `body` gives; `nil` if it would have to read more than it may.
    func withinAllowance<Result>(_ body: () throws -> Result) throws -> Result? {
        do { return try body() } catch is Allowance.Spent { return nil }
    }

    package func headers(endingAt end: Int) throws -> [TextChangeHeader] {
        let rows = try archive.unpacked(text, endingAt: end, max: Self.pageChanges)
        let headers =
            rows.isEmpty ? try archive.chunk(text, before: end)?.headers.filter { $0.end <= end } ?? [] : rows.reversed().map(\.header)
        try allowance.spend(headers.count, on: .header)
        return headers
    }

    package func operations(in events: Range<Int>) throws -> [TextOperations] {
        var result: [[TextOperations]] = []
        try forEachPart(before: events.upperBound, downTo: events.lowerBound, for: .operations) { changes in
            result.append(changes.map(\.operations))
        }
        return result.reversed().flatMap { $0 }
    }

    package func lastEvent(of dot: Dot, before end: Int) throws -> Int? {
        if let applied, dot.replica != .nobody, !applied.covers(dot) { return nil }
        if !ends.isAsked {
            ends.isAsked = true
            var found: Int?
            try forEachPart(before: end, downTo: 0, for: .search) { changes in
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
        before end: Int, downTo start: Int, for purpose: Purpose = .header, _ body: ([ArchivedChange]) throws -> Void,
        until isDone: () -> Bool = { false }
    ) throws {
        let operations = purpose == .operations
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
            try allowance.spend(part.count, on: purpose)
            try body(part.filter { $0.header.firstEvent >= start && $0.header.end <= lowest })
            next = first
        }
    }
}

/// How many changes of a history may be read yet, for all purposes together or for each.
private final class Allowance {
    struct Spent: Error {}

    private var left: [StoredTextHistory.Purpose: Int]
    private let isForEachPurpose: Bool

    init(_ max: Int, isForEachPurpose: Bool) {
        left = Dictionary(uniqueKeysWithValues: StoredTextHistory.Purpose.allCases.map { ($0, max) })
        self.isForEachPurpose = isForEachPurpose
    }

    func spend(_ count: Int, on purpose: StoredTextHistory.Purpose) throws {
        let account = isForEachPurpose ? purpose : .header
        left[account, default: 0] -= count
        if left[account, default: 0] < 0 { throw Spent() }
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
        try history.forEachPart(before: end, downTo: 0, for: .end) { changes in
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
