import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Keeps the digest of the store in step with its rows, in proportion to what has changed.
///
/// Capture and merge leave it alone if they leave a commit in the row that was not there before: the index of commits tells which rows to look
/// at. If a merge changes a row and leaves none, as when a text's turn comes, it calls ``reread(_:)``. ``DigestRows`` remembers what each row
/// added to the sum, so that it can be taken away.
/// Rows that garbage collection removes have been deleted before, and no longer counted.
package struct DigestLedger {
    package let ledger: RowLedger
    private let known = Known()

    /// For the calls of one transaction, in which the vector stays as it is.
    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    /// The store's vector, once a row has asked for it.
    private final class Known {
        var vector: VersionVector?
    }

    private var connection: DatabaseConnection { ledger.connection }

    // MARK: Following the rows

    /// Accounts for up to `limit` rows that have changed, or that were never read. Returns the digest once nothing is left
    /// to do, and `nil` before, or while ``WaitingRows`` hold it back.
    package func advance(rowsMax limit: Int, nowMilliseconds now: Int64) throws -> StoreDigest? {
        let vector = try VectorRecords(connection: connection).vector(ledger.catalog)
        let waiting = WaitingRows(ledger)
        if try waiting.endsNow(nowMilliseconds: now) { try distrust() }
        let before = try DigestRecord.load(ledger)
        var record = before
        var budget = limit
        if !record.isComplete {
            if record.position == nil { record.accounted = vector }
            let (read, end) = try reread(after: record.position, rowsMax: budget, &record.rows)
            budget -= read.count
            record.position = end
            record.isComplete = end == nil
        }
        if record.isComplete { try follow(vector, &record, &budget) }
        if record != before {
            if before.isComplete, let place = ledger.patrolled { record.position = place }
            try record.save(ledger)
        }
        guard record.isComplete, record.accounted.covers(vector), try !waiting.holdBack(nowMilliseconds: now) else {
            return nil
        }
        return StoreDigest(vector: vector, rows: record.rows)
    }

    /// Whether there are rows that have changed and are not accounted for.
    package func isBehind() throws -> Bool {
        let record = try DigestRecord.load(ledger)
        return try !record.isComplete || !record.accounted.covers(VectorRecords(connection: connection).vector(ledger.catalog))
    }

    /// Reads the next `limit` rows once more, in a circle through the whole store. What was changed behind Kith's back
    /// is found that way: no commit tells of it. Returns these rows.
    ///
    /// How far it has come is stored with the next change only: a store to which nobody writes writes nothing.
    package func patrol(rowsMax limit: Int) throws -> [SlicePosition] {
        var record = try DigestRecord.load(ledger)
        guard record.isComplete else { return [] }
        let before = record.rows
        let (read, end) = try reread(after: ledger.patrolled ?? record.position, rowsMax: limit, &record.rows)
        record.position = end
        if record.rows != before { try record.save(ledger) }
        ledger.patrolled = .some(end)
        return read.filter(\.isChanged).map(\.position)
    }

    /// Lets the next look at the digest read every row anew.
    package func distrust() throws {
        var record = try DigestRecord.load(ledger)
        record.readAnew()
        try record.save(ledger)
    }

    /// Rows were removed for good. They no longer counted, but may not have been looked at since.
    package func forget(_ rows: [(table: Int, id: RowID)]) throws {
        var record = try DigestRecord.load(ledger)
        let before = record
        for (table, id) in rows { try note(nil, try noted(table, id), table, id, &record.rows) }
        if record != before { try record.save(ledger) }
    }

    /// Looks at the rows in which commits live that are not accounted for, up to the vector.
    private func follow(_ vector: VersionVector, _ record: inout DigestRecord, _ budget: inout Int) throws {
        let candidates = RowCandidates(ledger: ledger)
        for head in vector.entries where record.accounted[head.replica] < head.sequence {
            if budget <= 0 { return }
            let number = try ledger.number(of: head.replica)
            let begun = record.entry.flatMap { $0.replica == number ? $0 : nil }
            let start = DotIndex.Entry(
                sequence: begun?.sequence ?? Int64(bitPattern: record.accounted[head.replica]), table: begun?.table ?? .max,
                row: begun?.row ?? .max)
            let entries = try DotIndex(connection).entries(of: number, after: start, through: head.sequence, max: budget)
            for entry in entries { try note(try candidates.rows(at: entry.row, table: entry.table), &record.rows) }
            budget -= entries.count
            if budget <= 0, let last = entries.last {
                if last.sequence > 1 { record.accounted.insert(Dot(replica: head.replica, sequence: UInt64(last.sequence) - 1)) }
                record.entry = DigestRecord.IndexEntry(replica: number, sequence: last.sequence, table: last.table, row: last.row)
                return
            }
            record.accounted.insert(head)
            record.entry = nil
        }
    }

    // MARK: Reading rows anew

    /// Looks at rows that were changed without a commit.
    package func reread(_ positions: [SlicePosition]) throws {
        var record = try DigestRecord.load(ledger)
        for position in positions {
            guard let table = ledger.catalog.table(named: position.table) else { continue }
            let before = try noted(table.number, position.row)
            let row = try RowCandidates(ledger: ledger).find(table, position.row)
            try note(try row.flatMap(digest), before, table.number, position.row, &record.rows)
        }
        try record.save(ledger)
    }

    struct Reread {
        let position: SlicePosition
        let isChanged: Bool
    }

    /// Reads up to `limit` rows after `position`, and makes what is noted of them agree. Returns them, with rows that were
    /// noted and are gone, and the last one's position; `nil` at the end of the store.
    private func reread(
        after position: SlicePosition?, rowsMax limit: Int, _ sum: inout DigestSum
    ) throws -> (rows: [Reread], end: SlicePosition?) {
        var found: [(position: SlicePosition, table: Int, digest: UInt64?)] = []
        try TableScan(ledger: ledger).read(after: position) { row in
            found.append((row.position, row.table, try digest(of: row)))
            return found.count < limit
        }
        let end = found.count < limit ? nil : found.last?.position
        var noted = try self.noted(after: position, through: end)
        var rows: [Reread] = []
        for row in found {
            let before = noted.removeValue(forKey: row.position)
            if before != row.digest { try note(row.digest, before, row.table, row.position.row, &sum) }
            rows.append(Reread(position: row.position, isChanged: before != row.digest))
        }
        for (position, digest) in noted.sorted(by: { $0.key < $1.key }) {
            guard let table = ledger.catalog.table(named: position.table) else { continue }
            try note(nil, digest, table.number, position.row, &sum)
            rows.append(Reread(position: position, isChanged: true))
        }
        return (rows, end)
    }

    private func noted(after start: SlicePosition?, through end: SlicePosition?) throws -> [SlicePosition: UInt64] {
        var noted: [SlicePosition: UInt64] = [:]
        try DigestRange(after: start, through: end).read(ledger) { noted[$0] = $1 }
        return noted
    }

    // MARK: Checking

    /// Whether what is noted of `row` should be what it is: the digest has come so far.
    package func isCurrent(_ row: ReadRow, _ record: DigestRecord) -> Bool {
        record.isComplete && row.state.liveDots.allSatisfy { record.accounted.covers($0) }
    }

    /// What is noted of a row; `nil` if it did not count.
    package func noted(_ table: Int, _ id: RowID) throws -> UInt64? {
        try DigestRows(connection).of(table, id)
    }

    // MARK: Rows

    /// A row that is ahead of the vector does not count: others may not have it yet.
    package func digest(of row: ReadRow) throws -> UInt64? {
        if !row.state.context.isEmpty {
            let vector = try known.vector ?? VectorRecords(connection: connection).vector(ledger.catalog)
            known.vector = vector
            guard row.state.liveDots.allSatisfy(vector.covers) else { return nil }
        }
        let table = ledger.catalog.tables[row.table]
        return row.state.digest(at: row.position) { table.columns.indices.contains($0) ? table.columns[$0].key : nil }
    }

    /// Notes what a row adds to the sum now.
    private func note(_ row: RowCandidates.Found?, _ sum: inout DigestSum) throws {
        guard let row else { return }
        let before = try noted(row.candidate.table, row.candidate.position.row)
        try note(try row.state.flatMap(digest), before, row.candidate.table, row.candidate.position.row, &sum)
    }

    private func note(_ digest: UInt64?, _ before: UInt64?, _ table: Int, _ id: RowID, _ sum: inout DigestSum) throws {
        if digest == before { return }
        sum.subtract(before)
        sum.add(digest)
        try DigestRows(connection).set(table, id, digest)
    }
}

extension RowCandidates {
    /// A row that the index of commits names, and what is known of it, if it is there.
    package struct Found {
        package let candidate: Candidate
        package let state: ReadRow?
    }

    /// All that is known of a row, shown or not.
    package func find(_ table: CatalogTable, _ id: RowID) throws -> ReadRow? {
        let position = SlicePosition(table: table.name, row: id)
        if let tracked = table.tracked,
            let visible = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(id)
        {
            return try load(Candidate(table: table.number, row: visible.row, position: position))
        }
        guard let hidden = try ledger.hiddenRow(table.number, id) else { return nil }
        return try load(Candidate(table: table.number, row: -hidden.number, position: position))
    }

    func rows(at row: RowReference, table: Int) throws -> Found? {
        guard let candidate = try candidate(table: table, row: row) else { return nil }
        return Found(candidate: candidate, state: try load(candidate))
    }
}
