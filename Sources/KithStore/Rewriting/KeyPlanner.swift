import Foundation
import GRDB
import KithCapture
import KithLedger
import KithSQLite
import KithSync

/// Finds out what a ``KeyMigration`` has to do.
struct KeyPlanner {
    static let function = "kith_new_id"

    /// Where the new ids of a table's rows stand while others follow.
    struct Map {
        let name: String
        let creation: String
    }

    private let migration: KeyMigration
    private let db: Database

    init(_ migration: KeyMigration, _ db: Database) {
        self.migration = migration
        self.db = db
    }

    /// A table that gets new ids.
    private struct Target {
        let table: TrackedTable
        /// The name that the schema has.
        let name: String
        let form: KeyForm
        /// What rows were named by, with the declared types; none if they had rowids alone.
        let formerKey: [(name: String, type: String)]
        /// How SQLite compares the former key, if it is one column: references to it are compared so, too.
        let collation: String
        /// The column of the new ids, and whether it is a new one.
        let key: String
        let isNewColumn: Bool
        let isRowid: Bool
    }

    private struct Referrer {
        let table: String
        let column: String
        let parent: Target
    }

    func plan() throws -> (plan: KeyMigration.Plan, maps: [Map]) {
        var problems: [String] = []
        var targets: [Target] = []
        for table in migration.tables {
            do {
                if let target = try target(table) { targets.append(target) }
            } catch let error as StoreError where error.code == .tableRejected {
                problems.append(error.message)
            }
        }
        if targets.isEmpty, problems.isEmpty { return (KeyMigration.Plan(), []) }
        var referrers: [Referrer] = []
        do {
            referrers = try self.referrers(targets)
        } catch let error as StoreError where error.code == .tableRejected {
            problems.append(error.message)
        }
        if !problems.isEmpty { throw StoreError(.tableRejected, problems.joined(separator: "\n")) }
        let maps = try maps(targets, referrers)
        var plan = KeyMigration.Plan()
        var rebuilt: [SchemaRewrite.Table] = []
        for name in try names() {
            let target = targets.first { $0.name == name }
            let references = referrers.filter { $0.table == name }
            if target == nil, references.isEmpty { continue }
            rebuilt.append(try rebuilding(name, target, references, maps))
            plan.tables.append(
                KeyMigration.Plan.Table(
                    name: name, rows: try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted(name))") ?? 0, key: target?.key,
                    formerKey: target?.formerKey.map(\.name) ?? [],
                    references: Dictionary(references.map { ($0.column, $0.parent.name) }) { first, _ in first }))
        }
        plan.statements = try SchemaRewrite(tables: rebuilt).statements(db)
        plan.notes = notes(targets)
        return (plan, maps)
    }

    private func names() throws -> [String] {
        try SchemaRewrite.objects("type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'", db).map(\.name)
    }

    private func notes(_ targets: [Target]) -> [String] {
        targets.map { target in
            let type = target.form == .blob ? "16 bytes" : "text"
            if target.isNewColumn, target.table.key != nil {
                return
                    "\(target.name) has a new column \(target.key) (\(type)): insert a row with \(target.key) = kith_key('\(target.name)', …)."
            }
            if target.isNewColumn {
                return "\(target.name) has a new column \(target.key) (\(type)), which an insertion need not name."
            }
            return target.isRowid
                ? "\(target.name).\(target.key) is a UUID (\(type)) and no longer the rowid: a property of a record is a UUID in place of an Int64, and what joined a search index by it says rowid."
                : "\(target.name).\(target.key) is a UUID (\(type))."
        }
    }

    // MARK: Which tables

    private func reject(_ message: String) -> StoreError { StoreError(.tableRejected, message) }

    private func target(_ table: TrackedTable) throws -> Target? {
        guard let name = try names().first(where: { $0.asciiLowercased == table.name.asciiLowercased }) else {
            throw reject("There is no table \(table.name). Name the tables that the database has.")
        }
        let type = try String.fetchOne(db, sql: "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [name])
        if let type, type != "table" {
            throw reject("\(name) is a \(type) table, and only ordinary ones are tracked. Leave it out.")
        }
        let columns = try Row.fetchAll(db, sql: "SELECT name, upper(type) type, pk FROM pragma_table_info(?)", arguments: [name])
        let keys = columns.filter { $0["pk"] as Int > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
            .map { (name: $0["name"] as String, type: $0["type"] as String) }
        let form = table.ids ?? migration.form
        if keys.count == 1, table.key?.contains(keys[0].name) != true, try isID(keys[0].name, of: name, declared: table.ids),
            try table.key.map({ try follow(name, keys[0].name, from: $0) }) ?? true
        {
            return nil
        }
        if try Bool.fetchOne(
            db, sql: "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? AND name GLOB 'kith_[0-9]*_*'", arguments: [name])
            == true
        {
            throw reject("Table \(name) is tracked already, and the ids of its rows are final.")
        }
        if keys.count > 1, table.key == nil {
            let list = keys.map(\.name).joined(separator: "\", \"")
            throw reject(
                "The key of \(name) has \(keys.count) columns. Declare it, so that ids follow from them: TrackedTable(\"\(name)\", key: [\"\(list)\"])."
            )
        }
        for column in table.key ?? [] where !columns.contains(where: { $0["name"] == column }) {
            throw reject("\(name) has no column \(column), which its key names.")
        }
        // SQLite takes NULL in a primary key that is not declared NOT NULL.
        for (column, _) in keys where try Bool.fetchOne(db, sql: "SELECT 1 FROM \(quoted(name)) WHERE \(quoted(column)) IS NULL") == true {
            throw reject("Rows of \(name) have no key: \(column) is NULL. Give them one, or delete them.")
        }
        let isNew = keys.count != 1 || table.key?.contains(keys[0].name) == true
        let taken = Set(columns.map { ($0["name"] as String).asciiLowercased })
        guard let key = isNew ? ["id", "uuid", "kith_id"].first(where: { !taken.contains($0) }) : keys[0].name else {
            throw reject("\(name) has columns id, uuid and kith_id, none of which is its key. Rename one.")
        }
        let collation = try String.fetchOne(
            db, sql: "SELECT x.coll FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) x WHERE l.origin = 'pk' AND x.key",
            arguments: [name])
        return Target(
            table: table, name: name, form: form, formerKey: keys, collation: collation ?? "BINARY", key: key, isNewColumn: isNew,
            isRowid: keys.count == 1 && keys[0].type == "INTEGER")
    }

    /// Whether all rows have ids in one form, in a column that may hold them.
    private func isID(_ key: String, of table: String, declared: KeyForm?) throws -> Bool {
        let column = quoted(key)
        let forms = declared.map { [$0] } ?? KeyForm.allCases
        let counts = forms.map { "coalesce(sum(\($0.isKeySQL(column))), 0)" }.joined(separator: ", ")
        guard let row = try Row.fetchOne(db, sql: "SELECT count(*), \(counts) FROM \(quoted(table))") else { return false }
        let count: Int = row[0]
        if count > 0 { return forms.indices.contains { row[$0 + 1] as Int == count } }
        let type =
            try String.fetchOne(db, sql: "SELECT upper(type) FROM pragma_table_info(?) WHERE name = ?", arguments: [table, key]) ?? ""
        return !["INT", "REAL", "FLOA", "DOUB"].contains { type.contains($0) }
    }

    /// Whether all ids are those of the natural key.
    private func follow(_ table: String, _ id: String, from key: [String]) throws -> Bool {
        let columns = Set(try db.columnNames(of: table))
        guard columns.isSuperset(of: key) else { return true }
        let rows = try Row.fetchCursor(db, sql: "SELECT \(([id] + key).map(quoted).joined(separator: ", ")) FROM \(quoted(table))")
        while let row = try rows.next() {
            let values = key.indices.map { ColumnValue(stored: row[$0 + 1]) }
            guard let wanted = RowID(table: Array(table.utf8), key: values), KeyForm.anyID(of: ColumnValue(stored: row[0])) == wanted else {
                return false
            }
        }
        return true
    }

    private func referrers(_ targets: [Target]) throws -> [Referrer] {
        var found: [Referrer] = []
        for table in try names() where !table.hasPrefix("kith_") {
            let rows = try Row.fetchAll(
                db,
                sql:
                    "SELECT id, \"table\" parent, group_concat(\"from\", char(31)) columns, group_concat(\"to\", char(31)) targets, count(*) n FROM pragma_foreign_key_list(?) GROUP BY id",
                arguments: [table])
            for row in rows {
                guard let parent = targets.first(where: { $0.name.asciiLowercased == (row["parent"] as String).asciiLowercased }) else {
                    continue
                }
                let column: String = row["columns"]
                let to: String? = row["targets"]
                guard row["n"] == 1 else {
                    throw reject("\(table) refers to \(parent.name) by several columns, which an id cannot follow. Refer to it by one.")
                }
                if let to, to.asciiLowercased != parent.formerKey.first?.name.asciiLowercased { continue }
                if let own = targets.first(where: { $0.name == table }), !own.isNewColumn, own.key.asciiLowercased == column.asciiLowercased
                {
                    throw reject(
                        "The key of \(table) is that of a row of \(parent.name). Give it an id of its own, and a column that refers to \(parent.name)."
                    )
                }
                if found.contains(where: { $0.table == table && $0.column == column }) { continue }
                let standard = try String.fetchOne(
                    db, sql: "SELECT dflt_value FROM pragma_table_info(?) WHERE name = ?", arguments: [table, column])
                if let standard, standard.asciiLowercased != "null" {
                    throw reject(
                        "\(table).\(column) refers to \(parent.name), and has the default \(standard), which names no row once ids are new. Take the default away."
                    )
                }
                found.append(Referrer(table: table, column: column, parent: parent))
            }
        }
        for (place, name) in migration.references.sorted(by: { $0.key < $1.key }) {
            let parts = place.split(separator: ".").map(String.init)
            guard parts.count == 2, let parent = targets.first(where: { $0.name == name }), try names().contains(parts[0]),
                try db.columnNames(of: parts[0]).contains(parts[1])
            else { throw reject("\(place) does not name a column that holds keys of \(name), a table that gets new ids.") }
            if !found.contains(where: { $0.table == parts[0] && $0.column == parts[1] }) {
                found.append(Referrer(table: parts[0], column: parts[1], parent: parent))
            }
        }
        return found
    }

    // MARK: New ids

    private func mapName(_ target: Target) -> String { "kith_ids_" + target.name }

    /// The new id of a row `o`.
    private func id(_ target: Target, _ referrers: [Referrer]) -> String {
        let natural = target.table.key
        let values: [String]
        if let natural {
            values = natural.map { value($0, of: target.name, referrers) }
        } else if let key = target.formerKey.first {
            values = ["o." + quoted(key.name)]
        } else {
            values = ["o.rowid"]
        }
        let table = target.table.name.replacing("'", with: "''")
        return "\(Self.function)('\(target.form.rawValue)', \(natural == nil ? 0 : 1), '\(table)', \(values.joined(separator: ", ")))"
    }

    /// What a column of a row `o` of the new table holds.
    private func value(_ column: String, of table: String, _ referrers: [Referrer]) -> String {
        let old = "o." + quoted(column)
        guard let reference = referrers.first(where: { $0.table == table && $0.column.asciiLowercased == column.asciiLowercased }) else {
            return old
        }
        return "coalesce((SELECT new FROM temp.\(quoted(mapName(reference.parent))) WHERE old = \(old)), \(old))"
    }

    /// In an order in which each needs only earlier ones.
    private func maps(_ targets: [Target], _ referrers: [Referrer]) throws -> [Map] {
        var rest = targets.filter { target in referrers.contains { $0.parent.name == target.name } }
        var maps: [Map] = []
        while !rest.isEmpty {
            func needs(_ target: Target) -> [String] {
                (target.table.key ?? []).compactMap { column in
                    referrers.first { $0.table == target.name && $0.column.asciiLowercased == column.asciiLowercased }?.parent.name
                }
            }
            let open = Set(rest.map(\.name))
            guard let index = rest.firstIndex(where: { open.isDisjoint(with: needs($0)) }) else {
                throw reject("The keys of \(open.sorted().joined(separator: ", ")) are made of each other, so that none comes first.")
            }
            let target = rest.remove(at: index)
            guard let key = target.formerKey.first else { continue }
            let name = quoted(mapName(target))
            maps.append(
                Map(
                    name: mapName(target),
                    creation: """
                        CREATE TEMP TABLE \(name) (old \(key.type) COLLATE \(quoted(target.collation)) PRIMARY KEY, new NOT NULL);
                        INSERT INTO temp.\(name) (old, new) SELECT o.\(quoted(key.name)), \(id(target, referrers)) FROM main.\(quoted(target.name)) o
                        """))
        }
        return maps
    }

    // MARK: New tables

    private func rebuilding(_ name: String, _ target: Target?, _ references: [Referrer], _ maps: [Map]) throws -> SchemaRewrite.Table {
        let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [name]) ?? ""
        guard var definition = TableDefinition(sql: sql) else { throw reject("The CREATE TABLE of \(name) cannot be read: \(sql)") }
        let isWithoutRowid =
            try Bool.fetchOne(
                db, sql: "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [name]) ?? false
        for reference in references {
            definition.change(reference.column) { $0.setType(reference.parent.form == .blob ? "BLOB" : "TEXT") }
            if reference.parent.isNewColumn {
                definition.redirect(references: reference.column, to: reference.parent.name, reference.parent.key)
            }
        }
        var columns = try Row.fetchAll(db, sql: "SELECT name, hidden FROM pragma_table_xinfo(?)", arguments: [name])
            .filter { $0["hidden"] == 0 }.map { row -> (name: String, value: String) in
                let column: String = row["name"]
                return (column, value(column, of: name, references))
            }
        if let target {
            define(target, &definition)
            if target.isNewColumn {
                columns.insert((target.key, id(target, references)), at: 0)
            } else if let index = columns.firstIndex(where: { $0.name == target.key }) {
                // What refers to the row has it already.
                columns[index].value =
                    maps.contains { $0.name == mapName(target) }
                    ? "(SELECT new FROM temp.\(quoted(mapName(target))) WHERE old = o.\(quoted(target.key)))" : id(target, references)
            }
            definition.removeOption("without rowid")
        }
        let keepsAlias = target == nil && !isWithoutRowid
        let hasAlias =
            try Bool.fetchOne(
                db, sql: "SELECT count(*) = 1 AND max(upper(type)) = 'INTEGER' FROM pragma_table_info(?) WHERE pk > 0", arguments: [name])
            ?? false
        return SchemaRewrite.Table(
            name: name, definition: definition, columns: columns, keepsRowid: !isWithoutRowid && !(keepsAlias && hasAlias),
            formerRowid: target?.isRowid == true ? target?.formerKey.first?.name : nil)
    }

    private func define(_ target: Target, _ definition: inout TableDefinition) {
        let type = target.form == .blob ? "BLOB" : "TEXT"
        let draw = target.table.key == nil ? " DEFAULT (\(target.form.drawSQL))" : ""
        let former = target.formerKey.map(\.name)
        definition.removeConstraint(["primary", "key"], of: former)
        for column in former {
            definition.change(column) { $0.remove(["primary", "key"], andMaybe: ["asc", "desc", "autoincrement"]) }
        }
        guard target.isNewColumn else {
            definition.change(target.key) { part in
                part.setType(type)
                part.remove(["not", "null"])
                part.remove(["unique"])
                // Kith compares ids as bytes.
                part.remove(["collate", target.collation.asciiLowercased])
                part.append("PRIMARY KEY NOT NULL")
                if !draw.isEmpty { part.setDefault("(\(target.form.drawSQL))") }
            }
            return
        }
        definition.insertColumn("\(quoted(target.key)) \(type) PRIMARY KEY NOT NULL\(draw)", named: target.key)
        if !former.isEmpty {
            for column in former {
                definition.change(column) { part in
                    part.remove(["not", "null"])
                    part.append("NOT NULL")
                }
            }
            definition.addConstraint("UNIQUE (\(former.map(quoted).joined(separator: ", ")))")
        }
    }
}
