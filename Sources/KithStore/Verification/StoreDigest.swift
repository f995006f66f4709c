import KithCausality
import KithSync

/// A summary of what a store shows and why: two stores with equal vectors have equal digests.
public struct StoreDigest: Hashable, Sendable {
    /// What the store knew.
    public let vector: VersionVector
    /// The sum, without carry, of a 128-bit digest of every visible row with its clocks, so that order does not matter.
    public let rows: [UInt64]

    /// Whether both stores know the same and yet hold different rows, which a merge never causes.
    public func contradicts(_ other: StoreDigest) -> Bool {
        vector == other.vector && rows != other.rows
    }
}

extension KithStore {
    /// Computes the digest from scratch, in time proportional to the store.
    ///
    /// Deleted rows take no part: each store collects them at a time of its own. A store that knows tables or columns which
    /// the other does not show, or one in the middle of a catch-up, may differ without fault.
    public func digest() throws -> StoreDigest {
        try read { ledger in
            var sums: [UInt64] = [0, 0]
            try TableScan(ledger: ledger).read(after: nil) { row in
                if row.reference > 0 {
                    var digest = RowDigest()
                    digest.add(row, ledger.catalog.tables[row.table])
                    sums[0] &+= digest.low.value
                    sums[1] &+= digest.high.value
                }
                return true
            }
            return StoreDigest(vector: try VectorRecords(connection: ledger.connection).vector(ledger.catalog), rows: sums)
        }
    }
}

/// The digest of one row: what it is called, its cells by column name, their commits and values.
private struct RowDigest {
    var low = FNV1a(offset: 0xcbf2_9ce4_8422_2325)
    var high = FNV1a(offset: 0x6c62_272e_07bb_0142)

    mutating func add(_ row: ReadRow, _ table: CatalogTable) {
        add(row.position.table)
        add(row.position.row.bytes)
        // Stores number columns differently.
        for entry in row.state.cells.sorted(by: { table.columns[$0.column].key < table.columns[$1.column].key }) {
            add(table.columns[entry.column].key.name)
            add(UInt64(table.columns[entry.column].key.kind.rawValue))
            add(entry.cell)
        }
        for tombstone in row.state.tombstones {
            add(tombstone.dot)
            for dot in tombstone.seen.entries { add(dot) }
        }
    }

    private mutating func add(_ cell: Cell) {
        switch cell {
        case .register(let state):
            for write in state.writes {
                add(write.stamp.dot)
                add(write.stamp.timestamp.rawValue)
                add(write.value)
            }
        case .set(let state):
            for element in state.elements {
                add(element.json)
                for dot in element.dots { add(dot) }
            }
            for dot in state.touched.entries { add(dot) }
        case .counter(let state):
            for total in state.totals {
                add(total.dot)
                add(UInt64(bitPattern: total.amount))
            }
        case .text(let state):
            for dot in state.present + state.touched.entries { add(dot) }
            add(state.text ?? [])
        }
    }

    private mutating func add(_ value: Value) {
        switch value {
        case .null: add(0)
        case .integer(let number):
            add(1)
            add(UInt64(bitPattern: number))
        case .real(let bitPattern):
            add(2)
            add(bitPattern)
        case .text(let bytes):
            add(3)
            add(bytes)
        case .blob(let bytes):
            add(4)
            add(bytes)
        }
    }

    private mutating func add(_ dot: Dot) {
        add(dot.replica.high)
        add(dot.replica.low)
        add(dot.sequence)
    }

    private mutating func add(_ bytes: [UInt8]) {
        add(UInt64(bytes.count))
        low.add(bytes)
        high.add(bytes)
    }

    private mutating func add(_ number: UInt64) {
        low.add(number)
        high.add(number)
    }
}

/// Fowler, Noll and Vo, 64 bits, variant 1a, with an offset of choice. Tells accidents, not forgeries.
private struct FNV1a {
    var value: UInt64

    init(offset: UInt64) {
        value = offset
    }

    mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { value = (value ^ (number >> UInt64(shift) & 0xff)) &* 0x100_0000_01b3 }
    }
}
