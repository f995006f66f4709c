import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A table whose ids are text merges otherwise than one with BLOBs")
struct TextKeyTests {
    private static func type(_ form: KeyForm) -> String { form == .blob ? "BLOB" : "TEXT" }

    private static func notes(_ form: KeyForm) -> String {
        """
        CREATE TABLE note (id \(type(form)) PRIMARY KEY NOT NULL, title TEXT, color INTEGER, tags TEXT NOT NULL DEFAULT '[]',
            views INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL DEFAULT '');
        """
    }

    private static func note(_ form: KeyForm?) -> TrackedTable {
        TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"], ids: form)
    }

    private static func store(_ form: KeyForm, _ number: UInt64 = 1, and rows: String = "") throws -> TestStore {
        try TestStore(replica: ReplicaID(high: number, low: 0), sql: notes(form) + rows, tables: [note(form)])
    }

    private static func literal(_ number: UInt64, _ form: KeyForm) -> String {
        let hex = rowID(number).description
        if form == .blob { return "x'\(hex)'" }
        var text = ""
        for (index, digit) in hex.enumerated() { text += ([8, 12, 16, 20].contains(index) ? "-" : "") + String(digit) }
        return "'\(form == .text ? text : text.uppercased())'"
    }

    private static func meet(_ stores: TestStore...) throws {
        for _ in stores {
            for receiver in stores {
                for sender in stores where sender !== receiver { try receiver.receive(from: sender) }
            }
        }
        for store in stores { try store.expectSound() }
        #expect(Set(try stores.map { try $0.store.advanceDigest().digest }).count == 1)
    }

    private static func text(_ store: TestStore, _ sql: String) throws -> [String] {
        try store.database.read { try String.fetchAll($0, sql: sql) }
    }

    @Test(arguments: KeyForm.allCases) func `what went with a row that came back is found`(form: KeyForm) throws {
        let sql =
            """
            CREATE TABLE file (id \(Self.type(form)) PRIMARY KEY NOT NULL,
                note \(Self.type(form)) REFERENCES note (id) ON DELETE CASCADE);
            """
        let stores = try [1, 2].map { number in
            try TestStore(
                replica: ReplicaID(high: number, low: 0), sql: Self.notes(form) + sql,
                tables: [Self.note(form), TrackedTable("file", ids: form)])
        }
        let note = Self.literal(1, form)
        try stores[0].execute("INSERT INTO note (id, title) VALUES (\(note), 'a')")
        try stores[0].execute("INSERT INTO file VALUES (\(Self.literal(2, form)), \(note))")
        try Self.meet(stores[0], stores[1])
        try stores[0].execute("PRAGMA foreign_keys = ON")
        try stores[0].execute("DELETE FROM note")
        try stores[1].execute("UPDATE note SET title = 'b'")
        try Self.meet(stores[0], stores[1])
        for store in stores {
            #expect(try Self.text(store, "SELECT title FROM note") == ["b"])
            #expect(try store.store.leftBehind(table: "file", by: "note", of: "note") == [rowID(2)])
        }
    }

    // MARK: Forms

    @Test(arguments: KeyForm.allCases)
    func `an id and its text are one, and nothing else is an id`(form: KeyForm) {
        let id = RowID(high: 0x0190_abcd_ef01_7fff, low: 0x8000_1234_5678_9abc)
        #expect(form.id(of: form.value(id)) == id)
        #expect(
            RowID.text(of: form.value(id))
                == [
                    "blob": nil, "text": "0190abcd-ef01-7fff-8000-123456789abc",
                    "upperCaseText": "0190ABCD-EF01-7FFF-8000-123456789ABC",
                ][form.rawValue])
        for wrong in [
            "", "0190abcd-ef01-7fff-8000-123456789ab", "0190abcd-ef01-7fff-8000-123456789abcd", "0190abcdef017fff8000123456789abc",
            "0190abcd-ef01-7fff-8000_123456789abc", "{190abcd-ef01-7fff-8000-123456789abc", "0190abcd-ef01-7fff-8000-123456789abg",
            "0190abcd-ef01-7fff-8000-123456789Abc", "٠190abcd-ef01-7fff-8000-123456789a",
        ] { #expect(form.id(of: .text(wrong)) == nil, "\(wrong)") }
        for wrong: ColumnValue in [.null, .integer(1), .blob([1]), .blob(Array("0190abcd-ef01-7fff-8000-123456789abc".utf8))] {
            #expect(form.id(of: wrong) == nil)
        }
    }

