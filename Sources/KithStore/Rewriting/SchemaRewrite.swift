import GRDB
import KithLedger
import KithSQLite

/// Builds tables anew in the form that SQLite's documentation gives (sqlite.org/lang_altertable.html, section 7), with all that stands
/// beside them: indexes, triggers, views and search indexes are made again as they were, but for what refers to a row by a key that is
/// another one now.
///
/// Foreign keys must be off, and a transaction open.
struct SchemaRewrite {
    struct Table {
        let name: String
        let definition: TableDefinition
        /// Each column of the new table that holds something, and the expression that gives it, of a row `o` of the old one.
        var columns: [(name: String, value: String)]
        /// Whether the old rowid can be given to the new row.
        var keepsRowid = true
        /// The column that was the rowid and is no longer.
        var formerRowid: String?
        /// Indexes that are no longer `UNIQUE`.
        var relaxedIndexes: Set<String> = []
    }

    let tables: [Table]

    /// All that is to be done, statement by statement.
    func statements(_ db: Database) throws -> [String] {
        if tables.isEmpty { return [] }
        let views = try Self.objects("type = 'view'", db)
        let triggers = try Self.objects("type = 'trigger' AND name NOT GLOB 'kith_[0-9]*_*'", db)
        let indexes = SearchIndexes(try Self.objects("type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'", db))
        var statements = triggers.map { "DROP TRIGGER \(quoted($0.name))" } + views.map { "DROP VIEW \(quoted($0.name))" }
        for table in tables { statements += try rebuilding(table, db) }
        for table in tables {
            guard let key = table.formerRowid else { continue }
            statements += indexes.rewriting(contentOf: table.name, key: key)
        }
        statements += views.map(\.sql)
        statements += triggers.map { trigger in
            let table = tables.first { $0.name.asciiLowercased == trigger.table.asciiLowercased }
            guard let key = table?.formerRowid else { return trigger.sql }
            return indexes.rewriting(trigger: trigger.sql, key: key)
        }
        return statements
    }

    private func rebuilding(_ table: Table, _ db: Database) throws -> [String] {
        let new = "kith_new_" + table.name
        let indexes = try Self.objects("type = 'index' AND sql NOT NULL AND tbl_name = ? COLLATE NOCASE", db, [table.name])
        var columns = table.columns
        if table.keepsRowid {
            // What the app used as ids may be 0 or below; a tracked row has a positive rowid.
            let rowid = table.formerRowid == nil ? "o.rowid" : ValueCheck.positiveRowid(of: "o", in: quoted(table.name))
            columns.insert((name: "rowid", value: rowid), at: 0)
        }
        let names = columns.map { $0.name == "rowid" ? "rowid" : quoted($0.name) }.joined(separator: ", ")
        let order = table.keepsRowid ? " ORDER BY o.rowid" : ""
        return [
            table.definition.sql(naming: new),
            "INSERT INTO \(quoted(new)) (\(names)) SELECT \(columns.map(\.value).joined(separator: ", ")) FROM \(quoted(table.name)) o\(order)",
            "DROP TABLE \(quoted(table.name))", "ALTER TABLE \(quoted(new)) RENAME TO \(quoted(table.name))",
        ] + indexes.map { table.relaxedIndexes.contains($0.name) ? Self.relaxed($0.sql) : $0.sql }
    }

    /// The statement for an index that is not `UNIQUE`.
    static func relaxed(_ sql: String) -> String {
        var bytes = Array(sql.utf8)
        let tokens = SQLToken.located(in: bytes)
        guard tokens.count > 2, tokens[1].token == .name("unique") else { return sql }
        bytes.removeSubrange(tokens[1].range.lowerBound..<tokens[2].range.lowerBound)
        return String(decoding: bytes, as: UTF8.self)
    }

    struct Object {
        let name: String
        let table: String
        let sql: String
    }

    static func objects(_ condition: String, _ db: Database, _ arguments: StatementArguments = []) throws -> [Object] {
        try Row.fetchAll(
            db, sql: "SELECT name, tbl_name, sql FROM sqlite_master WHERE \(condition) ORDER BY rowid", arguments: arguments
        ).map { Object(name: $0[0], table: $0[1], sql: $0[2]) }
    }
}

/// Search indexes (FTS5, FTS4) that take their content from tables of the app, and the triggers that keep them.
struct SearchIndexes {
    private let tables: [SchemaRewrite.Object]

    init(_ tables: [SchemaRewrite.Object]) {
        self.tables = tables
    }

    private struct Option {
        let name: String
        let value: String
        let range: Range<Int>
    }

    /// `name = value` among the arguments.
    private static func options(_ sql: String) -> [Option] {
        let bytes = Array(sql.utf8)
        let tokens = SQLToken.located(in: bytes)
        return tokens.indices.dropLast(2).compactMap { index in
            guard case .name(let name) = tokens[index].token, bytes[tokens[index + 1].range] == [UInt8(ascii: "=")][...] else { return nil }
            let value = tokens[index + 2]
            let text: String
            if case .name(let name) = value.token { text = name } else { text = String(decoding: bytes[value.range], as: UTF8.self) }
            return Option(name: name, value: text.trimmed(of: "'"), range: value.range)
        }
    }

    /// An index whose rows were named by a key that was the rowid is made again, with the rowid by its name.
    func rewriting(contentOf table: String, key: String) -> [String] {
        tables.flatMap { index -> [String] in
            let options = Self.options(index.sql)
            guard options.contains(where: { $0.name == "content" && $0.value.asciiLowercased == table.asciiLowercased }),
                let rowid = options.first(where: { $0.name == "content_rowid" }), rowid.value.asciiLowercased == key.asciiLowercased
            else { return [] }
            var bytes = Array(index.sql.utf8)
            bytes.replaceSubrange(rowid.range, with: "'rowid'".utf8)
            let name = quoted(index.name)
            return ["DROP TABLE \(name)", String(decoding: bytes, as: UTF8.self), "INSERT INTO \(name) (\(name)) VALUES ('rebuild')"]
        }
    }

    /// Lets statements of a trigger that write a search index name the row by its rowid.
    func rewriting(trigger sql: String, key: String) -> String {
        var bytes = Array(sql.utf8)
        let tokens = SQLToken.located(in: bytes)
        let names = Set(tables.map { $0.name.asciiLowercased })
        var changes: [Range<Int>] = []
        var statement: [Int] = []
        func isDot(_ index: Int) -> Bool { bytes[tokens[index].range] == [UInt8(ascii: ".")][...] }
        for index in tokens.indices {
            statement.append(index)
            guard bytes[tokens[index].range] == [UInt8(ascii: ";")][...] || index == tokens.count - 1 else { continue }
            let writes = statement.contains {
                if case .name(let name) = tokens[$0].token { names.contains(name.asciiLowercased) } else { false }
            }
            if writes {
                for place in statement where place + 2 < tokens.count {
                    guard [.name("new"), .name("old")].contains(tokens[place].token), isDot(place + 1),
                        case .name(let column) = tokens[place + 2].token, column.asciiLowercased == key.asciiLowercased
                    else { continue }
                    changes.append(tokens[place + 2].range)
                }
            }
            statement = []
        }
        for range in changes.reversed() { bytes.replaceSubrange(range, with: "rowid".utf8) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    fileprivate func trimmed(of character: Character) -> String {
        var text = self[...]
        if text.first == character { text.removeFirst() }
        if text.last == character { text.removeLast() }
        return String(text)
    }
}
