import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Gathers the rows of a slice and numbers the tables and columns they use.
package struct SliceBuilder {
    private let ledger: RowLedger
    private let request: SliceRequest
    private let limits: SliceLimits
    /// What rows are cut by that arrived before a catch-up was broken off.
    private let resumed: VersionVector?
    /// What the receiver will know when the delta is complete.
    private let target: [Head]
    private let targetVector: VersionVector
    private var tables: [TableSchema] = []
    /// For each table of the store, by number, its place in the slice, and for each of its columns the place there.
    private var places: [Place?] = []
    private var rows: [RowPart] = []
    private var byteCount = 0
    private var textChangeCount = 0
    private var position: SlicePosition?
    private var isFull = false
    package var rowsRemaining = 0

    package init(_ ledger: RowLedger, _ request: SliceRequest, _ limits: SliceLimits, target: [Head]) {
        self.ledger = ledger
        self.target = target
        targetVector = VersionVector(target.map(\.dot))
        self.request = request
        self.limits = limits
        resumed = request.resumption.map { request.since.joined(with: $0.vector) }
    }

    /// Adds what the receiver lacks of `row`. Returns `false` if the slice is full, and the row is left for the next one.
    package mutating func add(_ row: ReadRow) throws -> Bool {
        var known = request.since
        let isWithheld = request.withheld.contains(row.position)
        if let resumed, let resumption = request.resumption, row.position <= resumption.position, !isWithheld { known = resumed }
        guard var part = try row.state.uncovered(by: known) ?? emptied(row) else { return true }
        try TextCells(ledger).fill(&part, table: row.table, id: row.position.row, unknownTo: known)
        let isCut = part.contentCount != row.state.contentCount || row.state.hasTexts(of: known, beside: part)
        // The receiver will believe that it knows this row, so the row goes, however large it is.
        if isWithheld, part.isTooLargeToSend, !part.liveDots.contains(where: { !known.covers($0) && targetVector.covers($0) }) {
            return true
        }
        if try addPrelude(of: &part, row) { return false }
        let (size, changes) = (part.sliceBytesBound, part.textChangeCount)
        let isBeyond =
            rows.count >= limits.rowsMax || byteCount + size > limits.bytesMax || changes > limits.textChangesMax - textChangeCount
        if isBeyond, !rows.isEmpty {
            isFull = true
            return false
        }
        try append(part, row, isCut: isCut)
        byteCount += size
        textChangeCount += changes
        position = row.position
        return true
    }

    /// A row that is shown, and of which no cell is left since the app let go of its columns. Who has cells of it must not take it
    /// for one that was deleted.
    private func emptied(_ row: ReadRow) throws -> RowState? {
        guard request.since.isEmpty, row.reference > 0, row.state.isEmpty else { return nil }
        return try IncompleteColumns(connection: ledger.connection).of(row.table).isEmpty ? nil : row.state
    }

    /// Lets the beginning of a row's texts travel ahead of it if they are too much for one slice. Returns `false` if `part` is what
    /// is left to be sent.
    private mutating func addPrelude(of part: inout RowState, _ row: ReadRow) throws -> Bool {
        guard !request.preludes.isEmpty || part.exceedsTextLimits(limits), let before = row.position.predecessor else { return false }
        if request.after == before {
            let columns = ledger.catalog.tables[row.table].columns
            part.leaveOut(request.preludes) { columns[$0].key }
        }
        guard part.exceedsTextLimits(limits) else { return false }
        let prelude = try TextCells(ledger).takePrelude(of: &part, limits, table: row.table, id: row.position.row)
        if prelude.isEmpty { return false }
        isFull = true
        if rows.isEmpty {
            try append(prelude, row, isCut: true)
            rows[0].isPrelude = true
            position = before
        }
        return true
    }

    /// - Parameter floor: set if the slice is to list all rows.
    package func finish(heads: [Head], clock: HybridTimestamp, floor: VersionVector?) -> Slice {
        let listedBefore = [request.after, request.resumption?.position].compactMap(\.self).max()
        return Slice(
            since: request.since, vector: VersionVector(heads.map(\.dot)), target: target, clock: clock,
            isFirst: request.after == nil, isLast: !isFull, position: position ?? request.after,
            rowsRemaining: isFull ? max(1, rowsRemaining) : 0, tables: tables, rows: rows,
            listing: floor.map { Listing(after: listedBefore, floor: $0) })
    }

    private mutating func append(_ part: RowState, _ row: ReadRow, isCut: Bool) throws {
        var part = part
        while places.count <= row.table { places.append(nil) }
        var place = places[row.table] ?? Place(table: tables.count)
        if place.table == tables.count {
            let incomplete = try IncompleteColumns(connection: ledger.connection).of(row.table)
            tables.append(TableSchema(name: ledger.catalog.tables[row.table].name, columns: [], incomplete: incomplete))
        }
        var isMoved = false
        for index in part.cells.indices {
            let column = part.cells[index].column
            let (there, isNew) = place.number(of: column)
            if isNew { tables[place.table].columns.append(ledger.catalog.tables[row.table].columns[column].key) }
            if there == column { continue }
            part.cells[index].column = there
            isMoved = true
        }
        if isMoved { part.cells.sort { $0.column < $1.column } }
        places[row.table] = place
        rows.append(RowPart(table: place.table, id: row.position.row, state: part, isCut: isCut))
    }

    /// Where a table and its columns stand in the slice.
    private struct Place {
        let table: Int
        private var columns: [Int?] = []
        private var count = 0

        init(table: Int) {
            self.table = table
        }

        /// The place of the store's column `column`, and whether it was given just now.
        mutating func number(of column: Int) -> (Int, isNew: Bool) {
            while columns.count <= column { columns.append(nil) }
            if let known = columns[column] { return (known, false) }
            columns[column] = count
            count += 1
            return (count - 1, true)
        }
    }
}

extension RowState {
    /// Whether a text cell of `part`, which a replica with the vector `known` lacks, builds on changes that it has, or had.
    fileprivate func hasTexts(of known: VersionVector, beside part: RowState) -> Bool {
        part.cells.contains { entry in
            guard case .text(let sent) = entry.cell, case .text(let text)? = self[entry.column] else { return false }
            return text.dependsOnHistory(of: known, beside: sent.changes)
        }
    }
}
