import KithLedger
import KithMerge
import KithSync
import KithTexts

/// An observation of a store's commits. It ends when it is cancelled or nobody holds it any more.
public final class CommitObservation: Sendable {
    private let signal: CommitSignal
    private let token: UInt64

    init(_ signal: CommitSignal, _ body: @escaping @Sendable (CommitNews) -> Void) {
        self.signal = signal
        token = signal.add(body)
    }

    deinit {
        cancel()
    }

    /// Ends the observation. A call of its closure may still be under way.
    public func cancel() {
        signal.remove(token)
    }
}

extension SyncedDatabase {
    /// Calls `body` after every commit that moved the version vector: local or applied, by this process at once, by
    /// another one within about 30 milliseconds.
    ///
    /// Several commits may be told by one call, and a call may come without news: what is new follows from what the database holds.
    /// `body` runs on the thread that committed and must return soon; it must not use the store itself.
    public func observeCommits(_ body: @escaping @Sendable () -> Void) -> CommitObservation {
        CommitObservation(signal) { _ in body() }
    }

    /// The same, with what is known of the commit.
    package func observeCommitNews(_ body: @escaping @Sendable (CommitNews) -> Void) -> CommitObservation {
        CommitObservation(signal, body)
    }

    /// The same as a sequence: an element after every commit, or one for several if the reader is slower.
    public var commits: AsyncStream<Void> { stream(of: [signal]) }

    /// The same, with one more element when the store is closed: a reader that asks the store then hears of it.
    var commitsAndEnd: AsyncStream<Void> { stream(of: [signal, end]) }

    private func stream(of signals: [CommitSignal]) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observations = signals.map { CommitObservation($0) { _ in continuation.yield() } }
        continuation.onTermination = { _ in for observation in observations { observation.cancel() } }
        return stream
    }
}
