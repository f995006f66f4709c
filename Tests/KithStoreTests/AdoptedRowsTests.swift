import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("Rows that were there before are lost, doubled or taken for edits")
struct AdoptedRowsTests {
    private static let notes = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"])
    private static let sql = """
        CREATE TABLE IF NOT EXISTS note (
            id BLOB PRIMARY KEY NOT NULL, title TEXT, color INTEGER, tags TEXT NOT NULL DEFAULT '[]',
            views INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL DEFAULT '');
        """

    /// A store whose table held this note when it was first tracked. Of equal times the lower number counts as the earlier.
    private static func holding(
        _ number: UInt64 = 1, title: String = "milk", tags: String = "[\"a\",\"b\"]", views: Int = 10, body: String = "Same text."
    ) throws -> TestStore {
        try TestStore(
            replica: ReplicaID(high: number, low: 0),
            sql: sql + "INSERT INTO note VALUES (x'\(rowID(1))', '\(title)', 1, '\(tags)', \(views), '\(body)')", tables: [notes])
    }

    private static func meet(_ stores: TestStore...) throws {
        for _ in stores {
            for receiver in stores {
                for sender in stores where sender !== receiver { try receiver.receive(from: sender) }
            }
        }
        for store in stores { try store.expectSound() }
        let digests = try stores.map { try $0.store.advanceDigest().digest }
        #expect(Set(digests).count == 1)
    }

    /// What a store shows of the note, and the values that lost.
    private static func shown(_ store: TestStore) throws -> String {
        guard let row = try store.row(rowID(1)) else { return "nothing" }
        let values = "\(row["title"] as String) \(row["tags"] as String) \(row["views"] as Int) \(row["body"] as String)"
        let others = try store.store.alternatives(table: "note", id: rowID(1)).map { alternative in
            var text = "\(alternative.value)"
            if case .text(let bytes) = alternative.value { text = String(decoding: bytes, as: UTF8.self) }
            return "\(alternative.column)=\(text)"
        }
        return values + (others.isEmpty ? "" : " or " + others.sorted().joined(separator: ", "))
    }

    // MARK: Rows of a file

    private static func empty(_ number: UInt64) throws -> TestStore {
        try TestStore(replica: ReplicaID(high: number, low: 0), sql: sql, tables: [notes])
    }

    /// Inserts the note as a file has it that other machines read, too.
    private static func take(_ store: TestStore, title: String = "milk", body: String = "Same text.") throws {
        try store.database.write { db in
            try store.store.findingRows(db) {
                try db.execute(sql: "INSERT INTO note VALUES (?, ?, 1, '[ \"a\"]', 3, ?)", arguments: [key(1), title, body])
            }
        }
    }

