import GRDB
import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// What a live list holds between two looks at the database, each in one read transaction.
struct LiveState<Record: LiveRecord>: Sendable where Record.ID: Sendable {
    typealias Entry = LiveRows<Record>.Entry
    typealias Difference = LiveDifference<Record.ID>

    let query: LiveQuery<Record>
    private(set) var rows = LiveRows<Record>()
    /// In which piece each row stands, where rows are asked for by their keys.
    private var pieceOf: [RowID: Int] = [:]
    private var nextNumber = 0

    init(_ query: LiveQuery<Record>) {
        self.query = query
    }

    // MARK: All rows

    /// Reads all rows, and compares them with those that were there: time in proportion to both lists.
    mutating func readAll(_ db: Database, key: LiveKey?) throws -> Difference {
        let new = try query.entries(db, key: key)
        var offsets: [Record.ID: Int] = [:]
        offsets.reserveCapacity(new.count)
        for (offset, entry) in new.enumerated() where offsets.updateValue(offset, forKey: entry.record.id) != nil {
            throw StoreError(
                .valueRejected, "A live list has two rows with the id \(entry.record.id). Let the request give each row once.")
        }
        var difference = Difference()
        /// Where each row of the new list stood before.
        var before = [Int?](repeating: nil, count: new.count)
        for (offset, entry) in rows.entries.enumerated() {
            if let place = offsets[entry.record.id] {
                before[place] = offset
            } else {
                difference.removals.append(.init(id: entry.record.id, offset: offset))
            }
        }
        let kept = before.compactMap(\.self)
        let staying = kept.longestIncreasing()
        var place = 0
        for (offset, entry) in new.enumerated() {
            guard let old = before[offset] else {
                difference.insertions.append(.init(id: entry.record.id, offset: offset))
                continue
            }
            if !staying.contains(place) { difference.moves.append(.init(id: entry.record.id, from: old, to: offset)) }
            place += 1
            try note(entry, insteadOf: rows.entry(at: old), at: offset, in: &difference)
        }
        if difference.isEmpty { return difference }
        rows = LiveRows(new)
        nextNumber = rows.pieces.count
        pieceOf = [:]
        if key != nil { for piece in rows.pieces { note(piece) } }
        return difference
    }

    private mutating func note(_ piece: LiveRows<Record>.Piece) {
        for entry in piece.entries { if let key = entry.key { pieceOf[key] = piece.number } }
    }

    private func note(_ new: Entry, insteadOf old: Entry, at offset: Int, in difference: inout Difference) throws {
        if new.fingerprint == old.fingerprint { return }
        let before = try old.record.databaseDictionary
        // By bytes, as rows are compared: Swift takes one letter in two encodings for the same.
        let columns = try new.record.databaseDictionary.filter { name, value in value.fingerprint != before[name]?.fingerprint }
        difference.updates.append(.init(id: new.record.id, offset: offset, columns: Set(columns.keys)))
    }

    // MARK: Rows that were written

    /// A row that was written and belongs to the list.
    private struct Touched {
        let key: RowID
        let entry: Entry
        /// Where it stood in the list before.
        var before: Int?
        /// Where it stands now, or stood, among the rows that were not written.
        var place: Int?
        var placeBefore: Int?
    }

    /// Brings rows up to date of which alone is known that they may have changed.
    mutating func read(_ touched: Set<RowID>, _ db: Database, _ order: LiveOrder) throws -> Difference {
        let found = try query.entries(db, key: order.key, touched)
        var old: [(key: RowID, offset: Int)] = touched.compactMap { row in
            pieceOf[row].flatMap { rows.position(of: row, inPiece: $0) }.map { (row, $0) }
        }
        if found.isEmpty, old.isEmpty { return Difference() }
        old.sort { $0.offset < $1.offset }
        var rest = rows
        for (_, offset) in old.reversed() { rest.remove(at: offset) }
        var oldPlaces: [RowID: (offset: Int, place: Int)] = [:]
        for (count, row) in old.enumerated() { oldPlaces[row.key] = (row.offset, row.offset - count) }
        var new = found.compactMap { entry in
            entry.key.map { key in
                Touched(key: key, entry: entry, before: oldPlaces[key]?.offset, placeBefore: oldPlaces[key]?.place)
            }
        }
        try place(&new, in: rest, db, order)
        return try show(new, old.map(\.offset), in: rest)
    }

