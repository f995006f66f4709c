import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Changes of texts that came ahead of their row, and wait for it among ``PortionRows``: the preludes of docs/protocol.md.
package struct EarlyChanges {
    package let ledger: RowLedger

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    private var portions: PortionRows { PortionRows(ledger) }

    /// What is kept of one text.
    package struct Limits: Sendable {
        package var changesMax = WireLimits.textChangesAheadMax
        package var bytesMax = WireLimits.textBytesAheadMax

        package init() {}
    }

    /// - Throws: ``StoreError`` with code `sliceRejected` if the cell has more of them than `limits` allow.
    package func check(_ key: TextKey, _ limits: Limits) throws {
        let size = try portions.size(at: key)
        guard size.count <= limits.changesMax, size.bytes <= limits.bytesMax else {
            throw StoreError(
                .sliceRejected,
                "A text has more than \(limits.changesMax) changes, or \(limits.bytesMax) bytes of them, that came ahead of their row.")
        }
    }

    /// Drops portions of which the vector covers all: their rows have come, from another device.
    package func dropCovered() throws {
        let vector = try VectorRecords(connection: ledger.connection).vector(ledger.catalog)
        for key in try portions.earlyKeys() {
            for portion in try portions.outlines(at: key) where portion.span.isCovered(by: vector) {
                try portions.replace(portion.number, by: [], at: key)
            }
        }
    }

    /// Drops those that their rows know by now: these came in a delta of another device, while the one that brought the changes was given up.
    /// Changes of rows that are not here may be on their way to one that was collected, whatever the vector covers.
    ///
    /// - Parameter find: what is known of a row.
    package func dropKnown(find: (_ table: Int, _ id: RowID) throws -> RowState?) throws {
        for key in try portions.earlyKeys() {
            guard case .text(let text)? = try find(key.table, key.id)?[key.column] else { continue }
            for portion in try portions.outlines(at: key) where portion.span.meets(text.touched) {
                let changes = try portions.changes(portion.number, at: key)
                let left = changes.filter { text.adopted?[key.document]?.root != $0.stamp.dot && !text.touched.covers($0.stamp.dot) }
                if left.count < changes.count { try portions.replace(portion.number, by: left, at: key) }
            }
        }
    }

    /// Drops all, when no peer can be bringing the rows: a peer that goes on with a catch-up sends such a row from its beginning again.
    package func dropAll() throws {
        try portions.removeEarly()
    }
}
