import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// A text cell with more than one change, as `kith_text` keeps it.
package struct ArchivedText: Hashable {
    package let number: Int64
    package var heads: [TextHead]
    package var nextEvent: Int
    /// Per replica its last commit that is one of the changes.
    package var applied = VersionVector()
    /// Which prepared merge is being written behind the end of the history, if one is.
    var staging: Int64 = 0

    mutating func note(_ dot: Dot) {
        if dot.replica != .nobody { applied.insert(dot) }
    }
}

/// A change with what the history of a text keeps of it beside its operations.
package struct ArchivedChange {
    package let header: TextChangeHeader
    package let timestamp: HybridTimestamp
    /// See ``TextState/Change/replacedScalars``.
    package var replacedScalars: Int?
    /// The parents its author named, where the history before the change is not here.
    package var outside: [Dot]?
    package let operations: TextOperations
}

/// Reads and writes the history of text cells. The only owner of `kith_text`; ``ChangeRows`` and ``ChunkRows`` keep the changes.
package struct TextArchive {
    /// The names of the other tables of texts begin like it.
    package static let table = "kith_text"

    static let sql = """
        -- Text cells that more than one change has made: the current version, how many events there are, and per author the last
        -- change. `doc` is 0, or the number of a text that was found; below 0, what a text is made anew into (`~doc`).
        CREATE TABLE IF NOT EXISTS kith_text (
            number INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL,
            doc INTEGER NOT NULL, heads BLOB NOT NULL, next INTEGER NOT NULL, applied BLOB NOT NULL,
            staging INTEGER NOT NULL DEFAULT 0, UNIQUE (tbl, id, col, doc));
        """

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    package var connection: DatabaseConnection { ledger.connection }

    // MARK: Cells

    package func find(_ key: TextKey) throws -> ArchivedText? {
        let select = try connection.statement(
            "SELECT number, heads, next, applied, staging FROM kith_text WHERE tbl = ? AND id = ? AND col = ? AND doc = ?")
        key.bind(to: select)
        guard try select.step() else { return nil }
        defer { select.reset() }
        let next = select.int(2)
        guard next >= 0, next <= TextLimits.historyEventsMax else { throw Self.corrupt }
        return ArchivedText(
            number: select.integer(0), heads: try heads(select.blob(1)), nextEvent: next, applied: try vector(select.blob(3)),
            staging: select.integer(4))
    }

    /// Begins a history, in place of one that was left behind.
    package func create(_ key: TextKey) throws -> ArchivedText {
        try forget(key)
        let insert = try connection.statement(
            "INSERT INTO kith_text (tbl, id, col, doc, heads, next, applied) VALUES (?, ?, ?, ?, x'00', 0, x'00') RETURNING number")
        key.bind(to: insert)
        guard try insert.step() else { throw Self.corrupt }
        let number = insert.integer(0)
        try insert.run()
        return ArchivedText(number: number, heads: [], nextEvent: 0)
    }

    package func save(_ text: ArchivedText) throws {
        var (writer, applied) = (ByteWriter(), ByteWriter())
        writer.count(text.heads.count)
        try ledger.numberingReplicas { replicas in
            for head in text.heads {
                writer.dot(head.dot, &replicas)
                writer.count(head.lastEvent)
            }
            applied.vector(text.applied, &replicas)
        }
        let update = try connection.statement("UPDATE kith_text SET heads = ?, next = ?, applied = ?, staging = ? WHERE number = ?")
        update.bind(1, blob: writer.bytes)
        update.bind(2, text.nextEvent)
        update.bind(3, blob: applied.bytes)
        update.bind(4, text.staging)
        update.bind(5, text.number)
        try update.run()
    }

    /// Removes all that is kept of a row's texts.
    ///
    /// - Parameter keepsPortions: whether changes stay whose turn has not come.
    package func forget(table: Int, id: RowID, keepsPortions: Bool = false) throws {
        for sql in Self.forgetRowSQL {
            let delete = try connection.statement(sql)
            delete.bind(1, table)
            delete.bind(2, id)
            try delete.run()
        }
        try AsideRows(connection).remove(table, id)
        try WaitRows(connection).remove(table, id)
        if !keepsPortions { try PortionRows(ledger).remove(table, id) }
        try TurnRows(ledger).remove(table, id)
    }

    private static let forgetRowSQL = forgetSQL("tbl = ? AND id = ?")

    /// Removes the history of one text, but not what was put aside: that may be of the one that takes its place.
    package func forget(_ key: TextKey) throws {
        for sql in Self.forgetTextSQL {
            let delete = try connection.statement(sql)
            key.bind(to: delete)
            try delete.run()
        }
    }

    private static let forgetTextSQL = forgetSQL("tbl = ? AND id = ? AND col = ? AND doc = ?")

    /// Statements that remove texts with all their changes.
    private static func forgetSQL(_ condition: String) -> [String] {
        let texts = "SELECT number FROM kith_text WHERE \(condition)"
        return [
            ChangeRows.removeSQL(of: texts), ChunkRows.removeSQL(of: texts), MergedTexts.removeSQL(of: texts),
            "DELETE FROM kith_text WHERE \(condition)",
        ]
    }

    /// The same of all documents of a cell.
    func forgetCell(_ key: TextKey) throws {
        let select = try connection.statement("SELECT doc FROM kith_text WHERE tbl = ? AND id = ? AND col = ?")
        select.bind(1, key.table)
        select.bind(2, key.id)
        select.bind(3, key.column)
        var keys: [TextKey] = []
        while try select.step() {
            keys.append(TextKey(table: key.table, id: key.id, column: key.column, document: select.integer(0)))
        }
        for key in keys { try forget(key) }
    }

    /// Removes the histories of a column of all rows but hidden ones, with what was put aside.
    package func forgetShown(_ column: Int, of table: Int) throws {
        try forget("tbl = \(table) AND col = \(column) AND id NOT IN (\(HiddenRows.idsSQL(of: table)))")
    }

    /// The same of rows that are not there any more.
    package func forgetLost(of table: Int) throws {
        try forget("tbl = \(table) AND id NOT IN (\(ClockTable.rowsSQL(table)))")
    }

    private func forget(_ condition: String) throws {
        try connection.execute(Self.forgetSQL(condition).joined(separator: ";\n"))
        try AsideRows(connection).remove(where: condition)
        try WaitRows(connection).remove(where: condition)
        // Changes that came ahead of their rows may be of rows that are on their way.
        try PortionRows(ledger).removeDue(where: condition)
        try TurnRows(ledger).remove(where: condition)
    }

    /// The numbers of all texts.
    func numbers() throws -> [Int64] {
        let select = try connection.statement("SELECT number FROM kith_text")
        var numbers: [Int64] = []
        while try select.step() { numbers.append(select.integer(0)) }
        return numbers
    }

    /// How many histories there are, without those of the tables whose numbers are given.
    package func count(besides tables: [Int]) throws -> Int {
        let select = try connection.passingStatement(
            "SELECT count(*) FROM kith_text WHERE doc >= 0 AND tbl NOT IN (\(tables.map(String.init).joined(separator: ", ")))")
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    /// Selects how many events a text has.
    static func nextEventSQL(of number: String) -> String { "(SELECT next FROM kith_text WHERE number = \(number))" }

    private func heads(_ bytes: [UInt8]) throws -> [TextHead] {
        var reader = ByteReader(bytes)
        do {
            var heads: [TextHead] = []
            for _ in 0..<(try reader.count("heads")) {
                let dot = try reader.dot(ledger.catalog.replicas)
                heads.append(TextHead(dot: dot, lastEvent: try reader.index(below: TextLimits.historyEventsMax, "event")))
            }
            return heads
        } catch {
            throw Self.corrupt
        }
    }

    private func vector(_ bytes: [UInt8]) throws -> VersionVector {
        var reader = ByteReader(bytes)
        do { return try reader.vector(ledger.catalog.replicas) } catch { throw Self.corrupt }
    }

    // MARK: Changes

    /// Keeps a change in the history of a text; it belongs to it once ``save(_:)`` has noted more events than begin before it.
    package func append(_ change: ArchivedChange, to text: ArchivedText) throws {
        let replica = try ledger.number(of: change.header.dot.replica)
        let insert = try ChangeRows(connection).inserting()
        let header = change.header
        insert.bind(1, text.number)
        insert.bind(2, header.firstEvent)
        insert.bind(3, header.length)
        insert.bind(4, replica)
        insert.bind(5, Int64(bitPattern: header.dot.sequence))
        insert.bind(6, Int64(bitPattern: change.timestamp.rawValue))
        if let parents = encode(parentsOf: header) { insert.bind(7, blob: parents) } else { insert.bindNull(7) }
        if let replaced = change.replacedScalars { insert.bind(8, replaced) } else { insert.bindNull(8) }
        if let outside = change.outside { insert.bind(9, blob: try encode(outside)) } else { insert.bindNull(9) }
        insert.bind(10, blob: change.operations.encodedSteps)
        insert.bind(11, blob: change.operations.encodedText)
        try insert.run()
    }

    /// Puts a history that was written beside a text in the place of its own.
    func replace(_ key: TextKey, by made: ArchivedText) throws {
        try forget(key)
        let update = try connection.statement("UPDATE kith_text SET doc = ? WHERE number = ?")
        update.bind(1, key.document)
        update.bind(2, made.number)
        try update.run()
    }

    /// Drops changes that were to become part of a history which has changed since.
    func dropStaged(_ text: ArchivedText) throws {
        try ChangeRows(connection).remove(text.number, text.nextEvent..<Int.max)
    }

    /// Those of `changes` that a restart in the history names as parents, and that were not here when it came.
    func replacedByRestarts(_ changes: [TextState.Change], in text: ArchivedText?) throws -> Set<Dot> {
        guard let text else { return [] }
        let arriving = Set(changes.map(\.stamp.dot))
        // What builds on a version that is the only one comes after all restarts.
        let versions = text.heads.count == 1 ? arriving.union([text.heads[0].dot]) : []
        if changes.allSatisfy({ !$0.parents.isEmpty && $0.parents.allSatisfy(versions.contains) }) { return [] }
        let select = try ChangeRows(connection).selectingOutsides(of: text.number)
        var replaced: Set<Dot> = []
        while try select.step() { replaced.formUnion(try decodeDots(select.blob(0)).filter(arriving.contains)) }
        return replaced
    }

    /// The newest changes that are not packed and end where `end` is or before, newest first, as long as they are in a row.
    package func unpacked(_ text: Int64, endingAt end: Int, max limit: Int, operations: Bool = false) throws -> [ArchivedChange] {
        let select = try ChangeRows(connection).selecting(text, before: end, max: limit, operations: operations)
        defer { select.reset() }
        var changes: [ArchivedChange] = []
        var next = end
        while try select.step() {
            let change = try read(select, operations: operations)
            guard change.header.end == next else { break }
            next = change.header.firstEvent
            changes.append(change)
        }
        return changes
    }

    private func read(_ select: PreparedStatement, operations: Bool) throws -> ArchivedChange {
        let (first, length, replica) = (select.int(0), select.int(1), select.int(2))
        try check(first: first, length: length)
        guard replica >= 0, replica < ledger.catalog.replicas.ids.count else { throw Self.corrupt }
        let dot = Dot(replica: ledger.catalog.replicas.ids[replica], sequence: UInt64(bitPattern: select.integer(3)))
        let parents = select.isNull(5) ? (first == 0 ? [] : [first - 1]) : try decodeParents(select.blob(5))
        return ArchivedChange(
            header: TextChangeHeader(firstEvent: first, length: length, dot: dot, parents: parents, isRestart: !select.isNull(6)),
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: select.integer(4))),
            replacedScalars: select.isNull(6) ? nil : select.int(6),
            outside: select.isNull(7) ? nil : try decodeDots(select.blob(7)),
            operations: operations ? try TextOperations(steps: select.blob(8), text: select.blob(9)) : TextOperations())
    }

    /// Refuses events of a change on the disk with which nothing can be computed.
    package func check(first: Int, length: Int) throws {
        guard first >= 0, first <= TextLimits.historyEventsMax, length > 0, length <= TextLimits.changeEventsMax else {
            throw Self.corrupt
        }
    }

    private func encode(parentsOf header: TextChangeHeader) -> [UInt8]? {
        if header.parents == (header.firstEvent == 0 ? [] : [header.firstEvent - 1]) { return nil }
        var writer = ByteWriter()
        writer.count(header.parents.count)
        for parent in header.parents { writer.count(parent) }
        return writer.bytes
    }

    private func decodeParents(_ bytes: [UInt8]) throws -> [Int] {
        var reader = ByteReader(bytes)
        do {
            var parents: [Int] = []
            for _ in 0..<(try reader.count("parents")) {
                parents.append(try reader.index(below: TextLimits.historyEventsMax, "event"))
            }
            return parents
        } catch {
            throw Self.corrupt
        }
    }

    private func encode(_ dots: [Dot]) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.count(dots.count)
        try ledger.numberingReplicas { replicas in
            for dot in dots { writer.dot(dot, &replicas) }
        }
        return writer.bytes
    }

    private func decodeDots(_ bytes: [UInt8]) throws -> [Dot] {
        var reader = ByteReader(bytes)
        do {
            var dots: [Dot] = []
            for _ in 0..<(try reader.count("parents")) { dots.append(try reader.dot(ledger.catalog.replicas)) }
            return dots
        } catch {
            throw Self.corrupt
        }
    }

    package static let corrupt = StoreError(
        .corrupt, "The history of a text in this store cannot be read. Verify the store; peers can refill it.")
}
