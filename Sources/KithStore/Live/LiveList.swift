import GRDB
import KithSQLite
import Observation

/// A live list for a user interface that observes objects.
///
///     @State private var items = LiveList(store, Item.order(Column("position")))
///     List(items.rows) { … }.task { await items.follow() }
@MainActor @Observable
public final class LiveList<Record: LiveRecord> where Record.ID: Sendable {
    /// The rows as they were when they were read last; empty until ``follow()`` has begun.
    public private(set) var rows = LiveRows<Record>()
    /// What was different then.
    public private(set) var difference = LiveDifference<Record.ID>()
    /// Where the last change came from.
    public private(set) var origins: Set<LiveOrigin> = []
    /// Why the list is followed no more; `nil` as long as nothing is wrong.
    public private(set) var error: StoreError?
    @ObservationIgnored private let changes: LiveChanges<Record>

    /// A list that is empty until it is followed.
    public init(_ store: SyncedDatabase, _ request: QueryInterfaceRequest<Record>) {
        changes = store.live(request)
    }

    /// Keeps the list in step with the database until the task is cancelled or something fails; may be called again then.
    public func follow() async {
        error = nil
        do throws(StoreError) {
            for try await change in changes {
                rows = change.rows
                difference = change.difference
                origins = change.origins
            }
        } catch {
            self.error = error
        }
    }
}
