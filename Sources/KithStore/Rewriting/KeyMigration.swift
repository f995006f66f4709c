import Foundation
import GRDB
import KithCapture
import KithLedger
import KithSQLite
import KithSync
import Synchronization

/// Gives the rows of tables ids that two devices never draw alike, in place of numbers, names and pairs, and to all that refers to
/// them.
///
///     migrator.registerMigration("uuids") { db in
///         try KeyMigration([TrackedTable("recipe"), TrackedTable("step"), TrackedTable("recipeTag", key: ["recipe", "tag"])]).run(db)
///     }
///
/// Tables whose ids are UUIDs already stay as they are. Of the others each is built anew, in one transaction:
///
/// * A key of one column gets UUIDs, in the form that is wanted, and columns of whatever tables that refer to it by `REFERENCES` follow;
///   those that do so without are named in `references`.
/// * A table without such a key, or with one that its ``TrackedTable/key`` names (a day, a pair), gets a column `id`; what was its key stays
///   `UNIQUE`.
/// * Rowids, indexes, triggers and views stay. A search index whose rows were numbered by the key is made again by `rowid`, and the
///   triggers that keep it say `new.rowid` in place of `new.id`; queries of the app that join it have to, too.
///
/// Nothing is done unless all can be; ``plan(_:)`` says what. See docs/store.md, "From other keys to ids".
public struct KeyMigration: Sendable {
    /// Where ids come from.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// From the table's name and the old key: the UUID of version 5 that `RowID(table:key:)` makes. Devices that hold
        /// copies of one database, such as a backup, get the same ids. Not for devices that have numbered rows each for itself: two
        /// different rows with one number would be taken for one.
        case derived
        /// Drawn, other ones on each device. Not for copies of one database: every row would be there twice.
        case drawn
    }

    /// The tables as they will be declared; ``TrackedTable/ids`` says how one writes its ids.
    public var tables: [TrackedTable]
    /// How tables write their new ids that do not say it themselves.
    public var form: KeyForm
    /// Where ids come from; those of a table with a natural key follow from that in any case.
    public var source: Source
    /// Columns that hold keys of another table without `REFERENCES`: `["journal.recipe": "recipe"]`.
    public var references: [String: String]

    public init(
        _ tables: [TrackedTable], form: KeyForm = .blob, source: Source = .derived, references: [String: String] = [:]
    ) {
        self.tables = tables
        self.form = form
        self.source = source
        self.references = references
    }

    /// What a migration does.
    public struct Plan: Hashable, Sendable, Codable {
        /// A table that is built anew.
        public struct Table: Hashable, Sendable, Codable {
            /// Its name.
            public let name: String
            /// How many it has.
            public let rows: Int
            /// The column with the new ids; `nil` for a table that only refers to others.
            public let key: String?
            /// What the rows were named by.
            public let formerKey: [String]
            /// Columns that get the new ids of other tables, with these.
            public let references: [String: String]
        }

        /// The tables that are built anew.
        public internal(set) var tables: [Table] = []
        /// The SQL that is run. `kith_new_id` gives a row its id.
        public internal(set) var statements: [String] = []
        /// What the app itself has to be changed in.
        public internal(set) var notes: [String] = []

        /// Whether all ids are UUIDs already.
        public var isEmpty: Bool { tables.isEmpty }
    }

    /// What ``run(_:)`` would do. Changes nothing.
    ///
    /// - Throws: ``StoreError`` with code `tableRejected` that says all that stands in the way.
    public func plan(_ db: Database) throws(StoreError) -> Plan {
        try StoreError.typed { try KeyPlanner(self, db).plan().plan }
    }

    /// Migrates within the transaction that is open, or one of its own.
    ///
    /// - Throws: ``StoreError`` with code `tableRejected` if something stands in the way, or SQLite enforces foreign keys, which a
    ///   transaction cannot change: GRDB's migrations do not unless they are registered with `foreignKeyChecks: .immediate`. Nothing has
    ///   changed then.
    @discardableResult
    public func run(_ db: Database) throws(StoreError) -> Plan {
        try StoreError.typed {
            var plan = Plan()
            try db.inSavepoint {
                plan = try migrate(db)
                return .commit
            }
            return plan
        }
    }

    /// Migrates a database in a transaction of its own, and obeys foreign keys again afterwards.
    @discardableResult
    public func run(on database: any DatabaseWriter) throws(StoreError) -> Plan {
        try StoreError.typed {
            try database.unsafeReentrantWrite { db in
                try db.requireNoAccess()
                let obeys = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
                defer { if obeys { try? db.execute(sql: "PRAGMA foreign_keys = ON") } }
                var plan = Plan()
                try db.inTransaction(.immediate) {
                    plan = try migrate(db)
                    return .commit
                }
                return plan
            }
        }
    }

    private func migrate(_ db: Database) throws -> Plan {
        let (plan, maps) = try KeyPlanner(self, db).plan()
        if plan.isEmpty { return plan }
        guard try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") != true else {
            throw StoreError(
                .tableRejected,
                "SQLite enforces foreign keys in this transaction, so that no table can be built anew. Register the migration without foreignKeyChecks: .immediate."
            )
        }
        try SyncedDatabase.addFunctions(to: db)
        let function = newID()
        db.add(function: function)
        defer { db.remove(function: function) }
        for map in maps { try db.execute(sql: map.creation) }
        for statement in plan.statements { try db.execute(sql: statement) }
        for map in maps { try db.execute(sql: "DROP TABLE temp.\(quoted(map.name))") }
        if let child = try String.fetchOne(db, sql: "SELECT \"table\" FROM pragma_foreign_key_check") {
            throw StoreError(
                .tableRejected, "Rows of \(child) refer to rows that are not there. PRAGMA foreign_key_check lists them. Mend them first.")
        }
        return plan
    }

    /// `kith_new_id(form, drawn, table, key…)`
    private func newID() -> DatabaseFunction {
        let draw = source == .drawn
        let uuids = Mutex(UUIDSource { SyncedDatabase.Options().clock().milliseconds })
        return DatabaseFunction(KeyPlanner.function) { values in
            guard values.count > 3, let form = KeyForm(rawValue: String.fromDatabaseValue(values[0]) ?? ""),
                let isNatural = Bool.fromDatabaseValue(values[1]), let table = String.fromDatabaseValue(values[2])
            else { return nil }
            let key = values[3...].map(ColumnValue.init(stored:))
            if !isNatural {
                if let id = KeyForm.anyID(of: key[0]) { return form.value(id).stored }
                if draw || key[0] == .null { return form.value(uuids.withLock { $0.next() }).stored }
            }
            return form.value(try RowID(table: table, keys: key)).stored
        }
    }
}

extension RowID {
    /// - Throws: ``StoreError`` with code `valueRejected` for NULL and reals.
    fileprivate init(table: String, keys: [ColumnValue]) throws {
        guard let id = RowID(table: Array(table.utf8), key: keys) else {
            throw StoreError(.valueRejected, "A key of \(table) is NULL or a real, of which no id can be made. Mend the row first.")
        }
        self = id
    }
}

extension ColumnValue {
    init(stored value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(bitPattern: number.bitPattern)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Array(data))
        }
    }

    var stored: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let bits): Double(bitPattern: bits).databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
