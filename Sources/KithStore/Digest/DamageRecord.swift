import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Rows that a check found changed or gone behind Kith's back, with what each added to the digest then. A row that still adds the same was
/// neither mended nor written since. ``MetaRecords`` keeps this, because a digest that is read anew takes rows as they are.
struct DamageRecord {
    /// Of more rows than this the rest is not noted.
    static let rowsMax = 10_000
    private static let name = "damaged"

    private let ledger: RowLedger
    private let records: VectorRecords

    init(_ ledger: RowLedger) {
        self.ledger = ledger
        records = VectorRecords(connection: ledger.connection)
    }

    /// What each row added; `nil` for one that was gone. Nothing if the record cannot be read: it is no reason to stop a check.
    func load() throws -> [SlicePosition: UInt64?] {
        guard case .blob(let bytes)? = try records.meta(Self.name) else { return [:] }
        return (try? Self.rows(in: bytes)) ?? [:]
    }

    private static func rows(in bytes: [UInt8]) throws(WireError) -> [SlicePosition: UInt64?] {
        var reader = ByteReader(bytes)
        var rows: [SlicePosition: UInt64?] = [:]
        for _ in 0..<(try reader.count(limit: rowsMax, "rows")) {
            let table = try reader.blob(limit: WireLimits.nameBytesMax, "nameBytesMax")
            let position = SlicePosition(table: table, row: try reader.identifier())
            let isThere = try reader.byte() != 0
            rows.updateValue(isThere ? try reader.fixed64() : nil, forKey: position)
        }
        return rows
    }

    /// Adds rows as they are now.
    func add(_ positions: [SlicePosition]) throws {
        if positions.isEmpty { return }
        var rows = try load()
        let digests = DigestLedger(ledger: ledger)
        for position in positions where rows.count < Self.rowsMax {
            guard let table = ledger.catalog.table(named: position.table) else { continue }
            let row = try RowCandidates(ledger: ledger).find(table, position.row)
            rows.updateValue(try row.flatMap(digests.digest), forKey: position)
        }
        var writer = ByteWriter()
        writer.count(rows.count)
        for (position, digest) in rows.sorted(by: { $0.key < $1.key }) {
            writer.blob(position.table)
            writer.identifier(position.row)
            writer.byte(digest == nil ? 0 : 1)
            if let digest { writer.fixed64(digest) }
        }
        try records.setMeta(Self.name, .blob(writer.bytes))
    }

    func remove() throws {
        try records.removeMeta(Self.name)
    }
}
