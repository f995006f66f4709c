import Synchronization

/// What all connections of a transport may keep unsent together.
///
/// When it is full the connection that keeps most ends: many that fill some of it each, as one member's many devices may, cost each other
/// their places, and not those that read what they get.
final class OutboundRoom: Sendable {
    private struct Place {
        var bytes = 0
        let end: @Sendable (TransportError) -> Void
    }

    private struct State {
        var places: [Int: Place] = [:]
        var bytes = 0
        var next = 0
    }

    private let bytesMax: Int
    private let state = Mutex(State())

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Makes a place for a queue, which must leave it.
    ///
    /// - Parameter end: called without a lock when the queue shall end.
    func enter(end: @escaping @Sendable (TransportError) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.places[state.next] = Place(end: end)
            return state.next
        }
    }

    func leave(_ place: Int) {
        state.withLock { state in
            state.bytes -= state.places.removeValue(forKey: place)?.bytes ?? 0
        }
    }

    /// Takes room for a frame. If there is none, the queue that keeps most ends: the asking one if it is that.
    ///
    /// - Returns: why there is none.
    func take(_ count: Int, for place: Int) -> TransportError? {
        var ended: [Place] = []
        let refusal: TransportError? = state.withLock { state in
            guard let own = state.places[place] else { return Self.full(0) }
            while state.bytes + count > bytesMax {
                // Of equal ones the youngest.
                guard let fullest = state.places.max(by: { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }),
                    fullest.key != place, fullest.value.bytes > own.bytes + count
                else { return Self.full(own.bytes) }
                state.places[fullest.key] = nil
                ended.append(fullest.value)
                state.bytes -= fullest.value.bytes
            }
            state.places[place]?.bytes += count
            state.bytes += count
            return nil
        }
        for place in ended { place.end(Self.full(place.bytes)) }
        return refusal
    }

    /// Takes room that nobody may refuse, of a frame whose sender waited for it.
    func occupy(_ count: Int, by place: Int) {
        state.withLock { state in
            guard state.places[place] != nil else { return }
            state.places[place]?.bytes += count
            state.bytes += count
        }
    }

    func release(_ count: Int, by place: Int) {
        state.withLock { state in
            guard let own = state.places[place] else { return }
            let freed = min(count, own.bytes)
            state.places[place]?.bytes -= freed
            state.bytes -= freed
        }
    }

    /// Bytes that all keep.
    var bytes: Int { state.withLock { $0.bytes } }

    private static func full(_ bytes: Int) -> TransportError {
        TransportError(.stalled, "The peer reads too little: \(bytes) bytes wait to be sent to it, and there is no more room.")
    }
}
