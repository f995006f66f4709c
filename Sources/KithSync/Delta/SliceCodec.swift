import KithCausality

/// How a slice stands in bytes, after the replica table of its frame. See docs/protocol.md, "Slice".
enum SliceCodec {
    static func encode(_ slice: Slice, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.knowledge(slice.since, &replicas)
        writer.knowledge(slice.vector, &replicas)
        writer.knowledge(slice.target, &replicas)
        writer.fixed64(slice.clock.rawValue)
        writer.byte((slice.isFirst ? Flag.first : 0) | (slice.isLast ? Flag.last : 0) | Ending(of: slice).rawValue)
        writer.count(slice.rowsRemaining)
        writer.count(slice.tables.count)
        for table in slice.tables { encode(table, to: &writer) }
        writer.count(slice.rows.count)
        var row = ByteWriter()
        if writer.highest != nil { row.noteClaims() }
        for part in slice.rows { encode(part, to: &writer, &replicas, row: &row) }
        writer.takeClaims(of: row)
        encode(slice.position, of: slice, to: &writer)
    }

    /// Reads a slice but for what stands at the end of its frame.
    static func decode(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> (slice: Slice, ending: Ending) {
        let since: VersionVector = try reader.knowledge(replicas)
        let vector: VersionVector = try reader.knowledge(replicas)
        let target = try reader.knownHeads(replicas)
        guard vector.covers(VersionVector(target.map(\.dot))) else { throw .malformed("target past the sender's vector") }
        let clock = try reader.timestamp()
        let flags = try reader.byte()
        let rowsRemaining = try reader.index(below: Int(Int32.max), "rows remaining")
        let tables = try tables(&reader)
        let rows = try rows(&reader, tables, replicas)
        try check(rows, vector, reader.highest, replicas)
        if rows.first?.isPrelude == true, flags & Flag.last != 0 { throw .malformed("beginning of a row at the end") }
        let slice = Slice(
            since: since, vector: vector, target: target, clock: clock, isFirst: flags & Flag.first != 0,
            isLast: flags & Flag.last != 0, position: try position(&reader, rows, tables), rowsRemaining: rowsRemaining,
            tables: tables, rows: rows)
        return (slice, Ending(rawValue: flags))
    }

    private enum Flag {
        static let first: UInt8 = 1
        static let last: UInt8 = 2
    }
}

// MARK: - What stands at the end of the frame, for those who know it

extension SliceCodec {
    /// What the flags of a slice promise there.
    struct Ending: OptionSet {
        let rawValue: UInt8

        static let listing = Ending(rawValue: 4)
        static let incompleteColumns = Ending(rawValue: 8)
    }

    static func encodeEnding(of slice: Slice, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        if let listing = slice.listing {
            writer.knowledge(listing.floor, &replicas)
            writer.byte(listing.after == nil ? PositionTag.none : PositionTag.explicit)
            if let after = listing.after { writer.position(after) }
        }
        if Ending(of: slice).contains(.incompleteColumns) {
            for table in slice.tables { encode(table.incomplete, to: &writer) }
        }
    }

    /// Reads what ``encodeEnding(of:to:_:)`` has written.
    static func decode(
        _ ending: Ending, of slice: inout Slice, _ reader: inout ByteReader, _ replicas: ReplicaTable
    ) throws(WireError) {
        if ending.contains(.listing) {
            let floor = try reader.knowledge(replicas)
            guard slice.since.isEmpty, slice.vector.covers(floor) else { throw .malformed("listing") }
            let hasPosition = try reader.byte() == PositionTag.explicit
            let after = hasPosition ? try reader.position() : nil
            slice.listing = Listing(after: after, floor: floor)
        }
        if ending.contains(.incompleteColumns) {
            for table in slice.tables.indices { slice.tables[table].incomplete = try columns(&reader) }
        }
    }
}

extension SliceCodec.Ending {
    fileprivate init(of slice: Slice) {
        self = []
        if slice.listing != nil { insert(.listing) }
        if slice.tables.contains(where: { !$0.incomplete.isEmpty }) { insert(.incompleteColumns) }
    }
}

// MARK: - Tables

extension SliceCodec {
    private static func encode(_ table: TableSchema, to writer: inout ByteWriter) {
        writer.blob(table.name)
        encode(table.columns, to: &writer)
    }

