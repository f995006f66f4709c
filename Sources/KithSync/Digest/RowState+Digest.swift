import KithCausality

extension RowState {
    /// A digest of what every replica with the same vector holds of this row; `nil` if the row does not count.
    ///
    /// A row that somebody has deleted does not count, for replicas remove what is left of it at times of their own; nor
    /// does which commits have merely touched a set. Tables and columns count by their names, so that a replica that
    /// knows the schema agrees with one that does not. Tells accidents, not forgeries: anybody can make two rows of one digest.
    ///
    /// - Parameter column: what the holder's column numbers stand for.
    package func digest(at position: SlicePosition, column: (Int) -> ColumnKey?) -> UInt64? {
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
                hash.add(write.stamp.markedTimestamp)
                hash.add(write.value)
            }
            hash.add(state.replaced)
        case .set(let state):
            for element in state.elements {
                hash.add(element.json)
                for dot in element.dots { hash.add(dot) }
            }
            for json in state.adopted { hash.add(json) }
            hash.add(state.removed)
        case .counter(let state):
            for total in state.totals {
                hash.add(total.dot)
                hash.add(UInt64(bitPattern: total.amount))
            }
            for base in state.bases {
                hash.add(base.stamp.dot)
                hash.add(UInt64(bitPattern: base.amount))
            }
            hash.add(state.replaced)
        case .text(let state):
            for dot in state.present { hash.add(dot) }
            hash.add(state.text ?? [])
            for document in state.adopted?.live ?? [] {
                hash.add(UInt64(bitPattern: document.number))
                if let found = document.found { hash.add(found.dot) }
                if document.number != state.document { hash.add(document.text ?? []) }
            }
        }
    }
}
