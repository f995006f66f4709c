import KithSync
import Synchronization

/// Lets one task sleep until a time, or until somebody rings.
final class Alarm: Sendable {
    private struct State {
        var isRung = false
        var sleeper: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Wakes the sleeper; if nobody sleeps, the next one does not fall asleep.
    func ring() {
        state.withLock { state in
            state.isRung = true
            state.sleeper?.cancel()
        }
    }

    /// Returns at `due`, when it rings, or when the task is cancelled. Without `due` there is no limit.
    func sleep(until due: Instant?) async {
        let wait = due.map { max(0, $0.milliseconds - MonotonicClock.now.milliseconds) + 1 } ?? 86_400_000
        let sleeper = Task { _ = try? await Task.sleep(for: .milliseconds(wait)) }
        state.withLock { state in
            if state.isRung { sleeper.cancel() }
            state.sleeper = sleeper
        }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { state in
            state.isRung = false
            state.sleeper = nil
        }
    }
}
