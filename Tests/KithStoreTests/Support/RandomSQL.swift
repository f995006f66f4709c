import Foundation
import KithCausality
import KithStore
import KithSync
import TestSupport

/// Statements that an app might make of its tables, at random, and the schema they are made for.
struct RandomSQL {
    /// Tables as an app has them; `entry` and `log` are not tracked.
    static func tables(_ form: KeyForm = .blob) -> String {
        form == .blob ? blobTables : blobTables.replacing("BLOB", with: "TEXT").replacing(standIn, with: literal(rowID(12), form))
    }

    private static let standIn = "x'0190000000007000000000000000000c'"

    private static let blobTables = """
        CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT 'f', updated TEXT);
        CREATE TABLE item (
            id BLOB PRIMARY KEY NOT NULL, a TEXT COLLATE NOCASE, n INTEGER NOT NULL DEFAULT 7 CHECK (n < 1000), x REAL,
            g TEXT GENERATED ALWAYS AS (a || n) VIRTUAL, tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0,
            folder BLOB REFERENCES folder (id) ON DELETE CASCADE, other BLOB REFERENCES folder (id) ON DELETE SET NULL);
        CREATE INDEX item_a ON item (a, n);
        CREATE TABLE day (id BLOB PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE, body TEXT NOT NULL DEFAULT '-');
        CREATE TABLE single (
            id BLOB PRIMARY KEY ON CONFLICT REPLACE NOT NULL DEFAULT \(standIn), a DEFAULT 'one', b DEFAULT 2);
        CREATE TABLE stats (name TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE log (number INTEGER PRIMARY KEY, line TEXT);
        CREATE VIEW both AS SELECT i.id, i.a, f.name FROM item i JOIN folder f ON f.id = i.folder;
        """

    static func tracked(_ form: KeyForm = .blob) -> [TrackedTable] {
        [
            TrackedTable("folder", ids: form), TrackedTable("item", sets: ["tags"], counters: ["views"], ids: form),
            TrackedTable("day", key: ["day"], ids: form), TrackedTable("single", ids: form),
        ]
    }
    static let names = ["folder", "item", "day", "single", "stats", "log"]

    /// - Parameter isRecursive: whether triggers may fire themselves, which has to end then.
    static func triggers(isRecursive: Bool) -> String {
        """
        CREATE TRIGGER touch AFTER UPDATE ON folder \(isRecursive ? "WHEN old.updated IS new.updated" : "") BEGIN
            UPDATE folder SET updated = coalesce(new.updated, '') || '!' WHERE id = new.id AND length(coalesce(updated, '')) < 20; END;
        CREATE TRIGGER item_in AFTER INSERT ON item BEGIN
            INSERT INTO log (line) VALUES ('in ' || hex(new.id) || last_insert_rowid());
            INSERT INTO stats VALUES (new.a, 1) ON CONFLICT DO UPDATE SET n = n + 1; END;
        CREATE TRIGGER item_out AFTER DELETE ON item BEGIN
            INSERT INTO log (line) VALUES ('out ' || hex(old.id));
            UPDATE folder SET name = substr(name || '.', 1, 12) WHERE id = old.other; END;
        CREATE TRIGGER item_before BEFORE INSERT ON item WHEN new.n BETWEEN 40 AND 50 BEGIN
            UPDATE item SET views = views + 1, a = 'met' WHERE id = new.id AND new.n = 41;
            DELETE FROM item WHERE id = new.id AND new.n = 42;
            INSERT OR REPLACE INTO item (id, a, n) SELECT new.id, 'nested', 3 WHERE new.n = 43;
            UPDATE item SET rowid = rowid + 500 WHERE id = new.id AND new.n = 44;
            INSERT OR IGNORE INTO folder (id, name) VALUES (new.id, 'made'); END;
        CREATE TRIGGER item_raise BEFORE INSERT ON item WHEN new.n BETWEEN 60 AND 63 BEGIN
            INSERT INTO log (line) VALUES ('raise');
            SELECT CASE new.n WHEN 60 THEN RAISE(IGNORE) WHEN 61 THEN RAISE(ABORT, 'no 61') WHEN 62 THEN RAISE(FAIL, 'no 62')
                ELSE RAISE(ROLLBACK, 'no 63') END; END;
        CREATE TRIGGER item_change AFTER UPDATE OF n ON item WHEN new.n <> old.n BEGIN
            INSERT INTO log (line) VALUES ('n ' || old.n || '>' || new.n);
            SELECT RAISE(FAIL, 'late') WHERE new.n = 71;
            SELECT RAISE(ABORT, 'later') WHERE new.n = 72; END;
        CREATE TRIGGER day_change AFTER UPDATE ON day BEGIN INSERT INTO log (line) VALUES (old.body || '>' || new.body); END;
        CREATE TRIGGER both_in INSTEAD OF INSERT ON both BEGIN
            INSERT OR IGNORE INTO folder (id, name) VALUES (new.id, new.name);
            INSERT INTO item (id, a, folder) VALUES (new.id, new.a, new.id); END;
        CREATE TRIGGER both_change INSTEAD OF UPDATE ON both BEGIN UPDATE item SET a = new.a WHERE id = old.id; END;
        CREATE TRIGGER both_out INSTEAD OF DELETE ON both BEGIN DELETE FROM item WHERE id = old.id; END;
        """
    }

    var random: SplitMix64
    /// How the tables write their ids.
    var form = KeyForm.blob

