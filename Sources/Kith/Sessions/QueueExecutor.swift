import Dispatch

/// Runs an actor on a serial queue, so that what it awaits comes back to the queue without a detour, and what is on the queue is on the
/// actor.
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}

extension DispatchQueue {
    /// Returns when all that was put into the queue before is done; for a serial queue.
    func isDone() async {
        await withCheckedContinuation { continuation in async { continuation.resume() } }
    }
}
