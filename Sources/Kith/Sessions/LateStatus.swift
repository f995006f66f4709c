import Dispatch
import KithSync
import Synchronization

/// What a session says of its peer, told while the session waits for the store: another program may hold the store's lock for seconds.
/// If the store answers at once, nothing is told, so that a status does not flicker with every row.
struct LateStatus: ~Copyable {
    private static let wait = DispatchTimeInterval.milliseconds(500)

    private let isOver = Flag()

    /// - Parameter tell: called on another queue than the session's, and not any more once this value is gone.
    init(_ tell: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.wait) { [isOver] in
            isOver.value.withLock { isOver in if !isOver { tell() } }
        }
    }

    deinit { isOver.value.withLock { $0 = true } }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }
}
