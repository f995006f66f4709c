import KithCausality

extension RowState {
    /// No fewer bytes than the row takes in a slice, its id included; for rows of ordinary size not many more.
    package var sliceBytesBound: Int {
        var bytes = Bound.row + context.count * Bound.dot
        var last: Stamp?
        for entry in cells {
            bytes += Bound.cell
            switch entry.cell {
            case .register(let state):
                for write in state.writes {
                    bytes += Bound.write + write.value.byteCount + (write.stamp == last ? 0 : Bound.stamp)
                    last = write.stamp
                }
                bytes += state.replaced.bytesBound
            case .set(let state):
                bytes += state.touched.count * Bound.dot
                for element in state.elements { bytes += Bound.element + element.json.count + element.dots.count * Bound.dot }
                for json in state.adopted { bytes += Bound.element + json.count }
                bytes += state.adopters.count * Bound.dot + state.removed.bytesBound
            case .counter(let state):
                bytes += state.totals.count * Bound.total
                bytes += state.bases.count * (Bound.stamp + 10) + state.replaced.bytesBound
            case .text(let state):
                bytes += (state.touched.count + state.present.count) * Bound.dot
                if let adopted = state.adopted {
                    bytes += adopted.adopters.count * Bound.dot
                    for document in adopted.documents {
                        bytes += Bound.document + (document.edited.count + document.dismissed.count) * Bound.dot
                    }
                }
                for change in state.changes {
                    bytes += Bound.textChange + change.parents.count * Bound.dot + change.steps.count + change.inserted.count
                }
            }
        }
        for tombstone in tombstones { bytes += Bound.tombstone + tombstone.seen.count * Bound.dot }
        return bytes
    }

    /// The limit of the wire format that the row breaks, if it breaks one: no peer would accept it.
    package var exceededLimit: String? { exceededLimit(RowLimits()) }

    /// Whether no frame carries the row alone.
    package var isTooLargeToSend: Bool { sliceBytesBound > WireLimits.rowBytesMax || exceededLimit != nil }

    /// Changes of all texts of the row.
    package var textChangeCount: Int {
        cells.reduce(0) { count, entry in
            if case .text(let text) = entry.cell { count + text.changes.count } else { count }
        }
    }

    func exceededLimit(_ limits: RowLimits) -> String? {
        var entries = context.count
        for entry in cells {
            switch entry.cell {
            case .register(let state):
                if state.writes.count > limits.concurrent { return "concurrentMax" }
                if state.writes.contains(where: { $0.value.byteCount - 5 > WireLimits.valueBytesMax }) { return "valueBytesMax" }
                entries += 2 * state.writes.count + state.replaced.hashes.count
            case .set(let state):
                if state.elements.count > limits.elements { return "setElementsMax" }
                if state.elements.contains(where: { $0.dots.count > limits.concurrent }) { return "concurrentMax" }
                if state.elements.contains(where: { $0.json.count > WireLimits.valueBytesMax }) { return "valueBytesMax" }
                if state.adopted.count > limits.elements { return "setElementsMax" }
                if state.adopted.contains(where: { $0.count > WireLimits.valueBytesMax }) { return "valueBytesMax" }
                entries += state.touched.count + state.elements.reduce(0) { $0 + 1 + $1.dots.count }
                entries += state.adopters.count + state.adopted.count + state.removed.hashes.count
            case .counter(let state):
                if state.bases.count > WireLimits.replicasMax { return "replicasMax" }
                entries += state.totals.count + state.bases.count + state.replaced.hashes.count
            case .text(let state):
                if state.present.count > limits.concurrent { return "concurrentMax" }
                if state.changes.contains(where: { $0.parents.count > WireLimits.textParentsMax }) { return "textParentsMax" }
                if state.changes.contains(where: { max($0.steps.count, $0.inserted.count) > WireLimits.textBytesMax }) {
                    return "textBytesMax"
                }
                if state.adopted?.documents.count ?? 0 > WireLimits.textDocumentsMax { return "textDocumentsMax" }
                for document in state.adopted?.documents ?? [] { entries += 1 + document.edited.count + document.dismissed.count }
                entries += state.touched.count + state.present.count + (state.adopted?.adopters.count ?? 0)
                entries += state.changes.reduce(0) { $0 + 1 + $1.parents.count }
            }
        }
        if cells.count > WireLimits.columnsMax { return "columnsMax" }
        if textChangeCount > WireLimits.textChangesMax { return "textChangesMax" }
        if tombstones.count > limits.concurrent { return "concurrentMax" }
        entries += cells.count + tombstones.reduce(0) { $0 + 1 + $1.seen.count }
        return entries > limits.entries ? "entriesMax" : nil
    }
}

extension WireLimits {
    /// Entries of one row.
    static let rowEntriesMax = entriesMax - Bound.otherEntries
    /// Bytes of one row, by ``RowState/sliceBytesBound``: what else stands in a frame takes 4 MiB at most.
    static let rowBytesMax = frameBytesMax - (4 << 20)
}

extension ContentSet {
    fileprivate var bytesBound: Int { isEmpty ? 0 : 3 + 8 * hashes.count }
}

/// The most bytes that parts of a row take.
private enum Bound {
    /// A number of a replica and a sequence.
    static let dot = 2 + 9
    static let stamp = dot + 8
    /// Table, id, length, the counts of stamps, cells, tombstones and the context, and whether it is cut.
    static let row = 2 + 16 + 5 + 4 * 5 + 1
    /// Column, and the counts of what it holds.
    static let cell = 2 + 2 * 3
    /// The number of its stamp, and what a value may take beyond its ``ColumnValue/byteCount``.
    static let write = 4 + 2
    /// The length of its JSON and the count of its dots.
    static let element = 4 + 2
    static let total = dot + 10
    /// Flags, stamp, the count of parents, scalars replaced, two lengths.
    static let textChange = 1 + 9 + stamp + 2 + 5 + 2 * 4
    /// Number, flags, two stamps, the counts of two vectors.
    static let document = 9 + 1 + 2 * stamp + 4
    static let tombstone = dot + 2
    /// Entries of a frame beside those of its only row: replicas, vectors, heads, neighbours, a table, its columns and those that are
    /// incomplete.
    static let otherEntries = 4 * WireLimits.replicasMax + WireLimits.neighboursMax + 2 * WireLimits.columnsMax + 2
}
