import GRDBSQLite
import KithSQLite
import KithSync
import Synchronization

/// Tells whether the app's schema is still the one with which the store was opened.
///
/// A column that was added since would be written unseen, and so would a table that was built anew, without Kith's triggers.
/// Looked at when SQLite's own count of changes to the schema has moved; costs a few hundred nanoseconds otherwise.
package final class SchemaGuard: Sendable {
    private struct Watched: Sendable {
        let number: Int
        let name: String
        /// The SQL of all that capture relies on.
        let rules: String
    }

    /// What is looked up anew whenever the schema changes.
    package struct State: Sendable {
        /// SQLite's count of changes to the file's schema.
        package var version: Int
        /// What the schema of the connection alone is.
        var temporary: [UInt8]
        /// By number of the table: whether anything may be written between the BEFORE and the AFTER trigger of an insertion.
        package var mayNest: [Bool] = []
        /// By number of the table: whether a trigger of the app is fired before Kith's AFTER triggers.
        package var mayPrecede: [Bool] = []
        /// By number of the table: whether one is fired before Kith's BEFORE triggers.
        package var mayForestall: [Bool] = []
        /// By number of the table: whether it has neither CHECK nor generated columns nor partial indexes.
        package var mayWriteInPlace: [Bool] = []
        /// Triggers of the app.
        var triggerCount = 0
        /// Whether one of them raises an error or has a statement with `OR FAIL` or `OR ROLLBACK`, or a constraint says what a conflict with it
        /// does.
        var mayRaise = false
        /// Whether such a rule may roll a transaction back, or leave a part of a statement.
        package var mayEndTransactions = false
        /// What triggers of the app write.
        package var targets = TriggerTargets()
        /// Tables and views of the app, in lower case, with their names.
        package var names: [String: String] = [:]
        /// Changes whenever a rule does that may refuse a row.
        package var rulesHash: UInt64 = 0

        package static let unknown = State(version: -1, temporary: [])

        /// `tables`, and all that triggers of the app may write when their rows change.
        package func reached(from tables: [String]) -> [String] {
            tables + targets.reached(from: tables).sorted().compactMap { names[$0] }
        }
    }

    private let tables: [Watched]
    /// As the connection that writes sees it.
    private let known: Mutex<State>
    /// At which the tracked tables were as they should be.
    private let soundVersion: Mutex<Int>

    /// Takes the schema as it is for the right one.
    package init(_ catalog: Catalog, _ connection: DatabaseConnection) throws {
        tables = try catalog.tables.compactMap { table in
            guard let tracked = table.tracked else { return nil }
            let rules = try Self.rules(tracked.sqlName, table.number, connection)
            return Watched(number: table.number, name: tracked.sqlName, rules: rules)
        }
        known = Mutex(.unknown)
        soundVersion = Mutex(try Self.version(connection))
    }

    /// Looks whether the schema, as the open transaction sees it, is still that of the opening.
    ///
    /// - Throws: ``StoreError`` with code `tableRejected` if a tracked table is otherwise now.
    package func check(_ connection: DatabaseConnection) throws {
        _ = try soundVersion(connection)
    }

    /// The same on the connection that writes.
    ///
    /// - Returns: what the app's schema may do while rows are written.
    func checkWriter(_ connection: DatabaseConnection) throws -> State {
        let version = try soundVersion(connection)
        let temporary = try Self.temporary(connection)
        let state = known.withLock { $0 }
        if state.version == version, state.temporary == temporary { return state }
        let new = try look(connection, State(version: version, temporary: temporary))
        known.withLock { $0 = new }
        return new
    }

    private func soundVersion(_ connection: DatabaseConnection) throws -> Int {
        let version = try Self.version(connection)
        if soundVersion.withLock({ $0 }) == version { return version }
        for table in tables where try Self.rules(table.name, table.number, connection) != table.rules {
            throw StoreError(
                .tableRejected,
                "Table \(table.name) was changed while its store was open, so what is written there could not be synchronised. Close the store, and open it again after the migration."
            )
        }
        soundVersion.withLock { $0 = version }
        return version
    }

    /// Changes whenever a rule of the app does that may refuse a row.
    package var rulesHash: UInt64 { known.withLock { $0.rulesHash } }

    private func look(_ connection: DatabaseConnection, _ state: State) throws -> State {
        var state = state
        let select = try connection.statement(
            """
            SELECT type, name, tbl_name, sql, place FROM (
                SELECT *, rowid place FROM sqlite_master UNION ALL SELECT *, NULL FROM sqlite_temp_master)
            WHERE sql NOT NULL AND name NOT GLOB CASE type WHEN 'trigger' THEN 'kith_[0-9]*_*' ELSE 'kith_*' END
            AND type IN ('trigger', 'table', 'view') ORDER BY name
            """)
        var triggers: [String: [AppTrigger]] = [:]
        var temporaryNames: Set<String> = []
        var mayRefer = false
        // Tables with a CHECK, and those that may have generated columns.
        var checked: Set<String> = []
        var mayGenerate: Set<String> = []
        while try select.step() {
            func text(_ column: Int32) -> String { String(decoding: select.blob(column), as: UTF8.self) }
            // Not asked of SQLite: an app may set what LIKE means.
            let sql = text(3).asciiLowercased
            func mentions(_ word: String) -> Bool { sql.hasBytes(of: word) }
            if text(0) == "trigger" {
                state.triggerCount += 1
                state.targets.add(text(3), on: text(2))
                let trigger = AppTrigger(name: text(1), place: select.isNull(4) ? nil : select.int(4), sql: select.blob(3))
                state.mayRaise = state.mayRaise || mentions("raise") || trigger.leavesRemains
                triggers[text(2).asciiLowercased, default: []].append(trigger)
            } else {
                if select.isNull(4) { temporaryNames.insert(text(1).asciiLowercased) }
                if text(0) == "table" {
                    state.mayRaise = state.mayRaise || mentions("conflict")
                    mayRefer = mayRefer || mentions("references")
                    if mentions("check") { checked.insert(text(1).asciiLowercased) }
                    if mentions("as") { mayGenerate.insert(text(1).asciiLowercased) }
                }
                state.names[text(1).asciiLowercased] = text(1)
            }
            if mentions("rollback") || mentions("fail") {
                state.mayEndTransactions = state.mayEndTransactions || Self.mayEndTransactions(SQLToken.located(in: select.blob(3)))
            }
            for byte in select.blob(3) { state.rulesHash = (state.rulesHash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        for table in tables {
            while state.mayNest.count <= table.number {
                state.mayNest.append(true)
                state.mayPrecede.append(true)
                state.mayForestall.append(true)
                state.mayWriteInPlace.append(false)
            }
            let name = table.name.asciiLowercased
            // A temporary trigger may stand on a temporary table of this name.
            let own = (triggers[name] ?? []).filter { $0.place != nil || !temporaryNames.contains(name) }
            let early = own.isEmpty ? [] : try Self.early(own, table, connection)
            try check(early.filter { $0.isAfter && $0.ignores }, table)
            state.mayForestall[table.number] = early.contains { !$0.isAfter }
            state.mayPrecede[table.number] = !early.isEmpty || own.contains { !$0.isAfter }
            state.mayNest[table.number] = try triggers[name] != nil || mayRefer && Self.isReferredTo(table.name, connection)
            state.mayWriteInPlace[table.number] =
                try !checked.contains(name) && !Self.hasPartialIndex(table.name, connection)
                && !(mayGenerate.contains(name) && Self.generatesColumns(table.name, connection))
        }
        return state
    }

    /// Whether a rule may end the transaction, or leave half a statement: `RAISE(ROLLBACK`, `ON CONFLICT ROLLBACK`, `OR ROLLBACK`, and the
    /// same with FAIL. What a message or a name says is none.
    private static func mayEndTransactions(_ tokens: [SQLToken.Located]) -> Bool {
        tokens.indices.dropFirst().contains { index in
            let (token, before) = (tokens[index], tokens[index - 1])
            guard token.isWord, token.token == .name("rollback") || token.token == .name("fail") else { return false }
            return before.token == .open
                ? index > 1 && tokens[index - 2].token == .name("raise") : before.isWord && endingWords.contains(before.token)
        }
    }

    private static let endingWords: [SQLToken] = [.name("conflict"), .name("or")]

    /// A trigger of the app on a tracked table.
    private struct AppTrigger {
        let name: String
        /// When it was made, among all else in the schema; `nil` for a temporary one.
        let place: Int?
        /// Whether it is fired after a row was written.
        let isAfter: Bool
        /// Whether it may keep those after it from being fired, though the row is written if it is an AFTER trigger.
        let ignores: Bool
        /// Whether a statement of it says `OR FAIL` or `OR ROLLBACK`.
        let leavesRemains: Bool

        init(name: String, place: Int?, sql: [UInt8]) {
            (self.name, self.place) = (name, place)
            let tokens = SQLToken.located(in: sql)
            let events: [SQLToken] = [.name("insert"), .name("update"), .name("delete")]
            let head = tokens.prefix { !($0.isWord && events.contains($0.token)) }
            let times: [SQLToken] = [.name("before"), .name("after"), .name("instead")]
            isAfter = head.last(where: { $0.isWord && times.contains($0.token) })?.token == .name("after")
            ignores = tokens.indices.dropLast(2).contains { index in
                tokens[index].token == .name("raise") && tokens[index + 1].token == .open && tokens[index + 2].token == .name("ignore")
            }
            leavesRemains = zip(tokens, tokens.dropFirst()).contains {
                $0.isWord && $0.token == .name("or") && $1.isWord && [.name("fail"), .name("rollback")].contains($1.token)
            }
        }
    }

    /// Those that are fired before Kith's of the same time: SQLite fires temporary triggers first, then the one that was made last.
    private static func early(_ triggers: [AppTrigger], _ table: Watched, _ connection: DatabaseConnection) throws -> [AppTrigger] {
        let select = try connection.statement(
            "SELECT min(rowid) FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'kith_' || ? || '_*'")
        select.bind(1, table.number)
        defer { select.reset() }
        let own = try select.step() ? select.int(0) : 0
        return triggers.filter { $0.place.map { $0 > own } ?? true }
    }

    /// What such a trigger leaves out would be noted nowhere.
    private func check(_ leavingOut: [AppTrigger], _ table: Watched) throws {
        guard let early = leavingOut.first else { return }
        let what = "acts after a row of \(table.name) was written, with RAISE(IGNORE), and before Kith's notes that write"
        throw StoreError(
            .tableRejected,
            early.place == nil
                ? "The temporary trigger \(early.name) \(what). Drop it, or make it a trigger of the database before the store is opened."
                : "The trigger \(early.name) \(what), because it was made while the store was open. Close the store, and open it again.")
    }

    /// SQLite does not look at what chooses the rows of an index when it writes a value in place.
    private static func hasPartialIndex(_ table: String, _ connection: DatabaseConnection) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM pragma_index_list(?, 'main') WHERE partial")
        select.bind(1, .text(table))
        defer { select.reset() }
        return try select.step()
    }

    private static func generatesColumns(_ table: String, _ connection: DatabaseConnection) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM pragma_table_xinfo(?, 'main') WHERE hidden IN (2, 3)")
        select.bind(1, .text(table))
        defer { select.reset() }
        return try select.step()
    }

    /// Whether foreign keys refer to the table.
    private static func isReferredTo(_ table: String, _ connection: DatabaseConnection) throws -> Bool {
        let select = try connection.statement(
            """
            SELECT 1 FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
            WHERE m.type = 'table' AND m.name NOT GLOB 'kith_*' AND f."table" = ?1 COLLATE NOCASE
            LIMIT 1
            """)
        select.bind(1, .text(table))
        defer { select.reset() }
        return try select.step()
    }

    private static func rules(_ table: String, _ number: Int, _ connection: DatabaseConnection) throws -> String {
        let select = try connection.statement(
            """
            SELECT sql, type = 'index' FROM sqlite_master WHERE tbl_name = ?1 AND sql NOT NULL AND (type IN ('table', 'index')
                OR type = 'trigger' AND name GLOB 'kith_' || ?2 || '_*') ORDER BY type, name
            """)
        select.bind(1, .text(table))
        select.bind(2, number)
        var rules: [String] = []
        while try select.step() {
            let sql = String(decoding: select.blob(0), as: UTF8.self)
            if select.int(1) == 0 || sql.asciiLowercased.hasBytes(of: "unique") { rules.append(sql) }
        }
        return rules.joined(separator: ";\n")
    }

    private static func version(_ connection: DatabaseConnection) throws -> Int {
        let pragma = try connection.statement("PRAGMA schema_version")
        defer { pragma.reset() }
        return try pragma.step() ? pragma.int(0) : -1
    }

    /// All that the connection alone has. Not `PRAGMA temp.schema_version`: once `PRAGMA temp_store` has closed the temporary database, SQLite
    /// (seen with 3.40.1) crashes at a statement of that which was prepared before.
    private static func temporary(_ connection: DatabaseConnection) throws -> [UInt8] {
        let select = try connection.statement("SELECT group_concat(type || name || tbl_name || sql) FROM sqlite_temp_master")
        defer { select.reset() }
        return try select.step() && !select.isNull(0) ? select.blob(0) : []
    }
}
