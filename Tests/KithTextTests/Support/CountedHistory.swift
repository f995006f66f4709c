import KithCausality
import KithText

/// A history that counts how often changes are read from it.
final class CountedHistory: TextHistory {
    private let history: any TextHistory
    private(set) var reads = 0

    init(_ history: some TextHistory) {
        self.history = history
    }

    func headers(endingAt end: Int) throws -> [TextChangeHeader] {
        reads += 1
        return try history.headers(endingAt: end)
    }

    func operations(in events: Range<Int>) throws -> [TextOperations] {
        reads += 1
        return try history.operations(in: events)
    }

    func lastEvent(of dot: Dot, before end: Int) throws -> Int? {
        try history.lastEvent(of: dot, before: end)
    }
}
