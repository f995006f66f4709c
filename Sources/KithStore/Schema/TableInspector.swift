import GRDBSQLite
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// What SQLite says of a table that is to be tracked, and whether it can be.
struct TableInspector {
    let connection: DatabaseConnection

    /// What a table is made of, as far as it matters here.
    struct Columns {
        /// The name of the key column.
        let key: String
        /// The tracked columns with their kinds, in the order of the table.
        let tracked: [(name: String, kind: ColumnKind)]
    }

    /// - Parameter report: is told of everything that stands against the table, one sentence each.
    /// - Returns: `nil` if the table cannot be tracked at all.
    func inspect(_ table: TrackedTable, _ report: (String) -> Void) throws -> Columns? {
        guard try hasForm(table, report) else { return nil }
        let infos = try infos(of: table.name)
        checkDeclaration(table, infos, report)
        let tracked = infos.filter { !$0.isKey && !$0.isGenerated && !table.localColumns.contains($0.name) }
        for info in tracked where info.isNotNull && !info.hasDefault && table.key?.contains(info.name) != true {
            report(
                "column \(info.name) is NOT NULL without a default, so a row from a machine that does not have the column yet "
                    + "could not be stored. Give it a DEFAULT, or drop NOT NULL.")
        }
        let tokens = tracked.map { table.renamed[$0.name] ?? $0.name }
        if let twice = tokens.first(where: { token in tokens.filter { $0.utf8.elementsEqual(token.utf8) }.count > 1 }) {
            report("two of its columns are known to other devices as \(twice). Rename the newer one.")
        }
        if tracked.count > TrackedTable.columnsMax {
            report("it has \(tracked.count) columns; at most \(TrackedTable.columnsMax) can be tracked.")
        }
        // Whoever keeps columns on this machine by name knows what does not travel.
        if tracked.isEmpty, table.localColumns.isEmpty {
            report(
                "it has no column that synchronises beside its id, and what a commit writes stands in columns, so its rows would stay here. "
                    + "Give it one, such as present INTEGER NOT NULL DEFAULT 1.")
        }
        let columns = tracked.map { (name: $0.name, kind: table.kinds[$0.name] ?? .register) }
        if let key = table.key { try KeyInspector(connection: connection).check(key, columns, report) }
        try checkUnique(table, report)
        let isStrict = try isStrict(table.name)
        for info in tracked { checkType(info, table.kinds[info.name] ?? .register, isStrict, report) }
        try checkCounters(table, report)
        let keys = infos.filter(\.isKey)
        guard keys.count == 1, let key = keys.first else {
            report("its primary key must be one column that holds a UUID of 16 bytes: id BLOB PRIMARY KEY NOT NULL.")
            return nil
        }
        checkKeyType(key, isStrict, report)
        return Columns(key: key.name, tracked: columns)
    }

    // MARK: The table

    private func hasForm(_ table: TrackedTable, _ report: (String) -> Void) throws -> Bool {
        func reject(_ why: String) -> Bool {
            report(why)
            return false
        }
        if table.name.utf8.count > WireLimits.nameBytesMax { return reject("its name is longer than \(WireLimits.nameBytesMax) bytes.") }
        if table.name.contains("\"") {
            return reject("there is a quotation mark in its name, with which no observation finds it. Rename it.")
        }
        if table.name.lowercased().hasPrefix("kith_") { return reject("names that begin with kith_ are Kith's own. Rename it.") }
        if table.name.lowercased().hasPrefix("sqlite_") { return reject("it is SQLite's own.") }
        let list = try connection.statement("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?")
        defer { list.reset() }
        list.bind(1, .text(table.name))
        guard try list.step() else {
            return reject("there is no such table (names are case-sensitive here). Create it before the store is opened.")
        }
        let type = String(decoding: list.blob(0), as: UTF8.self)
        if type != "table" { return reject("it is a \(type), not an ordinary table.") }
        if list.int(1) != 0 { return reject("it is WITHOUT ROWID, which observations cannot follow. Drop those words.") }
        return true
    }

    private func isStrict(_ table: String) throws -> Bool {
        let list = try connection.statement("SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?")
        defer { list.reset() }
        list.bind(1, .text(table))
        return try list.step() && list.int(0) != 0
    }

    // MARK: Columns

    private struct Info {
        let name: String
        /// As declared, in capitals.
        let type: String
        let isNotNull: Bool
        let hasDefault: Bool
        let isKey: Bool
        /// Follows from the others.
        let isGenerated: Bool
    }

    private func infos(of table: String) throws -> [Info] {
        let select = try connection.statement(
            """
            SELECT name, upper(type), "notnull", coalesce(upper(dflt_value), 'NULL') <> 'NULL', pk, hidden FROM pragma_table_xinfo(?)
            """)
        select.bind(1, .text(table))
        var infos: [Info] = []
        while try select.step() {
            infos.append(
                Info(
                    name: String(decoding: select.blob(0), as: UTF8.self), type: String(decoding: select.blob(1), as: UTF8.self),
                    isNotNull: select.int(2) != 0, hasDefault: select.int(3) != 0, isKey: select.int(4) > 0,
                    isGenerated: select.int(5) != 0))
        }
        return infos
    }

