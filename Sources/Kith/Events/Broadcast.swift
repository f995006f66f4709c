import Synchronization

/// Tells any number of readers what is told to it, in order.
///
/// It wakes readers under no lock of its own. A thread that cancels a task holds a lock of the runtime while it ends the task's streams,
/// and a thread that wakes the task waits for that lock. If the second held a lock that the end of a stream takes, both would wait for
/// ever.
final class Broadcast<Element: Sendable>: Sendable {
    private struct Reader {
        let continuation: AsyncStream<Element>.Continuation
        /// How many elements were there before it came.
        let after: UInt64
    }

    private struct State {
        var readers: [Int: Reader] = [:]
        var readersEver = 0
        var elementsEver: UInt64 = 0
        /// What is not told yet.
        var waiting: [Element] = []
        /// Whether a thread is telling readers now. It tells what others add meanwhile, too.
        var isTelling = false
    }

    private let state = Mutex(State())

    deinit {
        for reader in state.withLock(\.readers).values { reader.continuation.finish() }
    }

    /// How many read now.
    var readerCount: Int { state.withLock(\.readers.count) }

    /// For one reader: `first`, and what is added from now on. It ends with the reader or with this object.
    ///
    /// - Parameter max: elements that wait for a reader that is slow; the oldest go first.
    func stream(beginningWith first: Element? = nil, bufferedMax max: Int) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(max))
        // No task waits for it yet that this would wake.
        if let first { continuation.yield(first) }
        let number = state.withLock { state in
            state.readersEver += 1
            state.readers[state.readersEver] = Reader(continuation: continuation, after: state.elementsEver)
            return state.readersEver
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    private func remove(_ number: Int) {
        // It is released behind the lock.
        _ = state.withLock { $0.readers.removeValue(forKey: number) }
    }

    /// Adds an element, which ``tell()`` tells: to be called under the lock that orders the elements.
    func add(_ element: Element) {
        state.withLock { state in
            state.elementsEver += 1
            state.waiting.append(element)
        }
    }

    /// Tells what was added, or leaves it to the thread that is telling readers now. To be called under no lock.
    func tell() {
        var isFirst = true
        while let (elements, first, readers) = next(isFirst) {
            isFirst = false
            for (offset, element) in elements.enumerated() {
                for reader in readers where first + UInt64(offset) > reader.after { reader.continuation.yield(element) }
            }
        }
    }

    /// What is to be told next, the number of its first element, and to whom; `nil` at the end.
    private func next(_ isFirst: Bool) -> ([Element], UInt64, [Reader])? {
        state.withLock { state in
            if isFirst, state.isTelling { return nil }
            state.isTelling = !state.waiting.isEmpty
            guard state.isTelling else { return nil }
            defer { state.waiting = [] }
            return (state.waiting, state.elementsEver - UInt64(state.waiting.count) + 1, Array(state.readers.values))
        }
    }
}
