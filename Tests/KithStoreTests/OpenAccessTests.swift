import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import Testing

@Suite("A call within an access to the database ends the process")
struct OpenAccessTests {
    private static let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
    private static let tables = [TrackedTable("note", texts: ["body"])]

    @Test(arguments: Backend.allCases) func `what begins a transaction of its own says so inside an access`(backend: Backend) throws {
        let notes = try TestStore(backend, sql: Self.sql, tables: Self.tables)
        try notes.execute("INSERT INTO note VALUES (?, 'a', 'b')", [key(1)])
        let store = notes.store
        let delta = try store.delta(since: VersionVector())
        let writes: [(String, () throws -> Void)] = [
            ("restore", { try store.restore(table: "note", id: rowID(1)) }), ("emptyTrash", { try store.emptyTrash() }),
            ("collectGarbage", { try store.collectGarbage() }), ("setMembers", { try store.setMembers([[1]]) }),
            ("apply", { _ = try store.apply(delta) }), ("group", { try store.undo(scope: "editor").group { _ in } }),
            ("keys", { _ = try KeyMigration(Self.tables).run(on: notes.database) }),
            ("open", { _ = try SyncedDatabase(notes.database, tables: Self.tables) }),
        ]
        let reads: [(String, () throws -> Void)] = [
            ("alternatives", { _ = try store.alternatives(table: "note", id: rowID(1)) }), ("trash", { _ = try store.trash() }),
            ("delta", { _ = try store.delta(since: VersionVector()) }), ("verify", { _ = try store.verify() }),
            ("textVersion", { _ = try store.textVersion(table: "note", id: rowID(1), column: "body") }),
            ("summary", { _ = try store.summary() }), ("refusedRows", { _ = try store.refusedRows() }),
            ("members", { _ = try store.members() }), ("check", { _ = try SyncedDatabase.check(notes.database, tables: Self.tables) }),
        ]
        func expectRefusal(_ name: String, _ body: () throws -> Void) {
            let error = #expect(throws: StoreError.self, "\(name)") { try body() }
            #expect(error?.message.contains("inside an access") == true, "\(name): \(error?.message ?? "")")
        }
        try notes.database.write { _ in for (name, body) in writes { expectRefusal(name, body) } }
        try notes.database.read { _ in for (name, body) in reads { expectRefusal(name, body) } }
        if backend != .pool { try notes.database.write { _ in for (name, body) in reads { expectRefusal(name, body) } } }
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `who writes in an access that only reads, or in one to another database, is told so`(
        backend: Backend
    ) throws {
        let (notes, others) = (
            try TestStore(backend, sql: Self.sql, tables: Self.tables), try TestStore(backend, sql: Self.sql, tables: Self.tables)
        )
        try notes.execute("INSERT INTO note VALUES (?, 'a', 'b')", [key(1)])
        let store = notes.store
        let writes: [(Database) throws -> Void] = [
            { try store.restore($0, table: "note", id: rowID(1)) }, { _ = try store.emptyTrash($0) },
            { try store.undo(scope: "e").mark($0) },
            { try store.resolve($0, table: "note", id: rowID(1), column: "title", keeping: .text("c")) },
            { try store.saveText($0, table: "note", id: rowID(1), column: "body", "c", base: TextVersion([])) },
        ]
        func expect(_ words: String, _ body: () throws -> Void) {
            let error = #expect(throws: StoreError.self) { try body() }
            #expect(error?.code == .failed && error?.message.contains(words) == true, "\(String(describing: error))")
        }
        for write in writes {
            try notes.database.read { db in expect("only reads") { try write(db) } }
            try others.database.write { db in expect("another database") { try write(db) } }
        }
        try others.database.read { db in
            expect("another database") { _ = try store.conflicts(db) }
            expect("another database") { _ = try store.verify(db) }
            expect("another database") { _ = try store.trash(db) }
        }
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a second store on one database object is refused as long as the first is open`(
        backend: Backend
    ) throws {
        let notes = try TestStore(backend, sql: Self.sql, tables: Self.tables)
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(notes.database, tables: Self.tables) }
        #expect(error?.code == .busy && error?.message.contains("already") == true)
        try notes.execute("INSERT INTO note VALUES (?, 'a', 'b')", [key(1)])
        notes.store.close()
        let second = try SyncedDatabase(notes.database, tables: Self.tables, options: TestStore.options())
        try notes.execute("INSERT INTO note VALUES (?, 'a', 'b')", [key(2)])
        #expect(try second.verify().rowCount == 2)
    }

    @Test(arguments: Backend.allCases, [1, 40])
    func `the forms that take db are a part of the access`(backend: Backend, rows: UInt64) throws {
        let notes = try TestStore(backend, sql: Self.sql, tables: Self.tables)
        let store = notes.store
        try notes.database.write { db in
            for number in 1...rows { try db.execute(sql: "INSERT INTO note VALUES (?, 'a', 'b')", arguments: [key(number)]) }
            #expect(try store.alternatives(db, table: "note", id: rowID(1)) == [])
            #expect(try store.textRevisions(db, table: "note", id: rowID(1), column: "body").count == 1)
        }
        func check(_ db: Database) throws {
            #expect(try store.alternatives(db, table: "note", id: rowID(1)) == [])
            let version = try store.textVersion(db, table: "note", id: rowID(1), column: "body")
            #expect(try store.text(db, table: "note", id: rowID(1), column: "body", at: version) == "b")
            #expect(try store.textRevisions(db, table: "note", id: rowID(1), column: "body").count == 1)
            let counts = try [
                store.trash(db).count, store.refusedRows(db).count, store.refusedTextChanges(db).count, store.members(db).count,
            ]
            #expect(counts == [0, 0, 0, 0])
            #expect(try store.supersededValues(db, table: "note", id: rowID(1)).isEmpty)
            #expect(try store.conflicts(db).isEmpty && store.conflicts(db, table: "note", id: rowID(1)).isEmpty)
            #expect(try store.massDeletions(db).isEmpty && store.unshownRows(db).isEmpty)
            _ = try store.authors(db)
            let holders = try [store.holders(db), store.holders(db, table: "note", id: rowID(1))]
            #expect(holders == [[], []])
            #expect(try store.vector(db).entries.map(\.sequence) == [1])
            #expect(try store.verify(db).isSound && store.verify(db).rowCount == Int(rows))
            #expect(try store.size(db).fileBytes > 0)
        }
        try notes.database.read(check)
        try notes.database.write(check)
        try notes.database.unsafeRead(check)
        try notes.database.writeWithoutTransaction(check)
        try notes.database.write { db in
            try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(1)])
            #expect(try store.trash(db).map(\.id) == [rowID(1)])
            try store.restore(db, table: "note", id: rowID(1))
            #expect(try store.trash(db).isEmpty)
            #expect(throws: StoreError.self) { try store.restore(db, table: "note", id: rowID(1)) }
            try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(1)])
            #expect(try store.emptyTrash(db) == 1)
        }
        try notes.expectSound()
    }

    @Test func `a row can be named by the UUID of the app's record`() throws {
        let tables = [TrackedTable("note", texts: ["body"], journal: .days(30))]
        let notes = try TestStore(sql: Self.sql, tables: tables)
        let store = notes.store
        let id = UUID()
        try notes.database.write { db in
            try db.execute(sql: "INSERT INTO note VALUES (?, 'a', 'one two')", arguments: [id])
            let version = try store.textVersion(db, table: "note", id: id, column: "body")
            try store.saveText(db, table: "note", id: id, column: "body", "one 2 two", base: version)
            try store.replaceText(db, table: "note", id: id, column: "body", 0..<3, in: .scalars, with: "1")
            try store.editText(db, table: "note", id: id, column: "body", TextOperations([.insert("!", at: 7)]))
        }
        #expect(try notes.database.read { try String.fetchOne($0, sql: "SELECT body FROM note") } == "1 2 two!")
        #expect(try store.history(table: "note", id: id).count == 1)
        #expect(try store.explain(table: "note", id: id, column: "title").shown == .text("a"))
        #expect(throws: StoreError.self) { _ = try store.explain(table: "note", id: UUID(), column: "title") }
        try notes.expectSound()
    }

    @Test(arguments: [Backend.queue, .pool]) func `an attachment comes with its row in one transaction`(backend: Backend) throws {
        let photos = try TestStore(
            backend, sql: "CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)",
            tables: [TrackedTable("photo", attachments: ["file"])])
        let content = [UInt8](repeating: 7, count: 300_000)
        let id = try photos.database.write { db in
            let id = try photos.store.attach(db, content)
            try db.execute(sql: "INSERT INTO photo VALUES (?, ?)", arguments: [key(1), id.description])
            return id
        }
        guard case .present(let file) = photos.store.attachmentState(id) else {
            Issue.record("it is \(photos.store.attachmentState(id))")
            return
        }
        #expect([UInt8](try Data(contentsOf: file.url)) == content)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try photos.database.write { db in
                _ = try photos.store.attach(db, [1, 2, 3])
                throw Stop()
            }
        }
        // Within an access the form without `db` says so.
        let error = #expect(throws: StoreError.self) { try photos.database.write { _ in try photos.store.attach([1]) } }
        #expect(error?.message.contains("inside an access") == true)
        try photos.expectSound()
    }

    @Test(.timeLimit(.minutes(10)), arguments: [Backend.queue, .pool])
    func `a list with its conflicts is one observation`(backend: Backend) async throws {
        let (first, second) = (
            try TestStore(sql: Self.sql, tables: Self.tables), try TestStore(backend, sql: Self.sql, tables: Self.tables)
        )
        try first.execute("INSERT INTO note VALUES (?, 'a', 'b')", [key(1)])
        try second.receive(from: first)
        let store = second.store
        let observation = ValueObservation.tracking { db in
            try String.fetchAll(db, sql: "SELECT title FROM note")
                + store.alternatives(db, table: "note", id: rowID(1)).map { "\($0.value)" }
        }
        var values = observation.values(in: second.database).makeAsyncIterator()
        #expect(try await values.next()?.count == 1)
        try first.execute("UPDATE note SET title = 'mine'")
        try second.execute("UPDATE note SET title = 'theirs'")
        try second.receive(from: first)
        while let value = try await values.next(), value.count != 2 { #expect(value.count == 1) }
    }

    @Test(.timeLimit(.minutes(10)), arguments: Backend.allCases)
    func `an observation that asks for nothing but conflicts hears of them`(backend: Backend) async throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
        let tables = [TrackedTable("note", texts: ["body"])]
        let (first, second) = (try TestStore(sql: sql, tables: tables), try TestStore(backend, sql: sql, tables: tables))
        try first.execute("INSERT INTO note VALUES (?, 'a', 'one two three')", [key(1)])
        try second.receive(from: first)
        let store = second.store
        let counts: [@Sendable (Database) throws -> Int] = [
            { try store.conflicts($0).count }, { try store.conflicts($0, table: "note", id: rowID(1)).count },
            { try store.textConflicts($0, table: "note", id: rowID(1), column: "body").count },
        ]
        let observations = counts.map { ValueObservation.tracking($0).values(in: second.database) }
        var readers = observations.map { $0.makeAsyncIterator() }
        for index in readers.indices { #expect(try await readers[index].next() == 0) }
        try first.execute("UPDATE note SET title = 'mine', body = 'one 2a three'")
        try second.execute("UPDATE note SET title = 'theirs', body = 'one 2b three'")
        try second.receive(from: first)
        for index in readers.indices {
            while let count = try await readers[index].next(), count == 0 {}
            #expect(try await second.database.read(counts[index]) > 0)
        }
    }

    @Test(arguments: Backend.allCases) func `a journal is read, and a reader's place noted, as a part of the access`(backend: Backend)
        throws
    {
        let notes = try TestStore(backend, sql: Self.sql, tables: [TrackedTable("note", texts: ["body"], journal: .days(1))])
        let (store, undo) = (notes.store, notes.store.undo(scope: "editor"))
        try undo.group("Write") { db in try db.execute(sql: "INSERT INTO note VALUES (?, 'a', 'b')", arguments: [key(1)]) }
        let token = try store.historyToken()
        #expect(token != nil)
        func check(_ db: Database) throws {
            #expect(try store.history(db, table: "note", id: rowID(1)).count == 1)
            #expect(try store.explain(db, table: "note", id: rowID(1), column: "title").shown == .text(Array("a".utf8)))
            #expect(try store.historyToken(db) == token)
            #expect(try store.historyCursor(db, "widget") == nil)
            #expect(try undo.nextUndo(db)?.title == "Write" && undo.nextRedo(db) == nil)
        }
        try notes.database.read(check)
        try notes.database.write(check)
        // What a reader makes of the changes and its place go together.
        #expect(throws: CancellationError.self) {
            try notes.database.write { db in
                try store.setHistoryCursor(db, "widget", token)
                #expect(try store.historyCursor(db, "widget") == token)
                throw CancellationError()
            }
        }
        #expect(try store.historyCursor("widget") == nil)
        try notes.database.write { db in try store.setHistoryCursor(db, "widget", token) }
        #expect(try store.historyCursor("widget") == token)
        try notes.expectSound()
    }
}
