import Dispatch
import KithSync
import Synchronization

/// Tells what a session says of its peer if the session has waited for the store for half a second: another program may hold the store's
/// lock. If the store answers before, it tells nothing, so that the status does not flicker with each row.
struct LateStatus: ~Copyable {
    private static let wait = DispatchTimeInterval.milliseconds(500)

    private let isOver = Flag()

    /// - Parameter tell: this calls it on another queue than the session's, and no more once this value is gone.
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
