import GRDB

/// What an observer of the app's tables is told: how often something was committed, and which tables changed.
final class ObservationProbe: TransactionObserver {
    private var pending: Set<String> = []
    private(set) var commitCount = 0
    /// Only a filter: never iterated.
    private var changedTables: Set<String> = []

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        !eventKind.tableName.hasPrefix("kith_")
    }

    func databaseDidChange(with event: DatabaseEvent) {
        pending.insert(event.tableName)
    }

    func databaseDidChange() {}

    func databaseDidCommit(_ db: Database) {
        commitCount += 1
        changedTables.formUnion(pending)
        pending = []
    }

    func databaseDidRollback(_ db: Database) {
        pending = []
    }

    /// Forgets what it was told.
    func reset() {
        commitCount = 0
        changedTables = []
    }

    func wasTold(of table: String) -> Bool { changedTables.contains(table) }
}
