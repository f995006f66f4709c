import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Changes of texts that came ahead of their row, and wait for it among ``AsideRows``: the preludes of docs/protocol.md.
package struct EarlyChanges {
    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    /// What is kept of one text.
    package struct Limits: Sendable {
        package var changesMax = WireLimits.textChangesAheadMax
        package var bytesMax = WireLimits.textBytesAheadMax

        package init() {}
    }

    /// - Throws: ``StoreError`` with code `sliceRejected` if the cell has more of them than `limits` allow.
    package func check(_ key: TextKey, _ limits: Limits) throws {
        let size = try AsideRows(connection).earlySize(at: key)
        guard size.count <= limits.changesMax, size.bytes <= limits.bytesMax else {
            throw StoreError(
                .sliceRejected,
                "A text has more than \(limits.changesMax) changes, or \(limits.bytesMax) bytes of them, that came ahead of their row.")
        }
    }

    /// Drops those of commits that the vector covers: their rows have come, from somebody else.
    package func dropCovered() throws {
        try AsideRows(connection).removeEarlyCovered()
    }

    /// Drops those that their rows know by now: these came in a delta of somebody else, while the one that brought the changes was given up.
    /// Changes of rows that are not here may be on their way to one that was collected, whatever the vector covers.
    ///
    /// - Parameter find: what is known of a row.
    package func dropKnown(_ ledger: RowLedger, find: (_ table: Int, _ id: RowID) throws -> RowState?) throws {
        let select = try AsideRows(connection).selectingEarly()
        let replicas = ledger.catalog.replicas.ids
        var waiting: [TextKey: [Dot]] = [:]
        while try select.step() {
            guard let id = RowID(bytes: select.blob(1)), replicas.indices.contains(select.int(3)) else { throw TextArchive.corrupt }
            let dot = Dot(replica: replicas[select.int(3)], sequence: UInt64(bitPattern: select.integer(4)))
            let key = TextKey(table: select.int(0), id: id, column: select.int(2), document: select.integer(5))
            waiting[key, default: []].append(dot)
        }
        for (key, dots) in waiting {
            guard case .text(let text)? = try find(key.table, key.id)?[key.column]
            else { continue }
            try TextCells(ledger).takeBack(dots.filter { text.adopted?[key.document]?.root == $0 || text.touched.covers($0) }, at: key)
        }
    }

    /// Drops all, when nobody can be bringing the rows: whoever goes on with a catch-up sends such a row from its beginning again.
    package func dropAll() throws {
        try AsideRows(connection).removeEarly()
    }
}
