import KithCausality
import KithStore
import KithSync

/// Makes what was committed survive a loss of power, and lets the peers know.
///
/// Commits are not flushed one by one: that would cost each of them a disk access. What comes within the pause is flushed
/// together; only then is it called durable. What fails is tried again, for no other commit may come.
struct DurabilityLoop: Sendable {
    static let pauseMilliseconds = 500

    let store: SyncedDatabase
    let hub: SessionHub
    let board: StatusBoard
    /// Yields whenever something was committed.
    let changes: AsyncStream<Void>
    var retryMilliseconds = StatusBoard.retryMilliseconds

    func run() async {
        for await _ in changes {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            while !Task.isCancelled, !flush() {
                try? await Task.sleep(for: .milliseconds(retryMilliseconds))
            }
        }
        _ = try? store.makeDurable()
    }

    /// Returns whether it could be done.
    private func flush() -> Bool {
        do {
            let durable = try store.makeDurable()
            board.obstacle(nil, to: .flushing)
            hub.handle(.durable(durable))
            return true
        } catch {
            board.obstacle(String(describing: error), to: .flushing)
            return false
        }
    }
}
