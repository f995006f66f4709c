import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Rows that differed from those of another machine although both knew the same, and were mended here: one of the two was damaged.
package struct Mending: Hashable, Sendable {
    /// How many were mended since ``SyncedDatabase/forgetMending()``.
    package let rowCount: UInt64
    /// The table and the id of the last one.
    package let table: String
    /// The row's id.
    package let row: RowID
    /// When that was, in milliseconds since 1970.
    package let milliseconds: Int64
}

extension SyncedDatabase {
    /// What was mended here, in this process or another, connected or not, until it is forgotten; `nil` if that is nothing.
    package func mending() throws -> Mending? {
        try read(rows: false) { ledger in try MendingRecord(ledger).load() }
    }

    /// Somebody has looked at the store, and all is well.
    package func forgetMending() throws {
        if try read(rows: false, { ledger in try MendingRecord(ledger).load() == nil && DamageRecord(ledger).load().isEmpty }) { return }
        try write { _, state in
            try MendingRecord(state.ledger).remove()
            try DamageRecord(state.ledger).remove()
        }
    }
}

/// The mending that ``MetaRecords`` keeps.
struct MendingRecord {
    private let records: VectorRecords
    private static let name = "mended"

    init(_ ledger: RowLedger) {
        records = VectorRecords(connection: ledger.connection)
    }

    func load() throws -> Mending? {
        guard case .blob(let bytes)? = try records.meta(Self.name) else { return nil }
        var reader = ByteReader(bytes)
        let (count, milliseconds) = (try reader.varint(), try reader.signed())
        let table = try reader.blob(limit: WireLimits.nameBytesMax, "nameBytesMax")
        return Mending(
            rowCount: count, table: String(decoding: table, as: UTF8.self), row: try reader.identifier(), milliseconds: milliseconds)
    }

    /// Adds rows that were just mended.
    func add(_ rows: [SlicePosition], nowMilliseconds now: Int64) throws {
        guard let last = rows.last else { return }
        let (count, overflows) = (try load()?.rowCount ?? 0).addingReportingOverflow(UInt64(rows.count))
        var writer = ByteWriter()
        writer.varint(overflows ? .max : count)
        writer.signed(now)
        writer.blob(last.table)
        writer.identifier(last.row)
        try records.setMeta(Self.name, .blob(writer.bytes))
    }

    func remove() throws {
        try records.removeMeta(Self.name)
    }
}
