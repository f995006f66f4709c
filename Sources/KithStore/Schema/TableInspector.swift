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
        let form: KeyForm
        /// The tracked columns with their kinds, in the order of the table.
        let tracked: [(name: String, kind: ColumnKind)]
        /// The columns that do not synchronise, but for generated ones and foreign keys.
        let local: [String]
        /// Those that are NOT NULL without a default, and neither generated nor part of a key.
        let required: [String]
    }

    /// - Parameter report: gets everything that stands against the table.
    /// - Returns: `nil` if the table cannot be tracked at all.
    func inspect(_ table: TrackedTable, _ report: SchemaProblems) throws -> Columns? {
        guard try hasForm(table, report) else { return nil }
        let infos = try infos(of: table.name)
        checkDeclaration(table, infos, report)
        let tracked = infos.filter { !$0.isKey && !$0.isGenerated && !table.localColumns.contains($0.name) }
        let written = infos.filter { !$0.isKey && !$0.isGenerated }
        let required = written.filter { $0.isNotNull && !$0.hasDefault && table.key?.contains($0.name) != true }.map(\.name)
        let tokens = tracked.map { table.renamed[$0.name] ?? $0.name }
        if tokens.contains("") { report("a column of it has no name. Rename it.", .declaration) }
        for token in tokens where token.utf8.count > WireLimits.nameBytesMax {
            report("the name of its column \(token.prefix(40))… is longer than \(WireLimits.nameBytesMax) bytes. Rename it.", .declaration)
        }
        if let twice = tokens.first(where: { token in tokens.filter { $0.utf8.elementsEqual(token.utf8) }.count > 1 }) {
            report("two of its columns are known to other devices as \(twice). Rename the newer one.", .declaration)
        }
        if tracked.count > TrackedTable.columnsMax {
            report("it has \(tracked.count) columns; at most \(TrackedTable.columnsMax) can be tracked.", .columnCount)
        }
        // Whoever keeps columns on this machine by name knows what does not travel.
        if tracked.isEmpty, table.localColumns.isEmpty {
            report(
                "it has no column that synchronises beside its id, and what a commit writes stands in columns, so its rows would stay here. "
                    + "Give it one, such as present INTEGER NOT NULL DEFAULT 1.", .columnCount,
                sql: "ALTER TABLE \(quoted(table.name)) ADD COLUMN present INTEGER NOT NULL DEFAULT 1")
        }
        let columns = tracked.map { (name: $0.name, kind: table.kinds[$0.name] ?? .register) }
        if let key = table.key {
            try KeyInspector(connection: connection).check(key, columns, primary: infos.filter(\.isKey).map(\.name), report)
        }
        try checkUnique(table, report)
        let isStrict = try isStrict(table.name)
        for info in tracked { checkType(info, table.kinds[info.name] ?? .register, isStrict, report) }
        for info in tracked where info.name == table.position { checkPosition(info, isStrict, report) }
        try checkCounters(table, report)
        let keys = infos.filter(\.isKey)
        guard keys.count == 1, let key = keys.first else {
            report(
                "its primary key must be one column that holds a UUID: id BLOB PRIMARY KEY NOT NULL, or id TEXT PRIMARY KEY NOT NULL. "
                    + "KeyMigration adds it.", .key, sql: "id BLOB PRIMARY KEY NOT NULL DEFAULT (kith_uuid())",
                declaration: keys.count > 1 ? Self.declaration(table.name, key: keys.map(\.name)) : nil)
            return nil
        }
        let form = try KeyFormInspector(connection: connection).form(
            of: table, key: key.name, suggested: try formOfDefault(of: key.name, in: table.name) ?? Self.suggestedForm(key, isStrict),
            declared: key.type, report)
        if table.ids != nil, try !canHold(form, key, isStrict, in: table.name) {
            report(
                "its primary key \(key.name) is declared \(key.type), which cannot hold \(form.words). Declare it BLOB or TEXT; KeyMigration does.",
                .key, column: key.name)
        }
        try checkDefault(of: key.name, in: table.name, form, report)
        return Columns(
            key: key.name, form: form, tracked: columns, local: try localColumns(of: table, infos), required: required)
    }

    private func localColumns(of table: TrackedTable, _ infos: [Info]) throws -> [String] {
        if table.localColumns.isEmpty { return [] }
        let list = try connection.statement("SELECT \"from\" FROM pragma_foreign_key_list(?)")
        list.bind(1, .text(table.name))
        var references: Set<String> = []
        while try list.step() { references.insert(String(decoding: list.blob(0), as: UTF8.self).asciiLowercased) }
        return infos.filter { !$0.isKey && !$0.isGenerated && table.localColumns.contains($0.name) }.map(\.name)
            .filter { !references.contains($0.asciiLowercased) }
    }

    // MARK: The table

    private func hasForm(_ table: TrackedTable, _ report: SchemaProblems) throws -> Bool {
        func reject(_ why: String, edit: TableEdit? = nil) -> Bool {
            report(why, .table, edit: edit)
            return false
        }
        if table.name.utf8.count > WireLimits.nameBytesMax { return reject("its name is longer than \(WireLimits.nameBytesMax) bytes.") }
        if table.name.contains("\"") {
            return reject("there is a quotation mark in its name, with which no observation finds it. Rename it.")
        }
        if table.name.asciiLowercased.hasPrefix("kith_") { return reject("names that begin with kith_ are Kith's own. Rename it.") }
        if table.name.asciiLowercased.hasPrefix("sqlite_") { return reject("it is SQLite's own.") }
        let list = try connection.statement("SELECT type, wr FROM pragma_table_list(?1) WHERE schema = 'main' AND name = ?1")
        defer { list.reset() }
        list.bind(1, .text(table.name))
        guard try list.step() else {
            return reject("there is no such table (names are case-sensitive here). Create it before the store is opened.")
        }
        if let hidden = try temporary(table.name) {
            return reject("a temporary \(hidden) of its name hides it. Drop that one, or give it another name.")
        }
        if let trigger = try triggerNamedAsKiths(of: table.name) {
            return reject("its trigger \(trigger) has a name of the kind that Kith gives its own. Rename it.")
        }
        let type = String(decoding: list.blob(0), as: UTF8.self)
        if type != "table" { return reject("it is a \(type == "virtual" ? "virtual table" : type), not an ordinary table.") }
        if list.int(1) != 0 {
            return reject("it is WITHOUT ROWID, which observations cannot follow. Drop those words.", edit: .dropWithoutRowid)
        }
        return true
    }

    /// A temporary table or view, whose name goes before that of a table of the database.
    private func temporary(_ table: String) throws -> String? {
        let list = try connection.statement(
            "SELECT type FROM sqlite_temp_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE")
        list.bind(1, .text(table))
        defer { list.reset() }
        return try list.step() ? String(decoding: list.blob(0), as: UTF8.self) : nil
    }

    /// A trigger of the app that would be taken for one of Kith's, and dropped.
    private func triggerNamedAsKiths(of table: String) throws -> String? {
        let list = try connection.statement(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND name GLOB 'kith_[0-9]*_*'")
        list.bind(1, .text(table))
        var found: String?
        while try list.step() {
            let name = String(decoding: list.blob(0), as: UTF8.self)
            if !Triggers.isName(name) { found = found ?? name }
        }
        return found
    }

    private func isStrict(_ table: String) throws -> Bool {
        let list = try connection.statement("SELECT strict FROM pragma_table_list(?1) WHERE schema = 'main' AND name = ?1")
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
    private func checkDeclaration(_ table: TrackedTable, _ infos: [Info], _ report: SchemaProblems) {
        for info in infos where info.name.asciiLowercased == "rowid" {
            report(
                "its column \(info.name) hides SQLite's rowid, by which rows are followed. Rename it.", .table, column: info.name,
                sql: "ALTER TABLE \(quoted(table.name)) RENAME COLUMN \(quoted(info.name)) TO \(quoted(info.name + "_"))")
        }
        for info in infos where info.isKey && (table.kinds[info.name] != nil || table.localColumns.contains(info.name)) {
            report("\(info.name) is the key, which is neither a set nor a counter nor a text nor local.", .declaration, column: info.name)
        }
        for info in infos where info.isKey && table.attachments.contains(info.name) {
            report("\(info.name) holds ids of attachments, so it is neither the key nor of another kind.", .declaration, column: info.name)
        }
        for info in infos where info.isKey && table.position == info.name {
            report("\(info.name) holds positions, so it is not the key.", .declaration, column: info.name)
        }
        for name in table.ambiguous {
            report(
                "\(name) is declared as of two kinds. Name it once, among sets, counters, texts, attachments, position or localColumns.",
                .declaration, column: name)
        }
        let names = Set(infos.map(\.name))
        for name in Set(table.kinds.keys).union(table.localColumns).union(table.renamed.keys).union(table.attachments)
            .union(table.position.map { [$0] } ?? []).sorted()
        where !names.contains(name) {
            report("it has no column \(name).", .declaration, column: name)
        }
    }

    /// Whether the column can hold what a column of this kind does.
    private func checkType(_ info: Info, _ kind: ColumnKind, _ isStrict: Bool, _ report: SchemaProblems) {
        let declared = info.type.isEmpty ? "without a type" : info.type
        let affinity = Affinity(declared: info.type)
        let (needed, isFit): (String, Bool)
        switch kind {
        case .register: return
        case .set, .text:
            needed = "TEXT"
            // A type such as JSON makes a number of a text that looks like one, which no set does.
            let keeps = affinity == .text || affinity == .blob || kind == .set && info.type.hasPrefix("JSON")
            isFit = isStrict ? ["TEXT", "ANY"].contains(info.type) : keeps
        case .counter: (needed, isFit) = ("INTEGER", affinity == .integer)
        }
        if isFit { return }
        report(
            "\(info.name) is a \(kind), which needs \(needed); its column is \(declared). Declare it as what it is, or make another column.",
            .columnType, column: info.name, edit: .setType(info.name, needed)
        )
    }

    /// Positions are texts, and a row that was never moved has none.
    private func checkPosition(_ info: Info, _ isStrict: Bool, _ report: SchemaProblems) {
        if isStrict ? ["TEXT", "ANY"].contains(info.type) : [.text, .blob].contains(Affinity(declared: info.type)) { return }
        report(
            "\(info.name) is a position, which needs TEXT; its column is \(info.type). Declare it as what it is, or make another column.",
            .columnType, column: info.name, edit: .setType(info.name, "TEXT"))
    }

    /// What the key gets where an insertion does not name it; `nil` if it has no default, or one that needs what is not there yet.
    private func keyDefault(_ key: String, in table: String) throws -> ColumnValue? {
        let select = try connection.statement("SELECT dflt_value FROM pragma_table_xinfo(?) WHERE name = ?")
        select.bind(1, .text(table))
        select.bind(2, .text(key))
        let expression = try select.step() && !select.isNull(0) ? String(decoding: select.blob(0), as: UTF8.self) : nil
        select.reset()
        guard let expression, let value = try? connection.passingStatement("SELECT (\(expression))"), try value.step() else { return nil }
        defer { value.reset() }
        return value.value(0)
    }

    private func formOfDefault(of key: String, in table: String) throws -> KeyForm? {
        try keyDefault(key, in: table).flatMap { value in KeyForm.allCases.first { $0.id(of: value) != nil } }
    }

    private func checkDefault(of key: String, in table: String, _ form: KeyForm, _ report: SchemaProblems) throws {
        guard let value = try keyDefault(key, in: table), value != .null, form.id(of: value) == nil else { return }
        report(
            "the default of its key \(key) is not \(form.words). Write \(key) … DEFAULT (\(form.drawSQL)).", .key, column: key,
            edit: .setDefault(key, "(\(form.drawSQL))"))
    }

    /// What ids a column of this type is for; `nil` if for none.
    private static func suggestedForm(_ info: Info, _ isStrict: Bool) -> KeyForm? {
        if isStrict { return ["BLOB": .blob, "ANY": .blob, "TEXT": .text][info.type] }
        switch Affinity(declared: info.type) {
        case .blob, .numeric: return .blob
        case .text: return .text
        case .integer, .real: return nil
        }
    }

    /// Whether a key can be an id in this form. `INTEGER PRIMARY KEY` is the number of the row (sqlite.org/lang_createtable.html#rowid).
    private func canHold(_ form: KeyForm, _ key: Info, _ isStrict: Bool, in table: String) throws -> Bool {
        if isStrict { return key.type == "ANY" || key.type == (form == .blob ? "BLOB" : "TEXT") }
        if key.type != "INTEGER" { return true }
        let index = try connection.statement("SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'")
        index.bind(1, .text(table))
        defer { index.reset() }
        return try index.step()
    }

    // MARK: Rules that merges could break

    private func checkCounters(_ table: TrackedTable, _ report: SchemaProblems) throws {
        let counters = table.kinds.filter { $0.value == .counter }.keys.sorted()
        if counters.isEmpty { return }
        let select = try connection.statement("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?")
        defer { select.reset() }
        select.bind(1, .text(table.name))
        let checked = try select.step() ? CheckConstraints(sql: String(decoding: select.blob(0), as: UTF8.self)).names : []
        for name in counters where checked.contains(name.asciiLowercased) {
            report(
                "a CHECK looks at the counter \(name). Two devices that each count down within it may together pass its bound, and "
                    + "the row would be shown nowhere. Drop the CHECK, and look at the value where it is used.", .check, column: name,
                edit: .dropCheck(name))
        }
    }

    static func declaration(_ table: String, key: [String]) -> String {
        "TrackedTable(\"\(table)\", key: [\(key.map { "\"\($0)\"" }.joined(separator: ", "))])"
    }

    /// The columns of an index; `nil` if one of them is an expression, or there is a condition.
    private func columns(of index: String) throws -> [String]? {
        let select = try connection.statement(
            "SELECT i.name, l.partial FROM pragma_index_info(?1) i JOIN sqlite_master m ON m.name = ?1 JOIN pragma_index_list(m.tbl_name) l ON l.name = ?1 ORDER BY i.seqno"
        )
        select.bind(1, .text(index))
        var names: [String]? = []
        while try select.step() {
            if select.isNull(0) || select.int(1) != 0 {
                names = nil
            } else {
                names?.append(String(decoding: select.blob(0), as: UTF8.self))
            }
        }
        return names
    }

    /// The statement that made an index; `nil` for one that a constraint of the table made.
    private func indexSQL(_ index: String) throws -> String? {
        let select = try connection.statement("SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ? AND sql NOT NULL")
        defer { select.reset() }
        select.bind(1, .text(index))
        return try select.step() ? String(decoding: select.blob(0), as: UTF8.self) : nil
    }

    private func checkUnique(_ table: TrackedTable, _ report: SchemaProblems) throws {
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
                        + "insert 'a' and 'A'. Drop the COLLATE from it, and bring values to one form, such as lower case, before they are inserted.",
                    .unique)
                continue
            }
            let names = try self.columns(of: name)
            let isIndex = try indexSQL(name)
            let obstacle = try keys.obstacle(names, by: name, of: table.name)
            report(
                "\(columns) is UNIQUE. Two machines that are apart could each insert a row that is fine alone, and the merge "
                    + "would have to drop one. "
                    + (obstacle.map { "\($0) Use an ordinary index." }
                        ?? "Derive the id from these columns instead (TrackedTable(key:)), or use an ordinary index."),
                .unique, column: names?.count == 1 ? names?[0] : nil,
                sql: isIndex.map { "DROP INDEX \(quoted(name)); \(SchemaRewrite.relaxed($0))" },
                declaration: obstacle == nil ? names.map { Self.declaration(table.name, key: $0) } : nil,
                edit: isIndex == nil ? names.map { .dropUnique($0) } : .relaxIndex(name))
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
