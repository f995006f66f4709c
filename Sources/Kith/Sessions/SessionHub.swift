import Dispatch
import KithStore
import KithSync
import KithTransport
import KithTrust
import Synchronization

/// The open sessions of a node. Hands their router what happens, and does what it asks.
final class SessionHub: Sendable {
    private struct State {
        var router = SessionRouter()
        var runners: [SessionRouter.SessionID: SessionRunner] = [:]
    }

    static let untrusted = "the device is not trusted any more"

    private let store: SyncedDatabase
    private let queue = DispatchQueue(label: "kith.commits", qos: .userInitiated)
    private let state = Mutex(State())
    private let retryMilliseconds: Int
    /// Rings when the store could not be read.
    private let failure = Alarm()
    /// Told why the store cannot be read, and `nil` when it can.
    private let onReading: @Sendable (_ obstacle: String?) -> Void

    init(
        _ store: SyncedDatabase, retryMilliseconds: Int = StatusBoard.retryMilliseconds,
        onReading: @escaping @Sendable (_ obstacle: String?) -> Void
    ) {
        self.store = store
        self.retryMilliseconds = retryMilliseconds
        self.onReading = onReading
    }

    /// Reads the store again whenever it could not be read. Runs until the task is cancelled.
    func run() async {
        // What could not be read when it was stopped is still to be read.
        handle(.retry)
        while !Task.isCancelled {
            await failure.sleep(until: nil)
            try? await Task.sleep(for: .milliseconds(retryMilliseconds))
            if Task.isCancelled { return }
            handle(.retry)
        }
    }

    /// Returns when nothing is read any more of what was to be read so far.
    func isDone() async { await queue.isDone() }

    // MARK: Sessions

    /// A session is about to begin. What happens from now on waits for it.
    func open() -> SessionRouter.SessionID { state.withLock { $0.router.open() } }

    /// The session is there to be woken.
    func add(_ runner: SessionRunner) {
        state.withLock { $0.runners[runner.id] = runner }
    }

    func remove(_ runner: SessionRunner) {
        state.withLock { $0.runners[runner.id] = nil }
        handle(.ended(runner.id))
    }

    var runners: [SessionRunner] { state.withLock { Array($0.runners.values) } }

    /// What the session is to hear of, in order.
    func take(_ id: SessionRouter.SessionID) -> [PeerSession.Input] { state.withLock { $0.router.take(id) } }

    /// Ends the sessions with devices that are not trusted any more. Not even a goodbye: they get no byte from now on.
    func cutUntrusted(by trust: TrustStore) {
        for runner in runners where trust.admission(of: runner.connection.certificate) == nil {
            runner.connection.abort(reason: Self.untrusted)
        }
    }

    // MARK: The router

    func handle(_ input: SessionRouter.Input) {
        let (effects, runners) = state.withLock { state in (state.router.handle(input), state.runners) }
        for effect in effects {
            switch effect {
            case .wake(let id): runners[id]?.wake()
            case .readSummary: queue.async { self.readSummary() }
            case .retryLater: failure.ring()
            }
        }
    }

    private func readSummary() {
        do {
            let summary = try store.summary()
            handle(.read(summary))
            onReading(nil)
        } catch {
            onReading(String(describing: error))
            handle(.unreadable)
        }
    }
}
