import Dispatch
import KithSync
import Synchronization

/// Lets one task sleep until a time, or until somebody rings.
///
/// A timer of Dispatch goes when it is cancelled. `Task.sleep` would leave one behind until its time, 0.7 KB at each ring.
final class Alarm: Sendable {
    private struct State {
        var isRung = false
        var sleeper: CheckedContinuation<Void, Never>?
        /// The number of the sleep, so that the timer of an earlier one does not end it.
        var sleep: UInt64 = 0
        var isTimeOver = false
    }

    /// No timer waits longer at once: its clock stands still while the machine sleeps.
    private static let portionMilliseconds: Int64 = 60_000

    private let state = Mutex(State())

    /// Wakes the sleeper; if nobody sleeps, the next one does not fall asleep.
    func ring() {
        let sleeper = state.withLock { state in
            state.isRung = true
            return state.sleeper.take()
        }
        sleeper?.resume()
    }

    /// Returns at `due`, when it rings, or when the task is cancelled. Without `due` there is no limit.
    func sleep(until due: Instant?) async {
        repeat {
            let wait = due.map { max(0, $0.milliseconds - MonotonicClock.now.milliseconds) }
            await sleep(milliseconds: wait.map { min($0 + 1, Self.portionMilliseconds) })
        } while !state.withLock(\.isRung) && !Task.isCancelled && due.map { MonotonicClock.now < $0 } ?? true
        state.withLock { $0.isRung = false }
    }

    private func sleep(milliseconds: Int64?) async {
        let sleep = state.withLock { state in
            state.sleep += 1
            state.isTimeOver = false
            return state.sleep
        }
        let timer = milliseconds.map { DispatchSource.makeTimer(milliseconds: $0) { [weak self] in self?.endSleep(sleep) } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRung || state.isTimeOver || Task.isCancelled { return true }
                    state.sleeper = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            endSleep(sleep)
        }
        timer?.cancel()
    }

    private func endSleep(_ sleep: UInt64) {
        let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.sleep == sleep else { return nil }
            state.isTimeOver = true
            return state.sleeper.take()
        }
        sleeper?.resume()
    }
}

extension DispatchSource {
    fileprivate static func makeTimer(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let timer = makeTimerSource(queue: .global())
        timer.setEventHandler(handler: body)
        timer.schedule(deadline: .now() + .milliseconds(Int(milliseconds)))
        timer.resume()
        return timer
    }
}
