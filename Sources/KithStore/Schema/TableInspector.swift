import GRDBSQLite
import KithSync

/// What SQLite says of a table that is to be tracked, and whether it can be.
struct TableInspector {
    let connection: Connection

    /// The name of the key column and the tracked columns with their kinds, in the order of the table.
    func inspect(_ table: TrackedTable) throws -> (key: String, columns: [(name: String, kind: ColumnKind)]) {
        func reject(_ why: String) -> StoreError { StoreError(.tableRejected, "Table \(table.name) cannot be tracked: \(why)") }
        if table.name.utf8.count > WireLimits.nameBytesMax { throw reject("its name is longer than \(WireLimits.nameBytesMax) bytes.") }
        if table.name.lowercased().hasPrefix("kith_") { throw reject("names that begin with kith_ are Kith's own. Rename it.") }
        if table.name.lowercased().hasPrefix("sqlite_") { throw reject("it is SQLite's own.") }
        try checkForm(table, reject)

        var keys: [String] = []
        var columns: [(name: String, kind: ColumnKind)] = []
        var seen: Set<String> = []
        var undefaulted: String?
        let info = try connection.statement(
            "SELECT name, \"notnull\", coalesce(upper(dflt_value), 'NULL') = 'NULL', pk, hidden, type FROM pragma_table_xinfo(?)")
        info.bind(1, .text(table.name))
        while try info.step() {
            let name = String(decoding: info.blob(0), as: UTF8.self)
            seen.insert(name)
            if info.int(3) > 0 {
                if table.kinds[name] != nil || table.localColumns.contains(name) {
                    throw reject("\(name) is the key, which is neither a set nor a counter nor a text nor local.")
                }
                keys.append(name)
                continue
            }
            // Generated columns (hidden 2 and 3) follow from the others.
            if info.int(4) != 0 || table.localColumns.contains(name) { continue }
            if info.int(1) != 0, info.int(2) != 0, table.key?.columns.contains(name) != true { undefaulted = undefaulted ?? name }
            columns.append((name, table.kinds[name] ?? .register))
        }
        if let name = table.attachments.first(where: { table.kinds[$0] != nil || keys.contains($0) }) {
            throw reject("\(name) holds ids of attachments, so it is neither the key nor of another kind.")
        }
        for name in table.kinds.keys.sorted() + table.localColumns.sorted() + table.renamed.keys.sorted() + table.attachments
        where !seen.contains(name) {
            throw reject("it has no column \(name).")
        }
        guard keys.count == 1, let key = keys.first else {
            throw reject("its primary key must be one column that holds a UUID of 16 bytes: id BLOB PRIMARY KEY NOT NULL.")
        }
        if let undefaulted {
            throw reject(
                "column \(undefaulted) is NOT NULL without a default, so a row from a machine that does not have the column yet "
                    + "could not be stored. Give it a DEFAULT, or drop NOT NULL.")
        }
        let tokens = columns.map { table.renamed[$0.name] ?? $0.name }
        if let twice = tokens.first(where: { token in tokens.filter { $0.utf8.elementsEqual(token.utf8) }.count > 1 }) {
            throw reject("two of its columns are known to other devices as \(twice). Rename the newer one.")
        }
        if columns.count > TrackedTable.columnsMax {
            throw reject("it has \(columns.count) columns; at most \(TrackedTable.columnsMax) can be tracked.")
        }
        try checkKey(key, table, reject)
        if let key = table.key { try KeyInspector(connection: connection).check(key, columns, reject) }
        try checkUnique(table, reject)
        return (key, columns)
    }

    private func checkForm(_ table: TrackedTable, _ reject: (String) -> StoreError) throws {
        let list = try connection.statement("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?")
        list.bind(1, .text(table.name))
        guard try list.step() else {
            throw reject("there is no such table (names are case-sensitive here). Create it before the store is opened.")
        }
        let type = String(decoding: list.blob(0), as: UTF8.self)
        let withoutRowid = list.int(1) != 0
        list.reset()
        if type != "table" { throw reject("it is a \(type), not an ordinary table.") }
        if withoutRowid { throw reject("it is WITHOUT ROWID, which observations cannot follow. Drop those words.") }
    }

    private func checkKey(_ key: String, _ table: TrackedTable, _ reject: (String) -> StoreError) throws {
        let type = try connection.statement("SELECT upper(type) FROM pragma_table_xinfo(?) WHERE name = ?")
        type.bind(1, .text(table.name))
        type.bind(2, .text(key))
        guard try type.step() else { return }
        let declared = String(decoding: type.blob(0), as: UTF8.self)
        type.reset()
        if declared != "BLOB" {
            throw reject(
                "its primary key \(key) is declared \(declared.isEmpty ? "without a type" : declared). "
                    + "A tracked row is named by a UUID of 16 bytes: \(key) BLOB PRIMARY KEY NOT NULL.")
        }
    }

    private func checkUnique(_ table: TrackedTable, _ reject: (String) -> StoreError) throws {
        let indices = try connection.statement("SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND origin <> 'pk'")
        indices.bind(1, .text(table.name))
        var unique: [String] = []
        while try indices.step() { unique.append(String(decoding: indices.blob(0), as: UTF8.self)) }
        let keys = KeyInspector(connection: connection)
        guard let name = try unique.first(where: { try !keys.isImplied($0, by: table.key) }) else { return }
        let members = try connection.statement("SELECT group_concat(coalesce(name, 'an expression'), ', ') FROM pragma_index_info(?)")
        members.bind(1, .text(name))
        let columns = try members.step() ? String(decoding: members.blob(0), as: UTF8.self) : name
        members.reset()
        throw reject(
            "\(columns) is UNIQUE. Two machines that are apart could each insert a row that is fine alone, and the merge "
                + "would have to drop one. Derive the id from these columns instead (TrackedTable(key:)), or use an ordinary index.")
    }
}
