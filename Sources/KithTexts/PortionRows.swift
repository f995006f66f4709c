import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Changes of texts that are here and whose turn has not come, many in a row of the table. The only owner of `kith_text_portion`.
///
/// Those of a text that ``TurnRows`` names are taken one portion after the other. Those of any other text came ahead of their row, and
/// wait for it; nobody hears of them.
package struct PortionRows {
    static let sql = """
        -- Changes of texts whose turn has not come, some to a portion: how many, of each author the first and last commit, and the
        -- changes themselves.
        CREATE TABLE IF NOT EXISTS kith_text_portion (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, doc INTEGER NOT NULL, number INTEGER NOT NULL,
            count INTEGER NOT NULL, span BLOB NOT NULL, changes BLOB NOT NULL,
            PRIMARY KEY (tbl, id, col, doc, number)) WITHOUT ROWID;
        """

    private let ledger: RowLedger

    private var connection: DatabaseConnection { ledger.connection }

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    /// A portion without its changes.
    struct Outline: Hashable {
        let number: Int64
        let count: Int
        let span: Span
    }

    /// Of each author the first and the last of its commits in a portion.
    struct Span: Hashable {
        struct Entry: Hashable {
            let replica: ReplicaID
            let first: UInt64
            let last: UInt64
        }

        var entries: [Entry] = []

        /// Whether a commit of the portion may be one of those.
        func meets(_ vector: VersionVector) -> Bool {
            entries.contains { $0.replica == .nobody || $0.first <= vector[$0.replica] }
        }

        /// Whether all commits of the portion are among those.
        func isCovered(by vector: VersionVector) -> Bool {
            entries.allSatisfy { $0.replica != .nobody && $0.last <= vector[$0.replica] }
        }
    }

    // MARK: Keeping

    /// Keeps changes after all others of their text, at most `max` in a portion; a portion that is there is not kept twice.
    func append(_ changes: [TextState.Change], at key: TextKey, max limit: Int) throws {
        var rest = changes[...]
        while !rest.isEmpty {
            let portion = Array(rest.prefix(limit))
            rest = rest.dropFirst(limit)
            let (span, bytes) = try encode(portion)
            let find = try connection.statement("SELECT 1 FROM kith_text_portion WHERE \(Self.ofText) AND span = ? AND changes = ?")
            key.bind(to: find)
            find.bind(5, blob: span)
            find.bind(6, blob: bytes)
            defer { find.reset() }
            if try find.step() { continue }
            let insert = try connection.statement(
                """
                INSERT INTO kith_text_portion (tbl, id, col, doc, number, count, span, changes) SELECT ?1, ?2, ?3, ?4,
                (SELECT coalesce(max(number), 0) + 1 FROM kith_text_portion WHERE tbl = ?1 AND id = ?2 AND col = ?3 AND doc = ?4), ?5, ?6, ?7
                """)
            key.bind(to: insert)
            insert.bind(5, portion.count)
            insert.bind(6, blob: span)
            insert.bind(7, blob: bytes)
            try insert.run()
        }
    }

    /// Keeps other changes in the place of a portion; none: the portion goes.
    func replace(_ number: Int64, by changes: [TextState.Change], at key: TextKey) throws {
        if changes.isEmpty {
            let delete = try connection.statement("DELETE FROM kith_text_portion WHERE \(Self.ofText) AND number = ?")
            key.bind(to: delete)
            delete.bind(5, number)
            return try delete.run()
        }
        let (span, bytes) = try encode(changes)
        let update = try connection.statement(
            "UPDATE kith_text_portion SET count = ?6, span = ?7, changes = ?8 WHERE \(Self.ofText) AND number = ?5")
        key.bind(to: update)
        update.bind(5, number)
        update.bind(6, changes.count)
        update.bind(7, blob: span)
        update.bind(8, blob: bytes)
        try update.run()
    }

    private func encode(_ changes: [TextState.Change]) throws -> (span: [UInt8], changes: [UInt8]) {
        var ends: [ReplicaID: (first: UInt64, last: UInt64)] = [:]
        for change in changes {
            let dot = change.stamp.dot
            let known = ends[dot.replica] ?? (dot.sequence, dot.sequence)
            ends[dot.replica] = (min(known.first, dot.sequence), max(known.last, dot.sequence))
        }
        var (span, content) = (ByteWriter(), ByteWriter())
        try ledger.numberingReplicas { replicas in
            span.count(ends.count)
            for (replica, end) in ends.sorted(by: { $0.key < $1.key }) {
                span.dot(Dot(replica: replica, sequence: end.first), &replicas)
                span.varint(end.last)
            }
            for change in changes { content.blob(change.record(&replicas)) }
        }
        return (span.bytes, content.bytes)
    }

    // MARK: Reading

    /// How many changes of a text are kept, and their bytes.
    func size(at key: TextKey) throws -> (count: Int, bytes: Int) {
        let select = try connection.statement(
            "SELECT coalesce(sum(count), 0), coalesce(sum(length(changes)), 0) FROM kith_text_portion WHERE \(Self.ofText)")
        key.bind(to: select)
        defer { select.reset() }
        return try select.step() ? (select.int(0), select.int(1)) : (0, 0)
    }

    func has(_ key: TextKey) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_text_portion WHERE \(Self.ofText) LIMIT 1")
        key.bind(to: select)
        defer { select.reset() }
        return try select.step()
    }

    func has(table: Int) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_text_portion WHERE tbl = ? LIMIT 1")
        select.bind(1, table)
        defer { select.reset() }
        return try select.step()
    }

    /// The portions of a text, the oldest first.
    func outlines(at key: TextKey) throws -> [Outline] {
        let select = try connection.statement("SELECT number, count, span FROM kith_text_portion WHERE \(Self.ofText) ORDER BY number")
        key.bind(to: select)
        var outlines: [Outline] = []
        while try select.step() {
            outlines.append(Outline(number: select.integer(0), count: select.int(1), span: try span(select.blob(2))))
        }
        return outlines
    }

    /// The changes of a portion.
    func changes(_ number: Int64, at key: TextKey) throws -> [TextState.Change] {
        let select = try connection.statement("SELECT changes FROM kith_text_portion WHERE \(Self.ofText) AND number = ?")
        key.bind(to: select)
        select.bind(5, number)
        defer { select.reset() }
        return try select.step() ? try decode(select.blob(0)) : []
    }

    /// The texts that have portions which wait for their rows.
    func earlyKeys() throws -> [TextKey] {
        let select = try connection.statement(
            "SELECT DISTINCT tbl, id, col, doc FROM kith_text_portion WHERE (tbl, id, col, doc) NOT IN (\(TurnRows.keysSQL))")
        var keys: [TextKey] = []
        while try select.step() { keys.append(try TextKey(select)) }
        return keys
    }

    /// By replica, the bytes of its changes. A portion is divided equally by those that have some in it.
    package func bytesByReplica() throws -> [ReplicaID: Int] {
        let select = try connection.statement("SELECT span, length(changes) FROM kith_text_portion")
        var bytes: [ReplicaID: Int] = [:]
        while try select.step() {
            let entries = try span(select.blob(0)).entries
            for entry in entries { bytes[entry.replica, default: 0] += select.int(1) / entries.count }
        }
        return bytes
    }

    private func decode(_ bytes: [UInt8]) throws -> [TextState.Change] {
        var reader = ByteReader(bytes)
        do {
            var changes: [TextState.Change] = []
            while reader.remaining > 0 {
                changes.append(
                    try TextState.Change(record: try reader.blob(limit: bytes.count, "change of a text"), ledger.catalog.replicas))
            }
            return changes
        } catch {
            throw TextArchive.corrupt
        }
    }

    private func span(_ bytes: [UInt8]) throws -> Span {
        var reader = ByteReader(bytes)
        do {
            var span = Span()
            for _ in 0..<(try reader.count("authors")) {
                let first = try reader.dot(ledger.catalog.replicas)
                span.entries.append(Span.Entry(replica: first.replica, first: first.sequence, last: try reader.varint()))
            }
            return span
        } catch {
            throw TextArchive.corrupt
        }
    }

    // MARK: Removing

    func remove(_ table: Int, _ id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_text_portion WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    /// Removes those of a text.
    func remove(at key: TextKey) throws {
        let delete = try connection.statement("DELETE FROM kith_text_portion WHERE \(Self.ofText)")
        key.bind(to: delete)
        try delete.run()
    }

    /// Removes those that are to be taken of texts that meet a condition on table, id and column.
    func removeDue(where condition: String) throws {
        try connection.execute("DELETE FROM kith_text_portion WHERE \(condition) AND (tbl, id, col, doc) IN (\(TurnRows.keysSQL));")
    }

    /// Removes those that wait for their rows.
    func removeEarly() throws {
        try connection.execute("DELETE FROM kith_text_portion WHERE (tbl, id, col, doc) NOT IN (\(TurnRows.keysSQL));")
    }

    private static let ofText = "tbl = ?1 AND id = ?2 AND col = ?3 AND doc = ?4"
}
