import KithCausality
import KithStore
import KithSync

/// Makes what was committed survive a loss of power, and lets the peers know.
///
/// Commits are not flushed one by one: that would cost each of them a disk access. What comes within the pause is flushed
/// together; only then is it called durable.
struct DurabilityLoop: Sendable {
    static let pauseMilliseconds = 500

    let store: KithStore
    let hub: SessionHub
    let board: StatusBoard
    /// Yields whenever something was committed.
    let changes: AsyncStream<Void>

    func run() async {
        for await _ in changes {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            if Task.isCancelled { break }
            do {
                let durable = try store.makeDurable()
                hub.post(.durable(durable))
            } catch {
                board.obstacle(String(describing: error))
            }
        }
        _ = try? store.makeDurable()
    }
}
