import KithCausality
import KithStore
import KithSync

/// Makes what was committed survive a loss of power, and lets the peers know.
///
/// Commits are not flushed one by one: that would cost each of them a disk access. What comes within the pause is flushed
/// together; only then is it called durable. What fails is tried again, for no other commit may come.
///
/// As long as commits follow each other, the store keeps its mark that others may know what the disk has not. Else each commit would wait for
/// the disk to write it again, before it is told.
struct DurabilityLoop: Sendable {
    static let pauseMilliseconds = 500
    /// How long no commit comes before the store rests.
    static let restMilliseconds = 3_000

    let store: SyncedDatabase
    let hub: SessionHub
    let board: StatusBoard
    /// Yields whenever something was committed.
    let changes: AsyncStream<Void>
    var retryMilliseconds = StatusBoard.retryMilliseconds
    var restMilliseconds = Self.restMilliseconds

    func run() async {
        var rest: Task<Void, Never>?
        for await _ in changes {
            rest?.cancel()
            await rest?.value
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            while !Task.isCancelled, !flush() {
                try? await Task.sleep(for: .milliseconds(retryMilliseconds))
            }
            rest = Task { [store, restMilliseconds] in
                guard (try? await Task.sleep(for: .milliseconds(restMilliseconds))) != nil else { return }
                _ = try? store.makeDurable()
            }
        }
        rest?.cancel()
        await rest?.value
        _ = try? store.makeDurable()
    }

    /// Returns whether it could be done.
    private func flush() -> Bool {
        do {
            let durable = try store.makeDurable(isResting: false)
            board.obstacle(nil, to: .flushing)
            hub.handle(.durable(durable))
            return true
        } catch {
            board.obstacle(String(describing: error), to: .flushing)
            return false
        }
    }
}
