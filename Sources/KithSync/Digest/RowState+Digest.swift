import KithCausality

extension RowState {
    /// A digest of what every replica with the same vector holds of this row; `nil` if the row does not count.
    ///
    /// A row that somebody has deleted does not count, for replicas remove what is left of it at times of their own; nor
    /// does which commits have merely touched a set. Tables and columns count by their names, so that a replica that
    /// knows the schema agrees with one that does not. Tells accidents, not forgeries: anybody can make two rows of one digest.
    ///
    /// - Parameter column: what the holder's column numbers stand for.
    public func digest(at position: SlicePosition, column: (Int) -> ColumnKey?) -> UInt64? {
        guard tombstones.isEmpty else { return nil }
        var hash = FNV1a()
        hash.add(position.table)
        hash.add(position.row.high)
        hash.add(position.row.low)
        let named = cells.compactMap { entry in column(entry.column).map { (key: $0, cell: entry.cell) } }
        var isEmpty = true
        for (key, cell) in named.sorted(by: { $0.key < $1.key }) where !cell.dots.isEmpty {
            isEmpty = false
            hash.add(key.name)
            hash.add(UInt64(key.kind.rawValue))
            cell.add(to: &hash)
        }
        return isEmpty ? nil : hash.mixed
    }
}

extension Cell {
    fileprivate func add(to hash: inout FNV1a) {
        switch self {
        case .register(let state):
            for write in state.writes {
                hash.add(write.stamp.dot)
                hash.add(write.stamp.timestamp.rawValue)
                hash.add(write.value)
            }
        case .set(let state):
            for element in state.elements {
                hash.add(element.json)
                for dot in element.dots { hash.add(dot) }
            }
        case .counter(let state):
            for total in state.totals {
                hash.add(total.dot)
                hash.add(UInt64(bitPattern: total.amount))
            }
        case .text(let state):
            for dot in state.present { hash.add(dot) }
            hash.add(state.text ?? [])
        }
    }
}

/// Fowler, Noll and Vo, 64 bits, variant 1a.
private struct FNV1a {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash with every bit spread over all (the finaliser of SplitMix64), as a sum of hashes needs it.
    var mixed: UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func add(_ bytes: [UInt8]) {
        add(UInt64(bytes.count))
        var hash = value
        bytes.withUnsafeBufferPointer { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
        value = hash
    }

    mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0x100_0000_01b3
        value = (value ^ (value >> 32)) &* 0x100_0000_01b3
    }

    mutating func add(_ dot: Dot) {
        add(dot.replica.high)
        add(dot.replica.low)
        add(dot.sequence)
    }

    mutating func add(_ content: Value) {
        switch content {
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
}
