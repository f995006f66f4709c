import Dispatch
import KithCausality
import KithStore
import KithSync
import KithTransport
import KithTrust
import Synchronization

/// The open sessions of a node, and what all of them must hear of.
final class SessionHub: Sendable {
    private struct State {
        var runners: [ObjectIdentifier: SessionRunner] = [:]
        var summary: StoreSummary?
        var isReading = false
        var hasChanged = false
    }

    static let untrusted = "the device is not trusted any more"

    private let store: KithStore
    private let queue = DispatchQueue(label: "kith.commits", qos: .userInitiated)
    private let state = Mutex(State())
    private let retryMilliseconds: Int
    /// Rings when the store could not be read.
    private let failure = Alarm()
    /// Told why the store cannot be read, and `nil` when it can.
    private let onReading: @Sendable (_ obstacle: String?) -> Void

    init(
        _ store: KithStore, retryMilliseconds: Int = StatusBoard.retryMilliseconds,
        onReading: @escaping @Sendable (_ obstacle: String?) -> Void
    ) {
        self.store = store
        self.retryMilliseconds = retryMilliseconds
        self.onReading = onReading
    }

    /// Reads the store again whenever it could not be read. Runs until the task is cancelled.
    func run() async {
        // What could not be read when it was stopped is still to be read.
        queue.async { self.passOn() }
        while !Task.isCancelled {
            await failure.sleep(until: nil)
            try? await Task.sleep(for: .milliseconds(retryMilliseconds))
            if Task.isCancelled { return }
            queue.async { self.passOn() }
        }
    }

    func add(_ runner: SessionRunner) {
        state.withLock { $0.runners[ObjectIdentifier(runner)] = runner }
    }

    func remove(_ runner: SessionRunner) {
        state.withLock { $0.runners[ObjectIdentifier(runner)] = nil }
        tellNeighbours()
    }

    var runners: [SessionRunner] { state.withLock { Array($0.runners.values) } }

    /// Something was committed, by whomever. Mostly the news say what the store now knows, which is passed on at once; otherwise it
    /// is read, and commits that come meanwhile are passed on together.
    func storeChanged(_ news: CommitNews) {
        let summary = state.withLock { state -> StoreSummary? in
            guard !state.isReading, let summary = state.summary?.learning(news) else { return nil }
            state.summary = summary
            return summary
        }
        if let summary { post(.committed(summary, relay: nil)) } else { readStore() }
    }

    private func readStore() {
        let isFirst = state.withLock { state in
            state.hasChanged = true
            defer { state.isReading = true }
            return !state.isReading
        }
        if isFirst { queue.async { self.passOn() } }
    }

    /// A slice is about to be applied, whose sender brings it to others as well. Told before the commit can be noticed.
    func willApply(_ relay: Relay, from runner: SessionRunner) {
        guard let summary = state.withLock(\.summary) else { return }
        post(.committed(summary, relay: relay), except: runner)
    }

    func post(_ input: PeerSession.Input, except author: SessionRunner? = nil) {
        for runner in runners where runner !== author { runner.post(input) }
    }

    /// Ends the sessions with devices that are not trusted any more. Not even a goodbye: they get no byte from now on.
    func cutUntrusted(by trust: TrustStore) {
        for runner in runners where trust.admission(of: runner.connection.certificate) == nil {
            runner.connection.abort(reason: Self.untrusted)
        }
    }

    /// Tells every session who the others' peers are.
    func tellNeighbours() {
        let peers = runners.compactMap(\.peer)
        post(.neighbours(peers.sorted()))
    }

    private func passOn() {
        while state.withLock({ state in
            defer { state.hasChanged = false }
            if !state.hasChanged { state.isReading = false }
            return state.hasChanged
        }) {
            do {
                let summary = try store.summary()
                state.withLock { $0.summary = summary }
                post(.committed(summary, relay: nil))
                onReading(nil)
            } catch {
                // It is still to be read, and nothing is passed on without that.
                state.withLock { $0.hasChanged = true }
                onReading(String(describing: error))
                failure.ring()
                return
            }
        }
    }
}
