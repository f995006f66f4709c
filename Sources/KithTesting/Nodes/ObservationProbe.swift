import GRDB
import Synchronization

/// What an observer of one of the app's tables is told.
final class ObservationProbe: TransactionObserver, Sendable {
    private struct State {
        var isPending = false
        var hasChanged = false
        var commitCount = 0
        /// Told of a change that nobody has asked for yet.
        var hasNews = false
    }

    let table: String
    private let state = Mutex(State())

    init(table: String) {
        self.table = table
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        eventKind.tableName.utf8.elementsEqual(table.utf8)
    }

    func databaseDidChange(with event: DatabaseEvent) {
        databaseDidChange()
    }

    func databaseDidChange() {
        state.withLock { $0.isPending = true }
    }

    func databaseDidCommit(_ db: Database) {
        state.withLock { state in
            state.commitCount += 1
            state.hasChanged = state.hasChanged || state.isPending
            state.hasNews = state.hasNews || state.isPending
            state.isPending = false
        }
    }

    func databaseDidRollback(_ db: Database) {
        state.withLock { $0.isPending = false }
    }

    /// Forgets what it was told, except towards ``takeNews()``.
    func reset() {
        state.withLock { $0 = State(hasNews: $0.hasNews) }
    }

    /// Whether it was told that the table changed, since this was last asked.
    func takeNews() -> Bool {
        state.withLock { state in
            defer { state.hasNews = false }
            return state.hasNews
        }
    }

    /// Commits of any kind since the last reset.
    var commitCount: Int { state.withLock(\.commitCount) }

    /// Whether it was told that the table changed, since the last reset.
    var hasChanged: Bool { state.withLock(\.hasChanged) }
}
