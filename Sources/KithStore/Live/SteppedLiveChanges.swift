import GRDB
import KithSQLite

/// A live list that is looked at when its holder says so, and on its thread: for programs that have no time but their own, such as the
/// simulator.
package final class SteppedLiveChanges<Record: LiveRecord>: Sendable where Record.ID: Sendable {
    private let reader: LiveReader<Record>

    package init(_ store: SyncedDatabase, _ request: QueryInterfaceRequest<Record>) {
        reader = LiveReader(store, LiveQuery(request))
    }

    /// How often all rows were read, and not only those that had changed.
    package var wholeReads: Int { reader.wholeReads }

    /// How the list has changed since the last look; the first one brings all rows. `nil` if it has not.
    package func next() throws -> LiveChange<Record>? { try reader.lookNow() }
}
