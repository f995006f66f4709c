import KithCausality
import KithSync

extension ModelStore {
    /// Does what a session asks while it compares, on rows in memory.
    mutating func perform(_ task: DigestTask) -> DigestResult {
        switch task {
        case .read:
            if rows.values.contains(where: { !$0.context.isEmpty }) { return .read(nil, isBehind: false) }
            return .read(StoreDigest(vector: vector, rows: sum(DigestRange())), isBehind: false)
        case .divide(let range, let at):
            guard at == vector else { return .unavailable }
            let counted = digests(in: range)
            let size = max(1, (counted.count + WireLimits.digestPartsMax - 1) / WireLimits.digestPartsMax)
            var parts: [DigestPart] = []
            for start in stride(from: 0, to: counted.count, by: size) {
                let rows = counted[start..<min(start + size, counted.count)]
                var sum = DigestSum()
                for row in rows { sum.add(row.digest) }
                let isLast = start + size >= counted.count
                parts.append(DigestPart(through: isLast ? range.through : rows.last?.position, rows: sum))
            }
            return .parts(parts.isEmpty ? [DigestPart(through: range.through, rows: DigestSum())] : parts)
        case .sum(let range, let parts, let at):
            guard at == vector else { return .unavailable }
            var sums = parts.map { _ in DigestSum() }
            var index = 0
            for (position, digest) in digests(in: range) {
                while let through = parts[index].through, through < position { index += 1 }
                sums[index].add(digest)
            }
            return .sums(sums)
        case .readRows(let range, let at):
            return at == vector ? .rows(slice(of: range)) : .unavailable
        case .mend(let range, let slice):
            guard slice.vector == vector else { return .unavailable }
            let own = self.slice(of: range)
            return .mended(own, changed: mend(slice.rows.filter { range.contains(Self.position($0.id)) }))
        }
    }

    private static func position(_ id: RowID) -> SlicePosition { SlicePosition(table: ModelColumn.table.name, row: id) }

    private func positions(in range: DigestRange) -> [SlicePosition] {
        rows.keys.sorted().map(Self.position).filter(range.contains)
    }

    private func digests(in range: DigestRange) -> [(position: SlicePosition, digest: UInt64)] {
        positions(in: range).compactMap { position in
            rows[position.row]?.digest(at: position) { ModelColumn.table.columns[$0] }.map { (position, $0) }
        }
    }

    private func sum(_ range: DigestRange) -> DigestSum {
        var sum = DigestSum()
        for (_, digest) in digests(in: range) { sum.add(digest) }
        return sum
    }

    private func slice(of range: DigestRange) -> Slice {
        let parts = positions(in: range).compactMap { position in
            rows[position.row].map { RowPart(table: 0, id: position.row, state: $0) }
        }
        return Slice(
            since: VersionVector(), vector: vector, target: heads, clock: clock.latest, isFirst: true, isLast: true,
            position: parts.last.map { Self.position($0.id) }, rowsRemaining: 0, tables: [ModelColumn.table], rows: parts)
    }

    private mutating func mend(_ parts: [RowPart]) -> [SlicePosition] {
        var changed: [SlicePosition] = []
        for part in parts {
            guard let (mended, lost) = (rows[part.id] ?? RowState()).mended(with: part.state) else { continue }
            changed.append(Self.position(part.id))
            overwrite(part.id, with: mended)
            if !lost.isEmpty { rewrite(lost, in: part.id) }
        }
        return changed
    }
}
