import Synchronization

/// Carries events to one reader, who gets the sum of what happened since it last asked (`EventBacklog`).
final class EventChannel: Sendable {
    private let backlog = Mutex(EventBacklog())
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    init() {
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func send(_ event: DiscoveryEvent) {
        backlog.withLock { $0.append(event) }
        arrived.yield()
    }

    /// What was sent before is still delivered.
    func finish() { arrived.finish() }

    func next() async -> DiscoveryEvent? {
        while true {
            if let event = backlog.withLock({ $0.popFirst() }) { return event }
            var iterator = arrivals.makeAsyncIterator()
            guard await iterator.next() != nil else { return backlog.withLock { $0.popFirst() } }
        }
    }
}