    @Test func `a row that several machines take from a file is one, whoever edits it before they meet`() throws {
        let stores = try [Self.empty(1), Self.empty(2), Self.empty(3)]
        for store in stores { try Self.take(store) }
        try stores[1].execute("UPDATE note SET title = 'oat milk', views = views + 1, body = body || ' And more.'")
        try stores[2].execute("UPDATE note SET tags = '[\"a\",\"b\"]', body = 'The ' || body")
        try Self.meet(stores[0], stores[1], stores[2])
        for store in stores { #expect(try Self.shown(store) == "oat milk [\"a\",\"b\"] 4 The Same text. And more.") }
    }

    @Test func `a row of a file and the one that was written are one, and what was written is shown`() throws {
        let (writer, reader) = (try Self.empty(1), try Self.empty(2))
        try writer.execute("INSERT INTO note VALUES (?, 'milk', 1, '[\"a\"]', 3, 'Same text.')", [key(1)])
        try Self.take(reader)
        try Self.meet(writer, reader)
        for store in [writer, reader] { #expect(try Self.shown(store) == "milk [\"a\"] 3 Same text.") }
        try reader.execute("UPDATE note SET body = body || ' Read.'")
        try Self.meet(writer, reader)
        for store in [writer, reader] { #expect(try Self.shown(store) == "milk [\"a\"] 3 Same text. Read.") }

        let older = try Self.empty(3)
        try Self.take(older, title: "Milk?", body: "Old text.")
        try Self.meet(writer, older)
        #expect(try Self.shown(older).hasPrefix("milk [\"a\"] 3 Same text. Read. or "))
    }

    @Test func `a row of a file brings nothing back that somebody deleted, but what was deleted here before`() throws {
        let (writer, reader) = (try Self.empty(1), try Self.empty(2))
        try Self.take(writer)
        try writer.execute("DELETE FROM note")
        try Self.take(reader)
        try Self.meet(writer, reader)
        for store in [writer, reader] {
            #expect(try Self.shown(store) == "nothing")
            #expect(try store.store.trash(table: "note", max: 10).count == 1)
        }
        try Self.take(writer, body: "Again.")
        try Self.meet(writer, reader)
        for store in [writer, reader] { #expect(try Self.shown(store) == "milk [\"a\"] 3 Again.") }
    }

    @Test func `what was taken from a file stands in the history, and can be taken back`() throws {
        let table = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"], journal: .days(30))
        let store = try TestStore(sql: Self.sql, tables: [table])
        try Self.take(store)
        #expect(try store.store.history().map { $0.changes.map(\.kind) } == [[.insert]])
        #expect(try store.store.revert(device: .own, sinceMilliseconds: 0).isWhole)
        #expect(try Self.shown(store) == "nothing")
        try store.expectSound()
    }

    @Test(arguments: [("x", "[\"a\",\"b\",\"y\"]"), ("a", "[\"b\",\"y\"]")])
    func `an element that one transaction adds and takes away again was never removed, and one that it had before was`(
        _ element: String, _ shown: String
    ) throws {
        let holder = try Self.holding(tags: "[\"a\",\"b\"]")
        let writer = try TestStore(replica: ReplicaID(high: 2, low: 0), sql: Self.sql, tables: [Self.notes])
        try writer.execute("INSERT INTO note (id, tags) VALUES (?, '[\"\(element)\"]')", [key(1)])
        try writer.database.write { db in
            for tags in ["[\"b\"]", "[\"y\"]"] { try db.execute(sql: "UPDATE note SET tags = ?", arguments: [tags]) }
        }
        try Self.meet(holder, writer)
        for store in [holder, writer] { #expect(try store.row(rowID(1))?["tags"] == shown) }
    }

    @Test(arguments: ["title = 'x'", "tags = '[]'", "views = 11", "body = 'Same.'", "title = 'x', tags = '[]', views = 11, body = 'Same.'"])
    func `what was first written within a savepoint, or a statement that fails, is taken back with it`(_ change: String) throws {
        for isSavepoint in [true, false] {
            // A second row, which a statement finds after the first one.
            let row = "INSERT INTO note VALUES (x'\(rowID(2))', 'bread', 3, '[]', 0, '')"
            let holder = try Self.holding()
            try holder.execute(
                row + "; CREATE TRIGGER refuse BEFORE UPDATE ON note WHEN new.color > 9 BEGIN SELECT RAISE(ABORT, 'no'); END")
            try holder.database.write { db in
                if isSavepoint {
                    try db.execute(sql: "SAVEPOINT s; UPDATE note SET \(change); ROLLBACK TO s; RELEASE s")
                } else {
                    // The first row is written, the second one refused.
                    try? db.execute(sql: "UPDATE note SET color = color + 7, \(change)")
                }
                #expect(try String.fetchOne(db, sql: "SELECT body FROM note WHERE title = 'milk'") == "Same text.")
                try db.execute(sql: "UPDATE note SET body = body || ' And more.', views = views + 1")
            }
            let other = try Self.holding(2)
            try other.execute("UPDATE note SET body = 'Now: ' || body, tags = '[\"b\"]', views = views + 2, title = 'oat milk'")
            let third = try TestStore(replica: ReplicaID(high: 3, low: 0), sql: Self.sql, tables: [Self.notes])
            try third.execute("INSERT INTO note (id, body) VALUES (?, 'Third.')", [key(3)])
            try Self.meet(holder, other, third)
            try Self.meet(holder, other, third)
            for store in [holder, other, third] {
                #expect(try store.row(rowID(1))?["body"] == "Now: Same text. And more.")
                #expect(try store.row(rowID(1))?["views"] == 13)
            }
        }
    }

    /// As if thousands of changes came, of which one transaction takes some.
    @Test(arguments: 1...4) func `found texts that wait for their turn are what they were, and nobody writes them again`(limit: Int) throws
    {
        let sql = Self.sql + "ALTER TABLE note ADD COLUMN remark TEXT;"
        let notes = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body", "remark"])
        var budget = TextBudget()
        (budget.changesMax, budget.changesOfAllMax, budget.readMax, budget.changesAsideMax) = (1 + limit % 2, limit, 2, 3)
        let holder = try TestStore(
            replica: ReplicaID(high: 1, low: 0),
            sql: sql + "INSERT INTO note (id, body, remark) VALUES (x'\(rowID(1))', 'One.', 'First.'), (x'\(rowID(2))', 'Two.', '')",
            tables: [notes])
        try holder.execute("UPDATE note SET body = body || ' More.' WHERE id = ?", [key(2)])
        let others = try [2, 3].map { try TestStore(replica: ReplicaID(high: $0, low: 0), sql: sql, tables: [notes], textBudget: budget) }
        try Self.meet(holder, others[0], others[1])
        for store in [holder] + others {
            #expect(try store.row(rowID(1))?["body"] == "One.")
            #expect(try store.row(rowID(1))?["remark"] == "First.")
            #expect(try store.row(rowID(2))?["body"] == "Two. More.")
            #expect(try store.row(rowID(2))?["remark"] == "")
        }
        #expect(try others.map { try $0.sequence() } == [0, 0])
        for other in others {
            for id in [rowID(1), rowID(2)] {
                #expect(try "\(holder.state(id)?.state as Any)" == "\(other.state(id)?.state as Any)")
            }
        }
    }

    @Test func `tables that are adopted together are one commit, which the next write does not take again`() throws {
        let tables = [TrackedTable("p"), TrackedTable("c")]
        let store = try TestStore(
            sql: """
                CREATE TABLE p (id BLOB PRIMARY KEY NOT NULL, a TEXT); CREATE TABLE c (id BLOB PRIMARY KEY NOT NULL, a TEXT);
                INSERT INTO p VALUES (x'\(rowID(1))', '1'); INSERT INTO c VALUES (x'\(rowID(2))', '2')
                """, tables: tables)
        try store.expectSound()
        #expect(try store.sequence() == 1)
        #expect(try store.state(rowID(1), table: "p")?.sequences("a") == [1])
        #expect(try store.state(rowID(2), table: "c")?.sequences("a") == [1])
        try store.execute("UPDATE p SET a = '3'")
        #expect(try store.sequence() == 2)
        // An edit by somebody who has seen the adopted value leaves no alternative.
        let other = try TestStore(
            sql: "CREATE TABLE p (id BLOB PRIMARY KEY NOT NULL, a TEXT); CREATE TABLE c (id BLOB PRIMARY KEY NOT NULL, a TEXT)",
            tables: tables)
        try other.receive(from: store)
        try other.execute("UPDATE c SET a = '4'")
        try store.receive(from: other)
        #expect(try store.store.alternatives(table: "c", id: rowID(2)).isEmpty)
        try store.expectSound()
    }

    @Test func `what several devices hold alike is one state: nothing is doubled, and nothing is an alternative to itself`() throws {
        let (a, b, c) = (try Self.holding(1), try Self.holding(2), try Self.holding(3))
        try Self.meet(a, b, c)
        for store in [a, b, c] { #expect(try Self.shown(store) == #"milk ["a","b"] 10 Same text."#) }
    }

    @Test func `edits on both sides of rows that were equal merge as if the rows had always been one`() throws {
        let (a, b) = (try Self.holding(1), try Self.holding(2))
        try a.execute("UPDATE note SET title = 'bread', tags = '[\"b\"]', views = views + 3, body = 'Same text. And more.'")
        try b.execute("UPDATE note SET views = views + 2, body = 'The same text.'")
        try Self.meet(a, b)
        for store in [a, b] { #expect(try Self.shown(store) == #"bread ["b"] 15 The same text. And more."#) }
    }

    @Test func `of different values the earliest is shown, the others are alternatives until somebody chooses`() throws {
        let a = try Self.holding()
        let b = try Self.holding(2, title: "salt", tags: "[\"c\"]", views: 12, body: "Another text.")
        try Self.meet(a, b)
        let (first, second) = (try Self.shown(a), try Self.shown(b))
        #expect(first == second)
        #expect(first.contains("or body="))
        #expect(try a.store.alternatives(table: "note", id: rowID(1)).count == 3)
        for alternative in try a.store.alternatives(table: "note", id: rowID(1)) {
            try a.database.write {
                try a.store.resolve($0, table: "note", id: rowID(1), column: alternative.column, keeping: alternative.value)
            }
        }
        try Self.meet(a, b)
        #expect(try b.store.alternatives(table: "note", id: rowID(1)).isEmpty)
        #expect(try Self.shown(a) == Self.shown(b))
        #expect(try Self.shown(a) != first)
        // Nor does a third device bring back what was dismissed.
        let c = try Self.holding(3, title: "salt", tags: "[\"c\"]", views: 12, body: "Another text.")
        try Self.meet(a, b, c)
        #expect(try c.store.alternatives(table: "note", id: rowID(1)).isEmpty)
    }

    @Test func `a text that is edited wins over one that was only found, which stays as a version`() throws {
        let a = try Self.holding()
        let b = try Self.holding(2, body: "Another text.")
        try b.execute("UPDATE note SET body = body || ' Edited.'")
        try Self.meet(a, b)
        for store in [a, b] { #expect(try Self.shown(store) == #"milk ["a","b"] 10 Another text. Edited. or body=Same text."#) }
        try a.execute("UPDATE note SET body = body || ' Twice.'")
        try Self.meet(a, b)
        #expect(try Self.shown(b) == #"milk ["a","b"] 10 Another text. Edited. Twice. or body=Same text."#)
        let revisions = try a.store.textRevisions(table: "note", id: rowID(1), column: "body")
        #expect(revisions.count == 3)
        #expect(revisions.allSatisfy { $0.stamp.dot.replica != .nobody })
    }

    @Test func `a backup of rows that have changed since brings nothing back: no title, no tag, no count, no deleted row`() throws {
        let a = try TestStore(sql: Self.sql, tables: [Self.notes])
        for number: UInt64 in 1...2 {
            try a.execute("INSERT INTO note VALUES (?, 'milk', 1, '[\"a\",\"b\"]', 3, 'Text.')", [key(number)])
        }
        try a.execute("UPDATE note SET title = 'bread', tags = '[\"a\"]', views = views + 2, body = 'New text.'")
        try a.execute("DELETE FROM note WHERE id = ?", [key(2)])
        let b = try TestStore(
            sql: Self.sql
                + ([1, 2] as [UInt64]).map { "INSERT INTO note VALUES (x'\(rowID($0))', 'milk', 1, '[\"a\",\"b\"]', 4, 'Text.');" }.joined(),
            tables: [Self.notes])
        try Self.meet(a, b)
        for store in [a, b] {
            #expect(try store.row(rowID(2)) == nil)
            let row = try #require(try store.row(rowID(1)))
            #expect(row["title"] == "bread")
            #expect(row["tags"] == #"["a"]"#)
            #expect(row["views"] == 5)
            #expect(row["body"] == "New text.")
        }
        #expect(try b.store.trash().map { $0.id } == [rowID(2)])
    }

    @Test func `rows that peers have sent before the app had the table are adopted beside what was sent`() throws {
        let a = try Self.holding(title: "bread")
        try a.execute("UPDATE note SET title = 'bread and butter', body = 'Edited here.'")
        let folder = try TemporaryFolder()
        let without = try TestStore(.queue, sql: "", tables: [], folder: folder)
        try without.receive(from: a)
        without.store.close()
        try without.execute(Self.sql + "INSERT INTO note VALUES (x'\(rowID(1))', 'bread', 1, '[\"a\",\"b\"]', 10, 'Same text.')")
        let b = try TestStore(.queue, sql: "", tables: [Self.notes], folder: folder)
        #expect(try Self.shown(b) == #"bread and butter ["a","b"] 10 Edited here."#)
        try Self.meet(a, b)
        #expect(try Self.shown(a) == Self.shown(b))
    }

    @Test func `an adoption that is interrupted adopts nothing, and the next one all`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("notes.sqlite")
        let database = try DatabaseQueue(path: path)
        try database.write { db in
            try db.execute(
                sql: Self.sql + "CREATE TABLE wrong (id BLOB PRIMARY KEY NOT NULL, a TEXT); INSERT INTO wrong VALUES (x'01', 'a')")
            for number: UInt64 in 1...50 { try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'a')", arguments: [key(number)]) }
        }
        // The second table is refused when the rows of the first one are adopted already.
        #expect(throws: StoreError.self) { try SyncedDatabase(database, tables: [Self.notes, TrackedTable("wrong")]) }
        #expect(try database.read { try $0.tableExists("kith_dot") } == false)
        let store = try SyncedDatabase(database, tables: [Self.notes])
        #expect(try store.verify().problems == [])
        #expect(try store.delta(since: VersionVector()).rows.count == 50)
        let summary = try store.summary()
        #expect(summary.vector[summary.replica] == 1)
    }
}
