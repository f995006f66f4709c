import KithLedger
import KithSQLite
import KithSync
import KithTexts

extension DigestRange {
    /// Hands what is noted of each row of the range to `body`, in order.
    package func read(_ ledger: RowLedger, _ body: (SlicePosition, UInt64) throws -> Void) throws {
        for table in ledger.catalog.tables.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
            if let after, table.name.lexicographicallyPrecedes(after.table) { continue }
            if let through, through.table.lexicographicallyPrecedes(table.name) { return }
            let first = after.flatMap { $0.table == table.name ? $0.row : nil }
            let last = through.flatMap { $0.table == table.name ? $0.row : nil }
            try DigestRows(ledger.connection).read(of: table.number, after: first, through: last) { id, digest in
                try body(SlicePosition(table: table.name, row: id), digest)
            }
        }
    }

    /// Cuts the range into at most `max` parts with about as many rows each.
    package func parts(max limit: Int, _ ledger: RowLedger) throws -> [DigestPart] {
        var count = 0
        try read(ledger) { _, _ in count += 1 }
        let size = max(1, (count + limit - 1) / limit)
        var parts: [DigestPart] = []
        var sum = DigestSum()
        var left = count
        try read(ledger) { position, digest in
            sum.add(digest)
            left -= 1
            if sum.count == UInt64(size), left > 0 {
                parts.append(DigestPart(through: position, rows: sum))
                sum = DigestSum()
            }
        }
        return parts + [DigestPart(through: through, rows: sum)]
    }

    /// The sums of this store's rows for the parts that another store has cut the range into.
    package func sums(for parts: [DigestPart], _ ledger: RowLedger) throws -> [DigestSum] {
        var sums = parts.map { _ in DigestSum() }
        var index = 0
        try read(ledger) { position, digest in
            while index < parts.count - 1, let through = parts[index].through, through < position { index += 1 }
            if !sums.isEmpty { sums[index].add(digest) }
        }
        return sums
    }
}
