import KithCausality
import KithSQLite
import KithSync

/// Tells a reader without a ledger which rows of a table any process has changed since an earlier moment.
///
/// A row that has changed has a new commit in it, which stands in the index of commits or in a run, or its change was silent: see
/// ``SilentMarks``. It is what a peer would be sent that knows what was known then.
package struct ChangedRows {
    /// A moment, as one read transaction sees it.
    package struct Moment: Sendable {
        package let vector: VersionVector
        /// The replica that the store is.
        package let own: ReplicaID?
        package let silent: ColumnValue?
        fileprivate let catalog: ColumnValue?
        fileprivate let replicas: [ReplicaID]

        /// Whether the file has the same tables, and goes on from `earlier`.
        package func continues(_ earlier: Moment) -> Bool {
            catalog == earlier.catalog && own == earlier.own && vector.covers(earlier.vector)
        }
    }

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    package func now() throws -> Moment {
        let (replicas, vector) = try VectorRecords(connection: connection).knowledge()
        let meta = MetaRecords(connection)
        var own: ReplicaID?
        if case .integer(let number)? = try meta.value("self"), let index = Int(exactly: number), replicas.indices.contains(index) {
            own = replicas[index]
        }
        return Moment(
            vector: vector, own: own, silent: try meta.silentMark(), catalog: try meta.catalogVersion(), replicas: replicas)
    }

    /// The rows with commits that `earlier` did not know; `nil` if there are more than `limit`, or their ids cannot be told.
    package func ids(of table: Int, since earlier: Moment, to now: Moment, max limit: Int) throws -> [RowID]? {
        var ids: [RowID] = []
        let (index, runs) = (DotIndex(connection), ClockRuns(connection))
        // Only rows of an unfinished catch-up name commits that the vector does not cover. A replica that they alone name has no head yet,
        // and counts from the start.
        let isCovered = try ContextRecords(connection).isEmpty()
        for (number, replica) in now.replicas.enumerated() {
            if isCovered, now.vector[replica] == earlier.vector[replica] { continue }
            ids += try runs.ids(of: table, replica: number, after: earlier.vector[replica])
            if ids.count > limit { return nil }
            for row in try index.rows(of: table, replica: number, after: earlier.vector[replica], max: limit + 1 - ids.count) {
                guard let id = try id(of: row, table) else { return nil }
                ids.append(id)
            }
        }
        return ids.count > limit ? nil : ids
    }

    private func id(of row: RowReference, _ table: Int) throws -> RowID? {
        let select = try connection.statement(row > 0 ? ClockTable.idSQL(table) : HiddenRows.idSQL)
        select.bind(1, abs(row))
        defer { select.reset() }
        return try select.step() ? try select.rowID(0) : nil
    }
}