    mutating func next() -> String {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<34: item()
        case 34..<50: folder()
        case 50..<58: day()
        case 58..<62: single()
        case 62..<68: view()
        case 68..<70: "INSERT \(conflict()) INTO stats VALUES (\(text()), 5)"
        default: transaction()
        }
    }

    private mutating func item() -> String {
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1:
            let rows = (0..<number(1, 3)).map { _ in
                "(\(id()), \(text()), \(count()), \(number(0, 9)).5, \(tags()), \(number(0, 9)), \(parent()), \(parent()))"
            }
            return
                "INSERT \(conflict()) INTO item (id, a, n, x, tags, views, folder, other) VALUES \(rows.joined(separator: ", ")) \(returning("rowid, a, g"))"
        case 2: return "INSERT \(conflict()) INTO item (rowid, id, a, n) VALUES (\(number(1, 40)), \(id()), \(text()), \(count()))"
        case 3:
            return
                "INSERT INTO item (id, a, n) VALUES (\(id()), \(text()), \(count())), (\(id()), \(text()), 4) ON CONFLICT (id) DO UPDATE SET a = excluded.a, n = n + 1, views = views + 2 \(returning("rowid, a, n"))"
        case 4: return "INSERT INTO item (id, a) VALUES (\(id()), \(text())) ON CONFLICT DO NOTHING \(returning("*"))"
        case 5:
            return
                "UPDATE \(conflict()) item SET a = \(text()), n = \(count()), tags = \(tags()), views = views - 1, folder = \(parent()) WHERE n > \(count()) \(returning("id, n"))"
        case 6: return "UPDATE \(conflict()) item SET rowid = \(number(1, 40)), a = \(text()) WHERE id = \(id())"
        case 7: return "UPDATE item SET a = f.name, x = x + 1 FROM folder f WHERE f.id = item.folder \(returning("rowid, g"))"
        case 8: return "INSERT \(conflict()) INTO item (id, a, n, folder) SELECT id, name, \(count()), id FROM folder WHERE id > \(id())"
        case 9: return "UPDATE item SET a = upper(a), n = n WHERE id IN (\(id()), \(id()), \(id()))"
        default: return "DELETE FROM item WHERE id = \(id()) OR n = \(count()) \(returning("rowid, id"))"
        }
    }

    private mutating func folder() -> String {
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: "INSERT \(conflict()) INTO folder (id, name) VALUES (\(id()), \(text())), (\(id()), NULL) \(returning("rowid"))"
        case 2: "INSERT \(conflict()) INTO folder (id, name) VALUES (\(id()), \(text()))"
        case 3: "UPDATE \(conflict()) folder SET name = \(text()) WHERE id < \(id())"
        case 4: "REPLACE INTO folder (rowid, id, name) VALUES (\(number(1, 20)), \(id()), \(text()))"
        default: "DELETE FROM folder WHERE id = \(id())"
        }
    }

    private mutating func day() -> String {
        let day = "d\(number(1, 6))"
        let id = (try? RowID(table: "day", key: .text(day))).map { Self.literal($0, form) } ?? "NULL"
        let row = "INTO day (id, day, body) VALUES (\(id), '\(day)', \(text()))"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "INSERT \(conflict()) \(row) \(returning("rowid, body"))"
        case 1: return "INSERT \(row) ON CONFLICT (day) DO UPDATE SET body = body || excluded.body"
        case 2: return "UPDATE day SET body = \(text()) WHERE day >= '\(day)'"
        default: return "DELETE FROM day WHERE day = '\(day)'"
        }
    }

    private mutating func single() -> String {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: "INSERT \(conflict()) INTO single DEFAULT VALUES \(returning("rowid, b"))"
        case 1: "INSERT INTO single (id, a) VALUES (\(id()), \(text()))"
        default: "UPDATE single SET b = b + 1"
        }
    }

    private mutating func view() -> String {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: "INSERT \(conflict()) INTO both (id, a, name) VALUES (\(id()), \(text()), \(text()))"
        case 1: "UPDATE both SET a = \(text()) WHERE id > \(id())"
        default: "DELETE FROM both WHERE id = \(id())"
        }
    }

    private mutating func transaction() -> String {
        let name = ["one", "two"].randomElement(using: &random) ?? "one"
        return
            ["BEGIN", "BEGIN IMMEDIATE", "COMMIT", "COMMIT", "ROLLBACK", "SAVEPOINT \(name)", "RELEASE \(name)", "ROLLBACK TO \(name)"]
            .randomElement(using: &random) ?? "COMMIT"
    }

    // MARK: Parts

    private mutating func number(_ low: Int, _ high: Int) -> Int { Int.random(in: low...high, using: &random) }
    private mutating func id() -> String { Self.literal(rowID(UInt64(number(1, 12))), form) }
    private mutating func parent() -> String { number(0, 3) == 0 ? "NULL" : id() }
    private mutating func text() -> String { ["'a'", "'A'", "'bb'", "'c c'", "''", "'é'", "NULL"].randomElement(using: &random) ?? "''" }
    private mutating func tags() -> String { ["'[]'", "'[\"a\"]'", "'[\"a\",\"b\"]'", "'[\"b\"]'"].randomElement(using: &random) ?? "''" }

    private mutating func count() -> String {
        ["1", "2", "9", "41", "42", "43", "44", "60", "61", "62", "63", "71", "72", "NULL", "5000"].randomElement(using: &random) ?? "1"
    }

    private mutating func conflict() -> String {
        ["", "", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR ABORT", "OR FAIL", "OR ROLLBACK"].randomElement(using: &random) ?? ""
    }

    private mutating func returning(_ columns: String) -> String { number(0, 2) == 0 ? "RETURNING \(columns)" : "" }

    static func literal(_ id: RowID, _ form: KeyForm) -> String {
        if case .text(let text) = form.value(id) { return "'\(String(decoding: text, as: UTF8.self))'" }
        return "x'\(id)'"
    }
}
