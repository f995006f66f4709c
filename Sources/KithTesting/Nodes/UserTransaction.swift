import GRDB
import KithCausality
import KithStore
import KithSync

/// Runs the statements of a script's transaction against a user's own tables, with plain SQL.
struct UserTransaction {
    let store: SyncedDatabase
    let database: any DatabaseWriter
    let tables: [WorkloadTable]
    let editor: TextEditor
    let node: Int
    /// Whether each transaction is a step that can be taken back.
    var isStep = false

    /// Who makes them, in journals, and the scope of their steps.
    static let author = "user"

    private struct RolledBack: Error {}

    /// What became of each write; `nil` if the transaction was rolled back: as the script wants it, or since a foreign key that is deferred
    /// was broken at its end.
    func run(_ operations: [UserOperation]) throws -> [WriteOutcome]? {
        var outcomes: [WriteOutcome] = []
        do {
            try database.write { db in
                if isStep {
                    try store.undo(scope: Self.author).mark(db)
                    try store.setAuthor(Self.author, db)
                }
                for operation in operations {
                    switch operation {
                    case .savepoint: try db.execute(sql: "SAVEPOINT script")
                    case .undo: try db.execute(sql: "ROLLBACK TO script")
                    case .rollback: throw RolledBack()
                    case .write(let write):
                        if let outcome = try run(write, db) { outcomes.append(outcome) }
                    case .pair(let pair): outcomes.append(try run(pair, db))
                    }
                }
            }
        } catch is RolledBack {
            return nil
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY {
            return nil
        }
        try openTexts(operations)
        return outcomes
    }

    private func openTexts(_ operations: [UserOperation]) throws {
        // Who saves a text has it open still.
        for case .write(let write) in operations where write.verb == .open || write.verb == .save {
            for text in texts(write) { try editor.open(text, store, database) }
        }
    }

    private func texts(_ write: RowWrite) -> [TextEditor.Text] {
        guard let table = tables.first(where: { $0.name == write.table && $0.isKnown }) else { return [] }
        return write.assignments.map { TextEditor.Text(table: table, row: write.row, column: $0.column) }
    }

    /// `nil` for a table that this version of the app does not have.
    private func run(_ write: RowWrite, _ db: Database) throws -> WriteOutcome? {
        guard let table = tables.first(where: { $0.name == write.table && $0.isKnown }) else { return nil }
        guard table.mayRefuse else { return try run(write, table, db) }
        do {
            var outcome = WriteOutcome(tookEffect: false)
            // What goes through the API is more than one statement.
            try db.inSavepoint {
                outcome = try run(write, table, db)
                return .commit
            }
            return outcome
        } catch let error as DatabaseError where error.isRefusalOfApp(of: table.name) {
            return WriteOutcome(tookEffect: false, isRefusedByApp: true)
        } catch let error as StoreError where error.code == .valueRejected && error.isRefusalOfApp {
            return WriteOutcome(tookEffect: false, isRefusedByApp: true)
        }
    }

    private func run(_ write: RowWrite, _ table: WorkloadTable, _ db: Database) throws -> WriteOutcome {
        if write.verb.editsText {
            guard let text = texts(write).first, let place = TextPlace(write.assignments.first?.value) else {
                return WriteOutcome(tookEffect: false)
            }
            return try editor.perform(write.verb, text, place, store, db)
        }
        let write = table.known(of: write)
        return WriteOutcome(tookEffect: write.verb == .resolve ? try resolve(write, table, db) : try execute(write, table, db))
    }

    // MARK: Pairs of rows

    /// `false` for a table that this version of the app does not have.
    private func run(_ pair: RowPair, _ db: Database) throws -> WriteOutcome {
        guard let table = tables.first(where: { $0.name == pair.table && $0.isKnown }) else { return WriteOutcome(tookEffect: false) }
        let (name, key, column) = (quoted(table.name), quoted(table.key), quoted(pair.column))
        switch pair.verb {
        case .move:
            let move = try db.cachedStatement(
                sql: """
                    INSERT INTO \(name) (\(key), \(column)) VALUES (?, ?), (?, ?)
                        ON CONFLICT DO UPDATE SET \(column) = \(column) + excluded.\(column)
                    """)
            do {
                try move.execute(
                    arguments: [
                        table.key(of: pair.first).databaseValue, -pair.amount, table.key(of: pair.second).databaseValue, pair.amount,
                    ])
            } catch let error as DatabaseError where error.message?.contains("it holds an INTEGER") == true {
                // A lie may have brought a counter to where SQLite adds no more: a sum that is no INTEGER is refused.
                return WriteOutcome(tookEffect: false)
            }
        case .place: return WriteOutcome(tookEffect: true, positions: try place(pair, table, db))
        case .relink:
            let select = try db.cachedStatement(sql: "SELECT \(column) FROM \(name) WHERE \(key) = ?")
            let values = try (0..<Ring.size).map { item in
                try DatabaseValue.fetchOne(select, arguments: [table.key(of: Ring.row(item, of: node)).databaseValue]).map {
                    ColumnValue($0)
                }
            }
            var ring = Ring(of: node, table, values: values)
            // A row that names no other is one of no ring, and may be there after a lie, or once a machine was set back.
            let verb =
                ring.isThere
                ? "UPDATE \(name) SET \(column) = ? WHERE \(key) = ?"
                : "INSERT INTO \(name) (\(column), \(key)) VALUES (?, ?) ON CONFLICT DO UPDATE SET \(column) = excluded.\(column)"
            for item in ring.change(pair) {
                try db.cachedStatement(sql: verb).execute(
                    arguments: [
                        ring.value(of: item, of: node, table).databaseValue, table.key(of: Ring.row(item, of: node)).databaseValue,
                    ])
            }
        }
        return WriteOutcome(tookEffect: true)
    }

    /// Puts a row behind another one, and looks whether it stands there. Returns the positions that are others now.
    private func place(_ pair: RowPair, _ table: WorkloadTable, _ db: Database) throws -> [Int: ColumnValue] {
        let (name, key, column) = (quoted(table.name), quoted(table.key), quoted(pair.column))
        try db.cachedStatement(sql: "INSERT INTO \(name) (\(key)) VALUES (?) ON CONFLICT DO NOTHING").execute(
            arguments: [table.key(of: pair.first).databaseValue])
        let select = try db.cachedStatement(
            sql: "SELECT \(key), \(column) FROM \(name) ORDER BY \(Position.orderSQL(column, id: key)), \(key)")
        func rows() throws -> [(row: Int, position: ColumnValue)] {
            try Row.fetchAll(select).compactMap { row in
                let id = table.form.id(of: ColumnValue(row[0] as DatabaseValue))
                return id.map { (Int(truncatingIfNeeded: $0.low), ColumnValue(row[1] as DatabaseValue)) }
            }
        }
        let before = try rows()
        var order = before.map(\.row)
        let isAfter = pair.first != pair.second && order.contains(pair.second)
        try store.move(db, [table.id(of: pair.first)], to: isAfter ? .after(table.id(of: pair.second)) : .first, in: table.name)
        order.removeAll { $0 == pair.first }
        order.insert(pair.first, at: isAfter ? (order.firstIndex(of: pair.second) ?? 0) + 1 : 0)
        let after = try rows()
        guard after.map(\.row) == order else {
            throw Violation(.brokenInvariant, "\(pair) of \(nodeName(node)) makes \(after.map(\.row)) of the order \(before.map(\.row)).")
        }
        let known = Dictionary(before.map { ($0.row, $0.position) }) { first, _ in first }
        return Dictionary(after.filter { known[$0.row] != $0.position }.map { ($0.row, $0.position) }) { first, _ in first }
    }

    private func execute(_ write: RowWrite, _ table: WorkloadTable, _ db: Database) throws -> Bool {
        let (sql, arguments) = statement(write, table)
        do {
            let statement = try db.cachedStatement(sql: sql)
            try statement.execute(arguments: StatementArguments(arguments))
            // An upsert that names no column leaves a row that is there as it is.
            return db.changesCount > 0 || (write.verb == .upsert && write.assignments.isEmpty)
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_CONSTRAINT && !(table.mayRefuse && error.isRefusalOfApp(of: table.name))
        {
            return false
        }
    }

    private func resolve(_ write: RowWrite, _ table: WorkloadTable, _ db: Database) throws -> Bool {
        do {
            for assignment in write.assignments {
                try store.resolve(
                    db, table: write.table, id: table.id(of: write.row), column: assignment.column, keeping: assignment.value.value)
            }
            return true
        } catch {
            if error.code == .notFound { return false }
            throw error
        }
    }

    private func statement(_ write: RowWrite, _ table: WorkloadTable) -> (sql: String, arguments: [DatabaseValue]) {
        let id = table.key(of: write.row).databaseValue
        let columns = write.assignments.map { quoted($0.column) }
        let values = write.assignments.map(\.value.value.databaseValue)
        let given = [quoted(table.key)] + table.keyColumns.map { quoted($0.name) } + columns
        let allValues = [id] + table.keyValues(of: write.row).map(\.databaseValue) + values
        let marks = Array(repeating: "?", count: given.count).joined(separator: ", ")
        let name = quoted(table.name)
        let key = quoted(table.key)
        switch write.verb {
        case .insert, .replace:
            let verb = write.verb == .insert ? "INSERT" : "INSERT OR REPLACE"
            return ("\(verb) INTO \(name) (\(given.joined(separator: ", "))) VALUES (\(marks))", allValues)
        case .upsert:
            let updates = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            let action = updates.isEmpty ? "NOTHING" : "UPDATE SET \(updates)"
            return (
                """
                INSERT INTO \(name) (\(given.joined(separator: ", "))) VALUES (\(marks)) ON CONFLICT DO \(action)
                """, allValues
            )
        case .rewrite:
            return rewriting(write, table)
        case .delete:
            return ("DELETE FROM \(name) WHERE \(key) = ?", [id])
        case .update, .add, .remove, .count, .resolve, .type, .erase, .open, .save:
            let changes = columns.isEmpty ? ["\(key) = \(key)"] : columns.map { change(write.verb, $0) }
            return ("UPDATE \(name) SET \(changes.joined(separator: ", ")) WHERE \(key) = ?", values + [id])
        }
    }

    private func rewriting(_ write: RowWrite, _ table: WorkloadTable) -> (sql: String, arguments: [DatabaseValue]) {
        let names = ([table.key] + (table.keyColumns + table.columns.filter(\.isKnown)).map(\.name))
        let values = names.map { name in write.assignments.last { $0.column == name }?.value.value.databaseValue }
        let all = names.map(quoted).joined(separator: ", ")
        let marks = zip(names, values).map { $1 == nil ? quoted($0) : "?" }.joined(separator: ", ")
        let name = quoted(table.name)
        let sql = "INSERT OR REPLACE INTO \(name) (\(all)) SELECT \(marks) FROM \(name) WHERE \(quoted(table.key)) = ?"
        return (sql, values.compactMap(\.self) + [table.key(of: write.row).databaseValue])
    }

    private func change(_ verb: RowWrite.Verb, _ column: String) -> String {
        switch verb {
        case .add:
            """
            \(column) = (SELECT json_group_array(value) FROM (SELECT value FROM json_each(\(column)) UNION SELECT ? ORDER BY 1))
            """
        case .remove: "\(column) = (SELECT json_group_array(value) FROM json_each(\(column)) WHERE value <> ?)"
        case .count: "\(column) = coalesce(\(column), 0) + ?"
        default: "\(column) = ?"
        }
    }
}

/// What became of a statement.
struct WriteOutcome {
    /// `false` if a constraint or a missing row stopped it.
    let tookEffect: Bool
    /// What it typed and deleted, if it edited a text.
    var edit: TextEdit?
    /// The positions that it gave to rows.
    var positions: [Int: ColumnValue] = [:]
    /// A `CHECK` constraint or trigger of the app refused it, which is SQLite's to say.
    var isRefusedByApp = false
}

extension DatabaseError {
    /// Whether a `CHECK` constraint or `RAISE` in a trigger of the app refused a statement on `table`, or a constraint of another table that its
    /// triggers write, or an expression of the app cannot be evaluated for what it writes. SQLite says the same of `RESTRICT` as of a trigger.
    func isRefusalOfApp(of table: String) -> Bool {
        switch extendedResultCode {
        case .SQLITE_CONSTRAINT_CHECK, .SQLITE_CONSTRAINT, .SQLITE_CONSTRAINT_VTAB: true
        case .SQLITE_CONSTRAINT_TRIGGER: message != "FOREIGN KEY constraint failed"
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID, .SQLITE_CONSTRAINT_NOTNULL:
            message?.lowercased().contains("constraint failed: \(table.lowercased()).") == false
        case .SQLITE_ERROR: message?.hasPrefix("no such") != true
        default: false
        }
    }
}

extension StoreError {
    /// The same, of what goes through the API.
    fileprivate var isRefusalOfApp: Bool {
        message.contains("constraint failed") && !message.contains("FOREIGN KEY constraint failed") || message.contains("SQLite error 1:")
            || message.contains("SQLite error \(ResultCode.SQLITE_CONSTRAINT_TRIGGER.rawValue)")
    }
}

/// `name` as an SQL identifier.
func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
}
