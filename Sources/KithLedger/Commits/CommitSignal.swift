import KithCausality
import KithSync
import Synchronization

/// Tells whoever asked that the store's vector has moved, whichever process moved it.
package final class CommitSignal: Sendable {
    private struct State {
        /// What is known to have been committed, so that one commit is told once.
        var known = VersionVector()
        /// Another process has committed, and observations of this process have not been told.
        var hasForeignCommits = false
        var observers: [(token: UInt64, body: @Sendable (CommitNews) -> Void)] = []
        var nextToken: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: Observers

    package func add(_ body: @escaping @Sendable (CommitNews) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextToken += 1
            state.observers.append((state.nextToken, body))
            return state.nextToken
        }
    }

    package func remove(_ token: UInt64) {
        state.withLock { state in state.observers.removeAll { $0.token == token } }
    }

    private func fire(_ news: CommitNews) {
        for observer in state.withLock({ $0.observers }) { observer.body(news) }
    }

    /// Has every observer look once.
    package func ring() { fire(.unknown) }

    // MARK: What happened

    /// A transaction of this process that began at `vector` is about to move it.
    ///
    /// What is in `vector` and not known yet was committed by another process, and must not be hidden by what follows.
    package func willMove(from vector: VersionVector) {
        state.withLock { state in
            if !state.known.covers(vector) { state.hasForeignCommits = true }
        }
    }

    /// The store was opened at `vector`: nobody needs to be told of that.
    package func begin(at vector: VersionVector) {
        state.withLock { $0.known.join(vector) }
    }

    /// This process has committed.
    package func didCommit(_ vector: VersionVector, _ news: CommitNews) {
        state.withLock { $0.known.join(vector) }
        fire(news)
    }

    /// The store was seen at `vector`. Returns whether another process has committed since the last time.
    ///
    /// To be called by whoever has the writing connection, so that all commits of this process have been told.
    package func didRead(_ vector: VersionVector) -> Bool {
        state.withLock { state in
            let isForeign = state.hasForeignCommits || !state.known.covers(vector)
            state.hasForeignCommits = false
            state.known.join(vector)
            return isForeign
        }
    }

    /// Tells of commits of another process.
    package func fireForeign() {
        fire(.unknown)
    }
}
