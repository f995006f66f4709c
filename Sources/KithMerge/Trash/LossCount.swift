import KithCausality
import KithLedger
import KithSync

/// Counts the rows that a merge takes out of the app's tables, by table and by whoever deleted them.
final class LossCount {
    /// Whose deletion it was: that of a replica, or a device's word.
    private enum Author: Hashable {
        case replica(ReplicaID)
        case device([UInt8])
    }

    private struct Key: Hashable {
        let table: Int
        let author: Author
    }

    private var counts: [Key: Int] = [:]

    /// A row that was shown goes.
    ///
    /// - Parameter device: who brings that; `nil` if it is not known.
    func add(_ table: Int, from before: RowState, to after: RowState, by device: [UInt8]?) {
        let known = Set(before.tombstones.map(\.dot))
        let deletion = after.tombstones.map(\.dot).first { !known.contains($0) }
        let author = deletion.map { Author.replica($0.replica) } ?? .device(device ?? [])
        counts[Key(table: table, author: author), default: 0] += 1
    }

    /// Writes down what was counted, but for what this store deleted itself under another id.
    func note(_ ledger: RowLedger, bringer: [UInt8]?, nowMilliseconds now: Int64) throws {
        if counts.isEmpty { return }
        defer { counts.removeAll() }
        let authors = try Authors(ledger: ledger)
        var sums: [Int: [[UInt8]: Int]] = [:]
        for (key, count) in counts {
            let device: [UInt8]
            switch key.author {
            case .device(let bytes): device = bytes
            case .replica(let replica):
                switch authors[replica] {
                case .own: continue
                case .device(let bytes): device = bytes
                case .unknown: device = bringer ?? []
                }
            }
            sums[key.table, default: [:]][device, default: 0] += count
        }
        let records = MassDeletions(ledger: ledger)
        for (table, devices) in sums {
            for (device, count) in devices { try records.note(count, of: table, by: device, nowMilliseconds: now) }
        }
    }
}
