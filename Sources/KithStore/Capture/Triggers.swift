import KithSync
import KithText

/// The triggers that note every write of a tracked table, whatever SQL makes it.
///
/// They only call functions that Kith registers on its connections. A connection without them cannot write the table:
/// SQLite answers "no such function: kith_…", which is better than a write that nobody sees.
struct Triggers {
    let table: CatalogTable
    let tracked: CatalogTable.Tracked

    /// Name and text of each trigger.
    var all: [(name: String, sql: String)] {
        [beforeInsert, beforeUpdate, beforeDelete, insert, update, delete].map { trigger in
            let name = "kith_\(table.number)_\(trigger.suffix)"
            return (name, "CREATE TRIGGER \(name) \(trigger.event) ON \(quoted(tracked.sqlName)) BEGIN\n\(trigger.body)\nEND")
        }
    }

    private typealias Trigger = (suffix: String, event: String, body: String)

    private var columnNames: [String] { tracked.names }
    private var references: ReferenceTriggers {
        ReferenceTriggers(table: table.number, key: quoted(tracked.key), tracked: tracked)
    }

    /// Ignores echoes, and finds the rows that a REPLACE would remove without firing their delete triggers: the one of the same
    /// id, and the one at the rowid that the insertion asks for.
    private var beforeInsert: Trigger {
        let key = quoted(tracked.key)
        return (
            "before_insert", "BEFORE INSERT",
            """
              SELECT RAISE(IGNORE) WHERE kith_before_insert(\(table.number), new.\(key), new.rowid);
            \(missingID)  SELECT kith_replace(o.rowid) FROM \(name) o WHERE o.\(key) = new.\(key);
              SELECT kith_replace(o.rowid) FROM \(name) o WHERE new.rowid > 0 AND o.rowid = new.rowid AND o.\(key) IS NOT new.\(key);

            """
        )
    }

    private var name: String { quoted(tracked.sqlName) }

    /// SQLite would only say that the id is NULL.
    private var missingID: String {
        guard let key = tracked.naturalKey else { return "" }
        let message = "the id of a row of \(key.table) follows from its key: insert it with \(quoted(tracked.key)) = \(key.sql())"
        return """
              SELECT RAISE(ABORT, '\(message.replacing("'", with: "''"))') WHERE new.\(quoted(tracked.key)) IS NULL;

            """
    }

    /// Ignores echoes, and finds the row that UPDATE OR REPLACE would remove at another rowid.
    private var beforeUpdate: Trigger {
        let key = quoted(tracked.key)
        return (
            "before_update", "BEFORE UPDATE",
            Self.ignoresEcho + """
                  SELECT kith_before_move(\(table.number), new.\(key), new.rowid) WHERE old.rowid <> new.rowid;
                  SELECT kith_replace(o.rowid) FROM \(name) o WHERE old.rowid <> new.rowid AND o.rowid = new.rowid;

                """
        )
    }

    private var beforeDelete: Trigger { ("before_delete", "BEFORE DELETE", Self.ignoresEcho) }

    /// While a delta is applied, the app's own triggers run, for instance to keep a search index. What they write to
    /// tracked tables was noted where the change was made, and arrives as data; done again here, it would count twice.
    private static let ignoresEcho = "  SELECT RAISE(IGNORE) WHERE kith_is_echo();\n"

    private var insert: Trigger {
        let arguments = ["\(table.number)", "new.rowid", "new.\(quoted(tracked.key))"] + columnNames.map { "new.\($0)" }
        return (
            "insert", "AFTER INSERT",
            checks + references.insert + Self.call("kith_insert(\(arguments.joined(separator: ", ")))")
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
        let key = quoted(tracked.key)
        let arguments =
            ["\(table.number)", "old.rowid", "new.rowid", "old.\(key)", "new.\(key)"]
            + [mask.isEmpty ? "0" : mask.joined(separator: " | ")] + pairs + registers
        return (
            "update", "AFTER UPDATE",
            checks + size + references.update + Self.call("kith_update(\(arguments.joined(separator: ", ")))")
        )
    }

    private var delete: Trigger {
        let values = columnNames.map { "old.\($0)" }
        let arguments = ["\(table.number)", "old.rowid", "old.\(quoted(tracked.key))"] + values
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

    /// Refuses what a set, counter or text column cannot hold.
    private var checks: String {
        var checks = ""
        for (name, kind) in zip(columnNames, tracked.kinds) {
            let column = tracked.sqlName.replacing("'", with: "''") + "." + name.replacing("'", with: "''")
            switch kind {
            case .set:
                checks += """
                      SELECT RAISE(ABORT, '\(column) is a set: it holds a JSON array such as ["a","b"]')
                        WHERE NOT kith_is_set(new.\(name));
                      SELECT RAISE(ABORT, '\(column) has more than \(WireLimits.setElementsMax) elements')
                        WHERE length(new.\(name)) >= \(2 * WireLimits.setElementsMax) AND kith_set_count(new.\(name)) > \(WireLimits.setElementsMax);

                    """
            case .counter:
                checks += """
                      SELECT RAISE(ABORT, '\(column) is a counter: it holds an INTEGER')
                        WHERE typeof(new.\(name)) NOT IN ('integer', 'null');

                    """
            case .text:
                checks += """
                      SELECT RAISE(ABORT, '\(column) is a text: it holds NULL or at most \(TextLimits.textScalarsMax) characters of valid UTF-8')
                        WHERE new.\(name) IS NOT NULL AND NOT kith_is_text(new.\(name));

                    """
            case .register:
                break
            }
        }
        return checks
    }
}