    /// Finds where rows stand among `rest`: the database compares them, by the order that it gives a few rows at once.
    private func place(_ new: inout [Touched], in rest: LiveRows<Record>, _ db: Database, _ order: LiveOrder) throws {
        var neighbours: Set<RowID> = []
        for row in new {
            guard let place = row.placeBefore else { continue }
            for neighbour in [place - 1, place] where rest.indices.contains(neighbour) {
                if let key = rest.entry(at: neighbour).key { neighbours.insert(key) }
            }
        }
        var ranks: [RowID: Int] = [:]
        if !neighbours.isEmpty {
            let ordered = try query.order(db, order, of: Array(neighbours.union(new.map(\.key))))
            for (rank, key) in ordered.enumerated() { ranks[key] = rank }
        }
        var low = 0
        for index in new.indices {
            if let place = new[index].placeBefore, let rank = ranks[new[index].key],
                place == 0 || isAscending(ranks, rest.entry(at: place - 1).key, rank),
                place == rest.count || isDescending(ranks, rest.entry(at: place).key, rank)
            {
                new[index].place = place
            } else {
                new[index].place = try search(new[index].key, in: rest, from: low, db, order)
            }
            low = new[index].place ?? low
        }
    }

    private func isAscending(_ ranks: [RowID: Int], _ key: RowID?, _ rank: Int) -> Bool {
        key.flatMap { ranks[$0] }.map { $0 < rank } ?? false
    }

    private func isDescending(_ ranks: [RowID: Int], _ key: RowID?, _ rank: Int) -> Bool {
        key.flatMap { ranks[$0] }.map { $0 > rank } ?? false
    }

    /// - Parameter from: the row stands here or later.
    private func search(_ row: RowID, in rest: LiveRows<Record>, from start: Int, _ db: Database, _ order: LiveOrder) throws -> Int {
        var low = start
        var high = rest.count
        while low < high {
            // With the row itself, as many as can be compared at once.
            let step = (high - low) / LiveOrder.rowsMax + 1
            let pivots = Array(stride(from: low + step - 1, to: high, by: step))
            let keys = pivots.compactMap { rest.entry(at: $0).key }
            guard let rank = try query.order(db, order, of: keys + [row]).firstIndex(of: row), rank <= pivots.count else {
                throw StoreError(.failed, "The rows of a live list changed while it was read.")
            }
            if rank < pivots.count { high = pivots[rank] }
            if rank > 0 { low = pivots[rank - 1] + 1 }
        }
        return low
    }

    /// - Parameter old: where rows stood that were written, in ascending order.
    private mutating func show(_ new: [Touched], _ old: [Int], in rest: LiveRows<Record>) throws -> Difference {
        var difference = Difference()
        let kept = Set(new.compactMap(\.before))
        for offset in old where !kept.contains(offset) {
            difference.removals.append(.init(id: rows.entry(at: offset).record.id, offset: offset))
        }
        // Rows that stand where they stood among the others, and in the same order among themselves.
        let candidates = new.indices.filter { new[$0].before != nil && new[$0].place == new[$0].placeBefore }
        let increasing = candidates.map { new[$0].before ?? 0 }.longestIncreasing()
        let staying = Set(candidates.indices.filter(increasing.contains).map { candidates[$0] })
        for (index, row) in new.enumerated() {
            let offset = (row.place ?? 0) + index
            guard let before = row.before else {
                difference.insertions.append(.init(id: row.entry.record.id, offset: offset))
                continue
            }
            if !staying.contains(index) { difference.moves.append(.init(id: row.entry.record.id, from: before, to: offset)) }
            try note(row.entry, insteadOf: rows.entry(at: before), at: offset, in: &difference)
        }
        if difference.isEmpty { return difference }
        if difference.removals.isEmpty, difference.insertions.isEmpty, difference.moves.isEmpty {
            for row in new { if let before = row.before { rows.replace(at: before, with: row.entry) } }
            return difference
        }
        for offset in old { if let key = rows.entry(at: offset).key { pieceOf[key] = nil } }
        var rest = rest
        for (index, row) in new.enumerated() {
            let pieces = rest.insert(row.entry, at: (row.place ?? 0) + index) {
                nextNumber += 1
                return nextNumber
            }
            for piece in pieces { note(piece) }
        }
        rows = rest
        return difference
    }
}

extension [Int] {
    /// The places of a longest subsequence that ascends, by patience sorting (Fredman, "On computing the length of longest increasing
    /// subsequences", 1975), in n log n steps.
    func longestIncreasing() -> Set<Int> {
        /// For each length, the place at which the subsequence with the smallest end ends.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: count)
        for (place, value) in enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if self[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            previous[place] = low == 0 ? nil : ends[low - 1]
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var places: Set<Int> = []
        var place = ends.last
        while let current = place {
            places.insert(current)
            place = previous[current]
        }
        return places
    }
}
