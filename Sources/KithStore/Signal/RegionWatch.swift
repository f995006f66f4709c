import GRDB
import Synchronization

/// Tells of commits that may have changed what a query shows, also where Kith wrote them.
final class RegionWatch: TransactionObserver, Sendable {
    private let region: DatabaseRegion
    private let wake: @Sendable () -> Void
    private let hasChanged = Atomic(false)

    init(_ region: DatabaseRegion, wake: @escaping @Sendable () -> Void) {
        self.region = region
        self.wake = wake
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { region.isModified(byEventsOfKind: kind) }

    func databaseDidChange() { hasChanged.store(true, ordering: .relaxed) }

    func databaseDidChange(with event: DatabaseEvent) {
        guard region.isModified(by: event) else { return }
        hasChanged.store(true, ordering: .relaxed)
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_ db: Database) {
        if hasChanged.exchange(false, ordering: .relaxed) { wake() }
    }

    func databaseDidRollback(_ db: Database) { hasChanged.store(false, ordering: .relaxed) }
}
