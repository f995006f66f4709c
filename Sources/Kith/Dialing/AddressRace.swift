import KithSync
import KithTransport
import KithTrust

/// Dials several addresses of one place, each a little after the one before it, until one answers (RFC 8305, 5).
///
/// So an address that takes a connection and says nothing costs the others a quarter of a second, and not its whole time limit.
enum AddressRace {
    static let staggerMilliseconds = 250

    private enum Event<Value: Sendable>: Sendable {
        case ended(Result<Value, TransportError>)
        /// It is time for the next one.
        case tick
    }

    /// - Parameters:
    ///   - isNeeded: asked at every step; with `false` all attempts end.
    ///   - discard: gets what answered when something else had answered already.
    ///   - dial: makes one attempt, and ends soon when its task is cancelled.
    /// - Returns: what answered first, or why the last one failed; `nil` if none did either.
    static func run<Value: Sendable>(
        _ addresses: [PeerAddress], isNeeded: @escaping @Sendable () async -> Bool = { true },
        discard: @escaping @Sendable (Value) async -> Void,
        dial: @escaping @Sendable (PeerAddress) async throws(TransportError) -> Value
    ) async -> Result<Value, TransportError>? {
        await withTaskGroup(of: Event<Value>.self) { group in
            var waiting = addresses[...]
            var (underWay, isOver, result) = (0, false, nil as Result<Value, TransportError>?)
            func start(_ group: inout TaskGroup<Event<Value>>) {
                guard let address = waiting.popFirst() else { return }
                underWay += 1
                group.addTask {
                    do throws(TransportError) { return .ended(.success(try await dial(address))) } catch { return .ended(.failure(error)) }
                }
            }
            func stop(_ group: inout TaskGroup<Event<Value>>) {
                (waiting, isOver) = ([], true)
                group.cancelAll()
            }
            start(&group)
            group.addTask { await tick() }
            while underWay > 0, let event = await group.next() {
                switch event {
                case .ended(.success(let value)):
                    underWay -= 1
                    if case .success? = result {
                        await discard(value)
                    } else {
                        result = .success(value)
                        stop(&group)
                    }
                case .ended(.failure(let error)):
                    underWay -= 1
                    if case .success? = result { continue }
                    if error.code != .cancelled { result = .failure(error) }
                    // A refusal counts for all addresses of the device. Another device that answers at this one says nothing of the others.
                    if error.code == .refusedByPeer { stop(&group) } else { start(&group) }
                case .tick where isOver: continue
                case .tick:
                    guard await isNeeded(), !Task.isCancelled else {
                        stop(&group)
                        continue
                    }
                    start(&group)
                    if underWay > 0 { group.addTask { await tick() } }
                }
            }
            group.cancelAll()
            return result
        }
    }

    private static func tick<Value: Sendable>() async -> Event<Value> {
        try? await Task.sleep(for: .milliseconds(staggerMilliseconds))
        return .tick
    }
}