    private static func encode(_ columns: [ColumnKey], to writer: inout ByteWriter) {
        writer.count(columns.count)
        for column in columns {
            writer.byte(column.kind.rawValue)
            writer.blob(column.name)
        }
    }

    private static func tables(_ reader: inout ByteReader) throws(WireError) -> [TableSchema] {
        let count = try reader.count(eachBytes: 2, limit: WireLimits.tablesMax, "tablesMax")
        var tables: [TableSchema] = []
        tables.reserveCapacity(count)
        for _ in 0..<count { tables.append(try table(&reader)) }
        let names = tables.map(\.name).sorted { $0.lexicographicallyPrecedes($1) }
        guard zip(names, names.dropFirst()).allSatisfy({ $0 != $1 }) else { throw .malformed("table named twice") }
        return tables
    }

    private static func table(_ reader: inout ByteReader) throws(WireError) -> TableSchema {
        let name = try reader.blob(limit: WireLimits.nameBytesMax, "nameBytesMax")
        return TableSchema(name: name, columns: try columns(&reader))
    }

    private static func columns(_ reader: inout ByteReader) throws(WireError) -> [ColumnKey] {
        let count = try reader.count(eachBytes: 2, limit: WireLimits.columnsMax, "columnsMax")
        var columns: [ColumnKey] = []
        columns.reserveCapacity(count)
        for _ in 0..<count {
            guard let kind = ColumnKind(rawValue: try reader.byte()) else { throw .unsupported("kind of column") }
            columns.append(ColumnKey(name: try reader.blob(limit: WireLimits.nameBytesMax, "nameBytesMax"), kind: kind))
        }
        let sorted = columns.sorted()
        guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0 != $1 }) else { throw .malformed("column named twice") }
        return columns
    }
}

// MARK: - Rows

extension SliceCodec {
    /// - Parameter row: a buffer that is used for each row anew.
    private static func encode(
        _ part: RowPart, to writer: inout ByteWriter, _ replicas: inout ReplicaTable, row: inout ByteWriter
    ) {
        writer.count(part.table)
        writer.identifier(part.id)
        row.clear()
        RowStateCodec.encode(part.state, shown: .inline, to: &row, &replicas)
        let flags = (part.isCut ? RowFlag.cut : 0) | (part.isPrelude ? RowFlag.prelude : 0)
        if flags != 0 { row.byte(flags) }
        writer.blob(row.bytes)
    }

    private static func rows(
        _ reader: inout ByteReader, _ tables: [TableSchema], _ replicas: ReplicaTable
    ) throws(WireError) -> [RowPart] {
        let count = try reader.count(eachBytes: 22, limit: WireLimits.sliceRowsMax, "sliceRowsMax")
        let bytesBefore = reader.remaining
        var textChangesLeft = WireLimits.textChangesMax
        var rows: [RowPart] = []
        rows.reserveCapacity(count)
        for _ in 0..<count {
            let part = try row(&reader, tables, replicas)
            if let last = rows.last, part.position(in: tables) <= last.position(in: tables) {
                throw .malformed("rows out of order")
            }
            guard !part.isPrelude || (count == 1 && part.state.isPrelude) else { throw .malformed("beginning of a row") }
            rows.append(part)
            textChangesLeft -= part.state.textChangeCount
            guard textChangesLeft >= 0 else { throw .limitExceeded("textChangesMax") }
            // A sender measures rows before it encodes them, so several rows may take twice what it cuts at.
            if count > 1, bytesBefore - reader.remaining > 2 * WireLimits.sliceBytesMax {
                throw .limitExceeded("sliceBytesMax")
            }
        }
        return rows
    }

