import KithCausality

/// The incoming direction of a session: slices are checked for order as they arrive, and applied one after the other.
struct SliceReceiver: Hashable, Sendable {
    /// Slices of this session dealt with: applied, refused or dropped.
    private(set) var slicesDone: UInt64 = 0
    private(set) var rowsReceived: UInt64 = 0
    /// Rows of the delta under way that are still to come.
    private(set) var rowsRemaining = 0

    /// How far the delta under way has come; `nil` if there is none, or if it is a single slice.
    private(set) var progress: DeltaProgress?

    private var queue: [Arrival] = []
    private var applying: Arrival?
    private var expectation = Expectation.beginning

    private struct Arrival: Hashable, Sendable {
        var slice: Slice
        var relay: Relay
        var bytes: Int
    }

    private enum Expectation: Hashable, Sendable {
        /// Of a delta.
        case beginning
        /// Of the delta with this `since` and target, past this position.
        case continuation(since: VersionVector, target: [Head], after: SlicePosition)
        /// The rest of a delta that was refused is dropped.
        case remains
    }

    /// Takes a slice in, after a check that it follows what came before. Returns whether it is to be applied: what is left
    /// of a refused delta is dropped at once.
    mutating func receive(_ slice: Slice, alsoSentTo: [ReplicaID], bytes: Int) throws(CloseReason) -> Bool {
        let held = queue + (applying.map { [$0] } ?? [])
        guard held.count < WireLimits.slicesInFlightMax,
            held.isEmpty || held.reduce(bytes, { $0 + $1.bytes }) <= WireLimits.sliceBytesInFlightMax
        else { throw CloseReason(.protocolError, "It sent more slices than were acknowledged.") }

        if !slice.isFirst {
            switch expectation {
            case .remains:
                if slice.isLast { expectation = .beginning }
                slicesDone += 1
                return false
            case .continuation(slice.since, slice.target, let after) where slice.follows(after):
                break
            case .beginning, .continuation:
                throw CloseReason(.protocolError, "It sent a slice that does not follow the one before.")
            }
        }
        try expect(after: slice)
        rowsRemaining = slice.isLast ? 0 : slice.rowsRemaining
        queue.append(Arrival(slice: slice, relay: Relay(vector: slice.targetVector, replicas: alsoSentTo), bytes: bytes))
        return true
    }

    private mutating func expect(after slice: Slice) throws(CloseReason) {
        if slice.isLast {
            expectation = .beginning
        } else if let position = slice.position {
            expectation = .continuation(since: slice.since, target: slice.target, after: position)
        } else {
            throw CloseReason(.protocolError, "It sent a slice without an end.")
        }
    }

    /// Whether nothing waits to be applied, and no delta is incomplete.
    var isIdle: Bool { applying == nil && queue.isEmpty && expectation == .beginning }

    /// The next slice to apply, if none is being applied.
    var next: Slice? { applying == nil ? queue.first?.slice : nil }

    /// Starts to apply the next slice.
    mutating func start() -> (slice: Slice, relay: Relay)? {
        guard applying == nil, !queue.isEmpty else { return nil }
        let arrival = queue.removeFirst()
        applying = arrival
        return (arrival.slice, arrival.relay)
    }

    /// The slice that was being applied is in the store. Returns it.
    mutating func applied() -> Slice? {
        guard let arrival = applying else { return nil }
        applying = nil
        slicesDone += 1
        rowsReceived += UInt64(arrival.slice.rowCount)
        follow(arrival)
        return arrival.slice
    }

    private mutating func follow(_ arrival: Arrival) {
        var progress = arrival.slice.isFirst ? DeltaProgress() : self.progress ?? DeltaProgress()
        progress.rows += arrival.slice.rowCount
        progress.bytes += arrival.bytes
        progress.rowsTotal = progress.rows + arrival.slice.rowsRemaining
        self.progress = arrival.slice.isLast ? nil : progress
    }

    /// The slice that was being applied was refused, and the rest of its delta with it. Returns whether there was one.
    mutating func refused() -> Bool {
        guard applying != nil else { return false }
        applying = nil
        progress = nil
        let rest = queue.firstIndex { $0.slice.isFirst } ?? queue.endIndex
        slicesDone += UInt64(1 + rest)
        if rest == queue.endIndex, expectation != .beginning {
            expectation = .remains
            rowsRemaining = 0
        }
        queue.removeFirst(rest)
        return true
    }
}