    @Test func `rows on devices that write ids in each form are the same rows, with all that they hold`() throws {
        let stores = try KeyForm.allCases.enumerated().map { try Self.store($1, UInt64($0 + 1)) }
        for (number, (store, form)) in zip(stores, KeyForm.allCases).enumerated() {
            let own = Self.literal(UInt64(number + 0xab1), form)
            try store.execute("INSERT INTO note VALUES (\(own), 'own', \(number), '[\"a\"]', 1, 'own')")
        }
        try Self.meet(stores[0], stores[1], stores[2])
        for (number, (store, form)) in zip(stores, KeyForm.allCases).enumerated() {
            let ids = (0xab1...0xab3).map { Self.literal($0, form) }
            #expect(
                try Self.text(store, "SELECT quote(id) FROM note ORDER BY id")
                    == ids.map { form == .blob ? $0.uppercased().replacing("X", with: "X") : $0 })
            try store.execute(
                "UPDATE note SET title = title || '\(number)', views = views + 1, tags = '[\"a\",\"\(number)\"]' WHERE id = \(ids[0])")
            try store.execute("DELETE FROM note WHERE id = \(ids[2])")
            try store.execute("UPDATE note SET body = body || '\(number)' WHERE id = \(ids[1])")
        }
        try Self.meet(stores[0], stores[1], stores[2])
        for store in stores {
            #expect(
                try Self.text(store, "SELECT count(*) || ' ' || sum(views) || ' ' || min(tags) FROM note") == [
                    "2 5 [\"0\",\"1\",\"2\",\"a\"]"
                ])
            #expect(try store.store.alternatives(table: "note", id: rowID(0xab1)).count == 2)
        }
        // What was deleted comes back by the trash, here and everywhere.
        for (store, form) in zip(stores, KeyForm.allCases) where form == .upperCaseText {
            try store.store.restore(table: "note", id: rowID(0xab3))
            #expect(try Self.text(store, "SELECT quote(id) FROM note WHERE id = \(Self.literal(0xab3, form))").count == 1)
        }
        try Self.meet(stores[0], stores[1], stores[2])
        for store in stores { #expect(try Self.text(store, "SELECT count(*) || '' FROM note") == ["3"]) }
    }

    // MARK: Which form

    @Test(
        arguments: [
            ("TEXT", "", KeyForm.text), ("VARCHAR(36)", "", .text), ("CHAR(36)", "", .text), ("UUID", "", .blob), ("", "", .blob),
            ("BLOB", "", .blob), ("UUID", "t", .text), ("BLOB", "t", .text), ("", "T", .upperCaseText), ("TEXT", "T", .upperCaseText),
            ("VARCHAR(36)", "b", .blob), ("TEXT", "b", .blob), ("INT", "t", .text), ("GUID", "T", .upperCaseText), ("REAL", "b", .blob),
        ])
    func `the rows tell the form, else the type does; and it stays when the rows are gone`(type: String, row: String, form: KeyForm) throws
    {
        let rows: [String: KeyForm] = ["b": .blob, "t": .text, "T": .upperCaseText]
        let sql = "CREATE TABLE note (id \(type) PRIMARY KEY NOT NULL, a TEXT);"
        let insert = rows[row].map { "INSERT INTO note VALUES (\(Self.literal(0xabc, $0)), 'was')" } ?? ""
        let app = try App(sql + insert, replica: 1)
        try app.execute("DELETE FROM note")
        try app.migrate("SELECT 1")
        try app.execute("INSERT INTO note VALUES (\(Self.literal(0xdef, form)), 'a')")
        for other in KeyForm.allCases where other != form {
            let error = #expect(throws: DatabaseError.self) {
                try app.execute("INSERT INTO note VALUES (\(Self.literal(0xfed, other)), 'b')")
            }
            #expect(error?.message?.contains("The id of a row of note is") == true, "\(error?.message ?? "")")
        }
        try app.expectSound()
        let peer = try App(sql, [TrackedTable("note", ids: form)], replica: 2)
        try peer.receive(from: app)
        #expect(try peer.text("SELECT typeof(id) || a FROM note") == [form == .blob ? "bloba" : "texta"])
        try peer.expectSound()
    }

    @Test func `a declared form holds for a table without rows, and rows of another are refused`() throws {
        let app = try App(Self.notes(.text), [Self.note(.upperCaseText)], replica: 1)
        try app.execute("INSERT INTO note (id) VALUES (\(Self.literal(0xa, .upperCaseText)))")
        let error = #expect(throws: StoreError.self) {
            _ = try App(
                Self.notes(.text) + "INSERT INTO note (id) VALUES (\(Self.literal(0xa, .text)))", [Self.note(.upperCaseText)], replica: 1)
        }
        #expect(error?.code == .tableRejected)
        #expect(
            error?.message.contains("in upper case, but the 36 characters of a UUID as TEXT, in lower case") == true,
            "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            ("('x')", "not a UUID"), ("(x'01')", "not a BLOB of 16 bytes"), ("(NULL)", "such as NULL"), ("(12)", "such as 12"),
            ("(\(literal(0xa, .text))), (\(literal(0xb, .upperCaseText))), (\(literal(0xc, .upperCaseText)))", "1 of its 3 rows"),
        ])
    func `rows whose ids are none, or of two forms, are told with an example`(rows: String, reason: String) throws {
        let error = #expect(throws: StoreError.self) {
            _ = try App("CREATE TABLE note (id BLOB PRIMARY KEY, a TEXT); INSERT INTO note (id) VALUES \(rows)", replica: 1)
        }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason == "not a UUID" ? "such as 'x'" : reason) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [KeyForm.text, .upperCaseText]) func `the id of a row is final`(form: KeyForm) throws {
        let store = try Self.store(form)
        try store.execute("INSERT INTO note (id) VALUES (\(Self.literal(0xa, form)))")
        for id in [Self.literal(0xb, form), Self.literal(0xa, form == .text ? .upperCaseText : .text), "NULL", "'a'", "x'\(rowID(0xa))'"] {
            #expect(throws: DatabaseError.self) { try store.execute("UPDATE note SET id = \(id)") }
        }
        try store.expectSound()
    }

    // MARK: References

    private static let related = """
        CREATE TABLE parent (id TEXT PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE child (id TEXT PRIMARY KEY NOT NULL, name TEXT,
            a TEXT REFERENCES parent (id) ON DELETE CASCADE, b TEXT REFERENCES parent (id) ON DELETE RESTRICT,
            c TEXT REFERENCES parent (id) ON DELETE SET NULL,
            d TEXT DEFAULT \(literal(0xf, .text)) REFERENCES parent (id) ON DELETE SET DEFAULT);
        """

    @Test(arguments: [KeyForm.text, .upperCaseText]) func `each rule of a reference holds by text ids, here and after a merge`(
        form: KeyForm
    ) throws {
        let sql = form == .text ? Self.related : Self.related.replacing(Self.literal(0xf, .text), with: Self.literal(0xf, form))
        let tables = [TrackedTable("parent", ids: form), TrackedTable("child", ids: form)]
        let (a, b) = (
            try TestStore(replica: ReplicaID(high: 1, low: 0), sql: sql, tables: tables),
            try TestStore(replica: ReplicaID(high: 2, low: 0), sql: sql, tables: tables)
        )
        func id(_ number: UInt64) -> String { Self.literal(number, form) }
        for number: UInt64 in [0xa, 0xb, 0xc, 0xd, 0xf] { try a.execute("INSERT INTO parent VALUES (\(id(number)), 'p')") }
        try Self.meet(a, b)
        // On one device the parents go; on the other children come.
        for number: UInt64 in [0xa, 0xb, 0xc, 0xd] { try a.execute("DELETE FROM parent WHERE id = \(id(number))") }
        for (number, column) in [(0x1a, "a"), (0x1b, "b"), (0x1c, "c"), (0x1d, "d")] as [(UInt64, String)] {
            let others = ["a", "b", "c", "d"].filter { $0 != column }.joined(separator: ", ")
            try b.execute("INSERT INTO child (id, \(column), \(others)) VALUES (\(id(number)), \(id(number - 0x10)), NULL, NULL, NULL)")
        }
        try Self.meet(a, b)
        for store in [a, b] {
            #expect(
                try Self.text(store, "SELECT substr(id, -1) FROM parent ORDER BY id COLLATE NOCASE").map { $0.lowercased() } == ["b", "f"])
            let shown = try Self.text(
                store,
                "SELECT lower(substr(id, -1) || coalesce(substr(b, -1), '') || coalesce(substr(c, -1), '') || coalesce(substr(d, -1), '')) FROM child ORDER BY id"
            )
            #expect(shown == ["bb", "c", "df"])
        }
        // A parent that returns shows its children again, and what referred to it does.
        for number: UInt64 in [0xa, 0xc, 0xd] { try a.execute("INSERT INTO parent VALUES (\(id(number)), 'again')") }
        try Self.meet(a, b)
        for store in [a, b] {
            let shown = try Self.text(
                store,
                "SELECT lower(substr(id, -1) || coalesce(substr(a, -1), '') || coalesce(substr(b, -1), '') || coalesce(substr(c, -1), '') || coalesce(substr(d, -1), '')) FROM child ORDER BY id"
            )
            #expect(shown == ["aa", "bb", "cc", "dd"])
            #expect(try store.database.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count } == 0)
        }
    }

    @Test func `a table to which others refer keeps its form; one alone may take another by a migration`() throws {
        let tables = [TrackedTable("parent"), TrackedTable("child")]
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: Self.related) }
        let database = try DatabaseQueue()
        var store = try SyncedDatabase(database, tables: tables, migrator: migrator, options: TestStore.options())
        try database.write { db in
            try db.execute(
                sql:
                    "INSERT INTO parent VALUES (\(Self.literal(0xa, .text)), 'p'), (\(Self.literal(0xf, .text)), 'q'); INSERT INTO child (id, a) VALUES (\(Self.literal(0xb, .text)), \(Self.literal(0xa, .text)))"
            )
        }
        store.close()
        store = try SyncedDatabase(database, tables: tables, migrator: migrator, options: TestStore.options())
        store.close()
        migrator.registerMigration("v2") { db in
            try db.execute(
                sql: """
                    DROP TABLE parent; CREATE TABLE parent (id TEXT PRIMARY KEY NOT NULL, name TEXT);
                    INSERT INTO parent VALUES (\(Self.literal(0xa, .upperCaseText)), 'p');
                    UPDATE child SET a = upper(a), d = NULL
                    """)
        }
        let changed = migrator
        let error = #expect(throws: StoreError.self) {
            _ = try SyncedDatabase(database, tables: tables, migrator: changed, options: TestStore.options())
        }
        #expect(error?.message.contains("Bring the ids back") == true, "\(error?.message ?? "")")

        let alone = try App(Self.notes(.text), [Self.note(nil)], replica: 2)
        try alone.execute("INSERT INTO note (id, title) VALUES (\(Self.literal(0xa, .text)), 'a')")
        try alone.execute("INSERT INTO note (id, title) VALUES (\(Self.literal(0xb, .text)), 'b'); DELETE FROM note WHERE title = 'b'")
        try alone.migrate(
            "CREATE TABLE new (\(Self.notes(.blob).split(separator: "(", maxSplits: 1)[1]) INSERT INTO new SELECT \(Self.literal(0xa, .blob)), title, color, tags, views, body FROM note; DROP TABLE note; ALTER TABLE new RENAME TO note",
            [Self.note(nil)])
        try alone.execute("UPDATE note SET title = 'c' WHERE id = \(Self.literal(0xa, .blob))")
        try alone.store.restore(table: "note", id: rowID(0xb))
        #expect(try alone.text("SELECT typeof(id) || title FROM note ORDER BY title") == ["blobb", "blobc"])
        try alone.expectSound()
    }

    // MARK: Natural keys

    @Test(arguments: KeyForm.allCases) func `a natural key names one row in every form`(form: KeyForm) throws {
        let sql = "CREATE TABLE entry (id \(Self.type(form)) PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE, text TEXT NOT NULL DEFAULT '')"
        let stores = try [form, KeyForm.blob].map {
            try TestStore(sql: sql, tables: [TrackedTable("entry", key: ["day"], ids: $0)])
        }
        for (store, word) in zip(stores, ["here", "there"]) {
            try store.execute(
                "INSERT INTO entry VALUES (kith_key('entry', '2026-11-21'), '2026-11-21', '\(word)') ON CONFLICT (day) DO UPDATE SET text = text || '+'"
            )
            #expect(throws: DatabaseError.self) {
                try store.execute("INSERT INTO entry VALUES (\(Self.literal(0xa, form)), '2026-11-22', '')")
            }
        }
        try Self.meet(stores[0], stores[1])
        for store in stores { #expect(try Self.text(store, "SELECT day FROM entry").count == 1) }
        let id = try RowID(table: "entry", key: .text("2026-11-21"))
        #expect(
            try Self.text(stores[0], "SELECT quote(id) FROM entry").map { $0.lowercased() } == [Self.quoted(form.value(id)).lowercased()])
    }

    private static func quoted(_ value: ColumnValue) -> String {
        switch value {
        case .blob(let bytes): "x'" + bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined() + "'"
        case .text(let bytes): "'" + String(decoding: bytes, as: UTF8.self) + "'"
        default: ""
        }
    }

    // MARK: Rows that were there, and rows that move

    @Test func `rows that were there are adopted, also over ones that a peer has sent, and equal ones are one state`() throws {
        let row = "INSERT INTO note VALUES (\(Self.literal(0xa, .upperCaseText)), 'milk', 1, '[\"a\"]', 10, 'Same text.');"
        let (a, b) = (
            try TestStore(replica: ReplicaID(high: 1, low: 0), sql: Self.notes(.text) + row, tables: [Self.note(nil)]),
            try TestStore(replica: ReplicaID(high: 2, low: 0), sql: Self.notes(.text) + row, tables: [Self.note(nil)])
        )
        let c = try Self.store(.blob, 3, and: row.replacing(Self.literal(0xa, .upperCaseText), with: Self.literal(0xa, .blob)))
        try Self.meet(a, b, c)
        for store in [a, b, c] {
            #expect(try Self.text(store, "SELECT title || views || body FROM note") == ["milk10Same text."])
            #expect(try store.store.alternatives(table: "note", id: rowID(0xa)).isEmpty)
        }
        // The table is left alone for a while, in which a peer sends rows.
        let app = try App(Self.notes(.text), [Self.note(nil)], replica: 4)
        try app.migrate("DROP TABLE note; CREATE TABLE other (id BLOB PRIMARY KEY NOT NULL, a)", [TrackedTable("other")])
        guard case .applied = try app.store.apply(try a.store.delta(since: try app.store.vector())) else {
            throw StoreError(.failed, "refused")
        }
        try app.migrate(
            Self.notes(.text)
                + row.replacing("'milk'", with: "'cream'").replacing(Self.literal(0xa, .upperCaseText), with: Self.literal(0xa, .text)),
            [Self.note(nil), TrackedTable("other")])
        #expect(try app.text("SELECT id || title FROM note").count == 1)
        #expect(try app.store.alternatives(table: "note", id: rowID(0xa)).count == 1)
        try app.expectSound()
    }

    @Test(arguments: [KeyForm.text, .upperCaseText]) func `VACUUM and a table built anew move rows, which keep their clocks`(form: KeyForm)
        throws
    {
        let app = try App(Self.notes(form), [Self.note(form)], replica: 1)
        for number: UInt64 in 0xa1...0xa9 { try app.execute("INSERT INTO note (id, title) VALUES (\(Self.literal(number, form)), 'n')") }
        try app.execute("DELETE FROM note WHERE id < \(Self.literal(0xa5, form))")
        try app.database.vacuum()
        try app.execute("UPDATE note SET title = 'moved'")
        try app.expectSound()
        try app.migrate(
            "CREATE TABLE new (\(Self.notes(form).split(separator: "(", maxSplits: 1)[1]) INSERT INTO new SELECT * FROM note ORDER BY id DESC; DROP TABLE note; ALTER TABLE new RENAME TO note",
            [Self.note(form)])
        try app.execute("UPDATE note SET title = title || '!'")
        try app.expectSound()
        #expect(try app.text("SELECT DISTINCT title FROM note") == ["moved!"])
    }

    @Test func `a migration step's writes to a table with text ids are noted`() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: Self.notes(.text)) }
        let database = try DatabaseQueue()
        let store = try SyncedDatabase(database, tables: [Self.note(nil)], migrator: migrator, options: TestStore.options())
        try database.write {
            for number: UInt64 in 0xa1...0xa3 {
                try $0.execute(sql: "INSERT INTO note (id, title) VALUES (\(Self.literal(number, .text)), 'n')")
            }
        }
        store.close()
        migrator.registerMigration("v2") {
            try $0.execute(
                sql:
                    "UPDATE note SET title = 'stepped' WHERE id = \(Self.literal(0xa1, .text)); DELETE FROM note WHERE id = \(Self.literal(0xa2, .text))"
            )
            try $0.execute(sql: "ALTER TABLE note ADD COLUMN size INTEGER; UPDATE note SET size = 3")
        }
        let after = try SyncedDatabase(database, tables: [Self.note(nil)], migrator: migrator, options: TestStore.options())
        #expect(try after.verify().problems == [])
        let peer = try DatabaseQueue()
        let other = try SyncedDatabase(peer, tables: [Self.note(nil)], migrator: migrator, options: TestStore.options())
        _ = try other.apply(try after.delta(since: VersionVector()))
        #expect(
            try peer.read { try String.fetchAll($0, sql: "SELECT substr(id, -2) || title || size FROM note ORDER BY id") } == [
                "a1stepped3", "a3n3",
            ])
        #expect(try after.trash().map(\.id) == [rowID(0xa2)])
    }
}

extension RowID {
    /// The text of a value that is one.
    fileprivate static func text(of value: ColumnValue) -> String? {
        if case .text(let bytes) = value { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
}
