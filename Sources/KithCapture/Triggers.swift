import KithLedger
import KithSync
import KithTexts

/// The triggers that note every write of a tracked table, whatever SQL makes it.
///
/// They only call functions that Kith registers on its connections. A connection without them cannot write the table:
/// SQLite answers "no such function: kith_…", which is better than a write that nobody sees.
package struct Triggers {
    package let table: CatalogTable
    package let tracked: CatalogTable.Tracked

    private let number: Int64

    /// - Parameter file: see ``TriggeredTable/file``.
    package init(table: CatalogTable, tracked: CatalogTable.Tracked, file: Int64) {
        self.table = table
        self.tracked = tracked
        number = TriggeredTable(number: table.number, file: file).rawValue
    }

    /// Name and text of each trigger.
    package var all: [(name: String, sql: String)] {
        [beforeInsert, beforeUpdate, beforeDelete, insert, update, delete].map { trigger in
            let name = "kith_\(table.number)_\(trigger.suffix)"
            return (name, "CREATE TRIGGER \(name) \(trigger.event) ON \(quoted(tracked.sqlName)) BEGIN\n\(trigger.body)\nEND")
        }
    }

    /// Whether a trigger of some tracked table has this name.
    package static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "kith" && parts[1].allSatisfy(\.isNumber)
            && ["before_insert", "before_update", "before_delete", "insert", "update", "delete"].contains(parts[2])
    }

    private typealias Trigger = (suffix: String, event: String, body: String)

    private var columnNames: [String] { tracked.names }
    private var references: ReferenceTriggers {
        ReferenceTriggers(table: table.number, tracked: tracked)
    }

    /// Ignores echoes, and finds the rows that a REPLACE would remove without firing their delete triggers: the one of the same
    /// id; the one at the rowid that the insertion asks for is found by the function.
    private var beforeInsert: Trigger {
        let key = quoted(tracked.key)
        return (
            "before_insert", "BEFORE INSERT",
            """
              SELECT RAISE(IGNORE) WHERE kith_before_insert(\(number), \(id("new")), new.rowid);
            \(missingID)  SELECT kith_replace(o.rowid) FROM \(name) o WHERE o.\(key) = new.\(key);
            """
        )
    }

    private var name: String { quoted(tracked.sqlName) }

    /// The 16 bytes of the id of the row `new` or `old`.
    private func id(_ row: String) -> String { tracked.form.idSQL("\(row).\(quoted(tracked.key))") }

    /// SQLite would only say that the id is NULL.
    private var missingID: String {
        guard let key = tracked.naturalKey else { return "" }
        let message = "the id of a row of \(key.table) follows from its key: insert it with \(quoted(tracked.key)) = \(key.sql())"
        return """
              SELECT RAISE(ABORT, '\(message.replacing("'", with: "''"))') WHERE new.\(quoted(tracked.key)) IS NULL;

            """
    }

    /// Ignores echoes; the row that UPDATE OR REPLACE would remove at another rowid is found by the function.
    private var beforeUpdate: Trigger {
        return (
            "before_update", "BEFORE UPDATE",
            ignoresEcho + """
                  SELECT kith_before_move(\(number), \(id("new")), new.rowid) WHERE old.rowid <> new.rowid;

                """
        )
    }

    /// Ignores echoes. A function reads the columns that do not synchronise: no trigger names them, so `ALTER TABLE` drops them as before.
    private var beforeDelete: Trigger {
        let keeps = "  SELECT kith_before_delete(\(number), old.rowid, \(id("old")));\n"
        return ("before_delete", "BEFORE DELETE", ignoresEcho + (tracked.localColumns.isEmpty ? "" : keeps))
    }

    /// While a delta is applied, the app's own triggers run, for instance to keep a search index. What they write to
    /// tracked tables was noted where the change was made, and arrives as data; done again here, it would count twice.
    private var ignoresEcho: String { "  SELECT RAISE(IGNORE) WHERE kith_is_echo(\(number), old.rowid);\n" }

    private var insert: Trigger {
        let arguments = ["\(number)", "new.rowid", id("new")] + columnNames.map { "new.\($0)" }
        return (
            "insert", "AFTER INSERT",
            references.insert + Self.call("kith_insert(\(arguments.joined(separator: ", ")))")
        )
    }

    /// Passes which columns changed as a bit mask, then old and new value of each column that is not a register, then the old value of
    /// each register.
    private var update: Trigger {
        let mask = columnNames.enumerated().map { index, name in
            "((old.\(name) COLLATE BINARY IS NOT new.\(name) COLLATE BINARY OR typeof(old.\(name)) <> typeof(new.\(name))) << \(index))"
        }
        let pairs = zip(columnNames, tracked.kinds).filter { $1 != .register }
            .flatMap { name, _ in ["old.\(name)", "new.\(name)"] }
        let registers = zip(columnNames, tracked.kinds).filter { $1 == .register }.map { name, _ in "old.\(name)" }
        let arguments =
            ["\(number)", "old.rowid", "new.rowid", id("old"), id("new")]
            + [mask.isEmpty ? "0" : mask.joined(separator: " | ")] + pairs + registers
        return (
            "update", "AFTER UPDATE",
            size + references.update + Self.call("kith_update(\(arguments.joined(separator: ", ")))")
        )
    }

    private var delete: Trigger {
        let values = columnNames.map { "old.\($0)" }
        let arguments = ["\(number)", "old.rowid", id("old")] + values
        return ("delete", "AFTER DELETE", references.delete + Self.call("kith_delete(\(arguments.joined(separator: ", ")))"))
    }

    /// Refuses a row that is too long to travel. An insertion looks at that with the rest.
    private var size: String {
        columnNames.isEmpty ? "" : Self.call("kith_size(\(columnNames.map { "new.\($0)" }.joined(separator: ", ")))") + "\n"
    }

    /// Calls a function, which answers NULL or fails.
    ///
    /// SQLite takes back what a failed statement has done only if it saw beforehand that the statement may abort, which a
    /// function alone does not tell it.
    private static func call(_ function: String) -> String {
        "  SELECT CASE WHEN \(function) IS NOT NULL THEN RAISE(ABORT, 'kith') END;"
    }
}