    /// What lives in a row its sender knows: by its vector, or by what it knows of this row beyond that. A store that took anything else would
    /// hold commits that it does not know.
    ///
    /// - Parameter highest: see ``ByteReader/highest``; empty if that was not noted.
    private static func check(
        _ rows: [RowPart], _ vector: VersionVector, _ highest: [UInt64], _ replicas: ReplicaTable
    ) throws(WireError) {
        func isKnown(_ dot: Dot, in context: VersionVector = VersionVector()) -> Bool {
            vector.covers(dot) || context.covers(dot) || dot.replica == .nobody
        }
        // Rows with a context are few. The changes of a prelude wait for their row, which says what it knows.
        if !highest.isEmpty, zip(replicas.ids, highest).allSatisfy({ isKnown(Dot(replica: $0, sequence: $1)) }) { return }
        for row in rows where !row.isPrelude {
            guard row.state.liveDots.allSatisfy({ isKnown($0, in: row.state.context) }) else {
                throw .malformed("row with a commit that its sender does not know")
            }
        }
    }

    private static func row(
        _ reader: inout ByteReader, _ tables: [TableSchema], _ replicas: ReplicaTable
    ) throws(WireError) -> RowPart {
        let table = try reader.index(below: tables.count, "table number")
        let id: RowID = try reader.identifier()
        let columns = tables[table].columns
        return try reader.section("row") { (section) throws(WireError) -> RowPart in
            let state = try RowStateCodec.decode(&section, shown: .inline, replicas) { $0 < columns.count ? columns[$0].kind : nil }
            let flags = section.remaining > 0 ? try section.byte() : 0
            var part = RowPart(table: table, id: id, state: state, isCut: flags & RowFlag.cut != 0)
            part.isPrelude = flags & RowFlag.prelude != 0
            return part
        }
    }

    private enum RowFlag {
        static let cut: UInt8 = 1
        static let prelude: UInt8 = 2
    }
}

extension RowState {
    /// Whether nothing but changes of texts is there.
    fileprivate var isPrelude: Bool {
        tombstones.isEmpty && context.isEmpty
            && cells.allSatisfy { if case .text(let text) = $0.cell { text.present.isEmpty } else { false } }
    }
}

extension RowPart {
    /// Where this row stands in the order of a catch-up.
    package func position(in tables: [TableSchema]) -> SlicePosition {
        SlicePosition(table: tables[table].name, row: id)
    }
}

// MARK: - Position

extension SliceCodec {
    private enum PositionTag {
        static let none: UInt8 = 0
        static let lastRow: UInt8 = 1
        static let explicit: UInt8 = 2
    }

    private static func encode(_ position: SlicePosition?, of slice: Slice, to writer: inout ByteWriter) {
        let lastRow = slice.rows.last?.position(in: slice.tables)
        if let position, position != lastRow {
            writer.byte(PositionTag.explicit)
            writer.position(position)
        } else {
            writer.byte(lastRow == nil ? PositionTag.none : PositionTag.lastRow)
        }
    }

    private static func position(
        _ reader: inout ByteReader, _ rows: [RowPart], _ tables: [TableSchema]
    ) throws(WireError) -> SlicePosition? {
        let lastRow = rows.last?.position(in: tables)
        switch try reader.byte() {
        case PositionTag.none where lastRow == nil:
            return nil
        case PositionTag.lastRow where lastRow != nil:
            return lastRow
        case PositionTag.explicit:
            let position = try reader.position()
            let earliest = rows.first?.isPrelude == true ? lastRow?.predecessor : lastRow
            if let earliest, position < earliest { throw .malformed("position before the last row") }
            return position
        default:
            throw .malformed("position")
        }
    }
}
