import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// How far the digest has come, as ``MetaRecords`` keeps it.
package struct DigestRecord: Hashable {
    /// The sum of ``DigestRows``.
    package var rows = DigestSum()
    /// The row that was read last, in the order of positions; `nil` before the first.
    package var position: SlicePosition?
    /// Whether every row was read once.
    package var isComplete = false
    /// Of each replica, up to which commit changes are accounted for.
    package var accounted = VersionVector()
    /// The last entry of the index of commits that is accounted for, within the first commit that is not wholly so.
    package var entry: IndexEntry?

    package struct IndexEntry: Hashable {
        package let replica: Int
        package let sequence: Int64
        package let table: Int
        package let row: RowReference
    }
}

extension DigestRecord {
    /// The record of a store; an empty one if there is none that can be read, so that all is read anew.
    package static func load(_ ledger: RowLedger) throws -> DigestRecord {
        guard case .blob(let bytes)? = try VectorRecords(connection: ledger.connection).meta(name) else { return DigestRecord() }
        var reader = ByteReader(bytes)
        return (try? DigestRecord(&reader, ledger.catalog.replicas)) ?? DigestRecord()
    }

    package func save(_ ledger: RowLedger) throws {
        for dot in accounted.entries { _ = try ledger.number(of: dot.replica) }
        var writer = ByteWriter()
        writer.fixed64(rows.count)
        writer.fixed64(rows.value)
        writer.byte((isComplete ? 1 : 0) | (position == nil ? 0 : 2) | (entry == nil ? 0 : 4) | Self.passesOverDismissedTexts)
        if let position {
            writer.blob(position.table)
            writer.identifier(position.row)
        }
        writer.vector(accounted, &ledger.catalog.replicas)
        if let entry {
            writer.count(entry.replica)
            writer.signed(entry.sequence)
            writer.count(entry.table)
            writer.signed(entry.row)
        }
        try VectorRecords(connection: ledger.connection).setMeta(Self.name, .blob(writer.bytes))
    }

    private static let name = "digest"

    /// Says that what is noted of rows was computed by the present rule.
    private static let passesOverDismissedTexts: UInt8 = 8

    /// Lets every row be read once more.
    package mutating func readAnew() {
        (isComplete, position, entry) = (false, nil, nil)
    }

    private init(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) {
        let count = try reader.fixed64()
        rows = DigestSum(count: count, value: try reader.fixed64())
        let flags = try reader.byte()
        isComplete = flags & 1 != 0
        if flags & 2 != 0 {
            let table = try reader.blob(limit: WireLimits.nameBytesMax, "nameBytesMax")
            position = SlicePosition(table: table, row: try reader.identifier())
        }
        accounted = try reader.vector(replicas)
        if flags & 4 != 0 {
            let replica = try reader.index(below: Int(Int32.max), "replica")
            let sequence = try reader.signed()
            let table = try reader.index(below: Int(Int32.max), "table")
            entry = IndexEntry(replica: replica, sequence: sequence, table: table, row: try reader.signed())
        }
        if flags & Self.passesOverDismissedTexts == 0 { readAnew() }
    }
}