    /// Whether what is declared of columns fits the table, and itself.
    private func checkDeclaration(_ table: TrackedTable, _ infos: [Info], _ report: (String) -> Void) {
        for info in infos where info.name.lowercased() == "rowid" {
            report("its column \(info.name) hides SQLite's rowid, by which rows are followed. Rename it.")
        }
        for info in infos where info.isKey && (table.kinds[info.name] != nil || table.localColumns.contains(info.name)) {
            report("\(info.name) is the key, which is neither a set nor a counter nor a text nor local.")
        }
        for info in infos where info.isKey && table.attachments.contains(info.name) {
            report("\(info.name) holds ids of attachments, so it is neither the key nor of another kind.")
        }
        for name in table.ambiguous {
            report("\(name) is declared as of two kinds. Name it once, among sets, counters, texts, attachments or localColumns.")
        }
        let names = Set(infos.map(\.name))
        for name in Set(table.kinds.keys).union(table.localColumns).union(table.renamed.keys).union(table.attachments).sorted()
        where !names.contains(name) {
            report("it has no column \(name).")
        }
    }

    /// Whether the column can hold what a column of this kind does.
    private func checkType(_ info: Info, _ kind: ColumnKind, _ isStrict: Bool, _ report: (String) -> Void) {
        let declared = info.type.isEmpty ? "without a type" : info.type
        let affinity = Affinity(declared: info.type)
        let (needed, isFit): (String, Bool)
        switch kind {
        case .register: return
        case .set, .text:
            needed = "TEXT"
            isFit = isStrict ? ["TEXT", "ANY"].contains(info.type) : affinity == .text || affinity == .blob || info.type.hasPrefix("JSON")
        case .counter: (needed, isFit) = ("INTEGER", affinity == .integer)
        }
        if isFit { return }
        report(
            "\(info.name) is a \(kind), which needs \(needed); its column is \(declared). Declare it as what it is, or make another column."
        )
    }

    private func checkKeyType(_ info: Info, _ isStrict: Bool, _ report: (String) -> Void) {
        let affinity = Affinity(declared: info.type)
        let holdsBlobs = isStrict ? ["BLOB", "ANY"].contains(info.type) : affinity == .blob || affinity == .numeric
        if holdsBlobs { return }
        report(
            "its primary key \(info.name) is declared \(info.type). "
                + "A tracked row is named by a UUID of 16 bytes: \(info.name) BLOB PRIMARY KEY NOT NULL.")
    }

    // MARK: Rules that merges could break

    private func checkCounters(_ table: TrackedTable, _ report: (String) -> Void) throws {
        let counters = table.kinds.filter { $0.value == .counter }.keys.sorted()
        if counters.isEmpty { return }
        let select = try connection.statement("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?")
        defer { select.reset() }
        select.bind(1, .text(table.name))
        let checked = try select.step() ? CheckConstraints(sql: String(decoding: select.blob(0), as: UTF8.self)).names : []
        for name in counters where checked.contains(name.lowercased()) {
            report(
                "a CHECK looks at the counter \(name). Two devices that each count down within it may together pass its bound, and "
                    + "the row would be shown nowhere. Drop the CHECK, and look at the value where it is used.")
        }
    }

    private func checkUnique(_ table: TrackedTable, _ report: (String) -> Void) throws {
        let indices = try connection.statement("SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND origin <> 'pk'")
        indices.bind(1, .text(table.name))
        var unique: [String] = []
        while try indices.step() { unique.append(String(decoding: indices.blob(0), as: UTF8.self)) }
        let keys = KeyInspector(connection: connection)
        for name in try unique.filter({ try !keys.isImplied($0, by: table.key) }) {
            let members = try connection.statement("SELECT group_concat(coalesce(name, 'an expression'), ', ') FROM pragma_index_info(?)")
            members.bind(1, .text(name))
            let columns = try members.step() ? String(decoding: members.blob(0), as: UTF8.self) : name
            members.reset()
            if try keys.isImpliedButForCollation(name, by: table.key) {
                report(
                    "\(columns) is UNIQUE by another collation than BINARY, but the key tells values apart by their bytes: two machines could "
                        + "insert 'a' and 'A'. Drop the COLLATE from it, and bring values to one form, such as lower case, before they are inserted."
                )
                continue
            }
            report(
                "\(columns) is UNIQUE. Two machines that are apart could each insert a row that is fine alone, and the merge "
                    + "would have to drop one. Derive the id from these columns instead (TrackedTable(key:)), or use an ordinary index.")
        }
    }
}

/// What SQLite makes of the type that a column declares (sqlite.org/datatype3.html, 3.1).
private enum Affinity {
    case integer, text, blob, real, numeric

    init(declared: String) {
        func names(_ words: String...) -> Bool { words.contains { declared.contains($0) } }
        if names("INT") {
            self = .integer
        } else if names("CHAR", "CLOB", "TEXT") {
            self = .text
        } else if declared.isEmpty || names("BLOB") {
            self = .blob
        } else {
            self = names("REAL", "FLOA", "DOUB") ? .real : .numeric
        }
    }
}
