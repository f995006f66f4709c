import KithLedger
import KithSQLite
import KithSync

/// What is noted that rows show which are being written: between Kith's BEFORE and AFTER trigger of a write of theirs.
///
/// Triggers of the app that fire in between may write the same row. SQLite passes an AFTER trigger values from before such a write, or,
/// where the trigger that made it fires before Kith's, of a write that is not noted yet. So what a write has changed is found by what is
/// noted and what the table shows. A write that came to nothing leaves its row here until the transaction ends.
package struct OpenRows {
    struct Image {
        /// In the order of the tracked columns.
        var values: [ColumnValue]
        /// How many writes of the row are under way.
        var depth = 0
        /// What Kith has noted itself, and the table does not show before the outermost write is done: a bit for each tracked column.
        var ahead: UInt64 = 0
        /// What it is to show then.
        var expected: [ColumnValue] = []
        /// Whether the AFTER trigger of a write is still to come that Kith has noted itself.
        var isDue = false
        /// Which write it was made for, of all.
        var begun: UInt64 = 0

        /// Whether a row that shows `values` shows what was noted ahead, as its columns keep it.
        func isReached(by values: [ColumnValue]) -> Bool {
            values.indices.allSatisfy { ahead >> UInt64($0) & 1 == 0 || values[$0].isKept(of: expected[$0]) }
        }

        /// The row shows `values`, and with them what was noted ahead.
        mutating func reach(_ values: [ColumnValue]) {
            for place in values.indices where ahead >> UInt64(place) & 1 == 1 && self.values[place] == expected[place] {
                self.values[place] = values[place]
            }
            ahead = 0
        }
    }

    private var images: [RowKey: Image] = [:]
    private var count: UInt64 = 0

    package mutating func removeAll() {
        if !images.isEmpty { images.removeAll() }
    }

    /// A write begins of a row that shows `values`, unless more is known of it. Each write that is open but the outermost is made by a
    /// trigger, so that only so many can be: `depthMax` are kept.
    mutating func begin(_ row: RowKey, showing values: [ColumnValue], depthMax: () throws -> Int) rethrows {
        if images.count >= Self.countMin {
            let depth = try max(depthMax(), Self.countMin / 2)
            if images.count >= 2 * depth {
                let newest = images.filter { !$0.value.isDue }.sorted { $0.value.begun > $1.value.begun }
                for (row, _) in newest.dropFirst(depth) { images[row] = nil }
            }
        }
        count += 1
        var image = images[row] ?? Image(values: values, begun: count)
        // What was noted ahead is written, and this is a trigger that fires before Kith's.
        if image.ahead != 0, image.depth > 0, image.isReached(by: values) { image.reach(values) }
        image.depth += 1
        images[row] = image
    }

    private static let countMin = 256

    /// A write of the row is about to be made that has been noted.
    mutating func expect(_ row: RowKey, _ values: [ColumnValue], insteadOf shown: [ColumnValue]) {
        let ahead = values.indices.reduce(into: UInt64(0)) { if values[$1] != shown[$1] { $0 |= 1 << UInt64($1) } }
        if ahead != 0 { images[row] = Image(values: values, ahead: ahead, expected: values, isDue: true) }
    }

    /// A write of the row is done; `depth` is how many still are not.
    mutating func end(_ row: RowKey) -> Image? {
        guard !images.isEmpty, var image = images.removeValue(forKey: row) else { return nil }
        image.depth = max(0, image.depth - 1)
        return image
    }

    /// What the row shows is noted; forgets that once nothing is under way.
    mutating func note(_ row: RowKey, _ image: Image) {
        if image.depth > 0 || image.isDue { images[row] = image }
    }

    /// The row is gone, or another one.
    @discardableResult
    mutating func remove(_ row: RowKey) -> Image? {
        images.isEmpty ? nil : images.removeValue(forKey: row)
    }
}

extension Capture {
    /// A row is about to be updated or deleted by the app.
    func beforeWrite(_ table: Int, row: Int64) throws {
        try entry.enter()
        if connection.isMerging || !entry.mayPrecede(table) { return }
        guard let found = try readRow(table, row) else { return }
        try rows.begin(RowKey(table: table, id: found.id), showing: found.values) { try entry.writesNestedMax() }
    }

    /// Kith has noted that a row shows `values`, and is about to write them.
    package func willWriteNoted(_ table: Int, _ id: RowID, _ values: [ColumnValue], insteadOf shown: [ColumnValue]) {
        if entry.mayPrecede(table) { rows.expect(RowKey(table: table, id: id), values, insteadOf: shown) }
    }

    /// What an update has changed since a row was noted.
    ///
    /// - Parameters:
    ///   - changed: what the trigger says that was changed, and `values` from what to what.
    ///   - shown: what the row shows now.
    /// - Returns: the same, in place of what the trigger says; and whether the update is the one that Kith has noted itself.
    func changes(
        since image: inout OpenRows.Image, _ key: RowKey, _ tracked: CatalogTable.Tracked, _ changed: UInt64, _ values: ColumnValues,
        shown: [ColumnValue]
    ) -> (changed: UInt64, values: ColumnValues, isNoted: Bool) {
        var isNoted = false
        if image.isDue, image.depth == 0, image.ahead == 0 || image.isReached(by: shown) {
            isNoted = connection.isNoted(key.table, key.id, inserts: false)
            image.reach(shown)
            image.isDue = false
        }
        var mask: UInt64 = 0
        var (pairs, registers): ([ColumnValue], [ColumnValue]) = ([], [])
        for (place, old) in tracked.placesOfOldValues.enumerated() where place < image.values.count {
            // The write that was noted is still to come, and replaces what this one has made of an older value.
            let isAhead = image.ahead >> UInt64(place) & 1 == 1
            let isReplaced = isAhead && (changed >> UInt64(place) & 1 == 0 || values[old] != image.values[place])
            let new = isReplaced ? image.values[place] : shown[place]
            if new != image.values[place] { mask |= 1 << UInt64(place) }
            if tracked.kinds[place] == .register { registers.append(image.values[place]) } else { pairs += [image.values[place], new] }
            image.values[place] = new
        }
        return (mask, ColumnValues(pairs + registers), isNoted)
    }
}

extension ColumnValue {
    /// Whether a column keeps `given` as this, which its type may have made of it.
    fileprivate func isKept(of given: ColumnValue) -> Bool {
        if self == given { return true }
        guard let number = given.number else { return false }
        return self.number == number
    }

    private var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(bitPattern: let bits): Double(bitPattern: bits)
        case .text(let bytes): Double(String(decoding: bytes, as: UTF8.self))
        case .null, .blob: nil
        }
    }
}

extension CatalogTable.Tracked {
    /// Where among the values that a trigger passes of an update each column's old one is.
    var placesOfOldValues: [Int] {
        var (pair, register) = (0, 2 * kinds.count { $0 != .register })
        return kinds.map { kind in
            defer { if kind == .register { register += 1 } else { pair += 2 } }
            return kind == .register ? register : pair
        }
    }
}
