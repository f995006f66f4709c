import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A transaction and its commit part ways")
struct TransactionTests {
    @Test(arguments: Backend.allCases) func `everything one transaction writes carries one commit`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'a')", arguments: [key(1)])
            try db.execute(sql: "UPDATE note SET color = 1")
            try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'b')", arguments: [key(2)])
            try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(1)])
        }
        #expect(try notes.sequence() == 1)
        #expect(try notes.state(rowID(1))?.state.liveDots.map(\.sequence) == [1])
        #expect(try notes.state(rowID(2))?.state.liveDots.map(\.sequence) == [1])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `a rolled-back transaction leaves no trace and gives its number to the next`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let before = try notes.store.summary()
        try notes.database.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "UPDATE note SET title = 'gone'")
                try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(2)])
                return .rollback
            }
        }
        #expect(try notes.store.summary() == before)
        try notes.execute("UPDATE note SET title = 'b'")
        #expect(try notes.state(rowID(1))?.sequences("title") == [2])
        #expect(try notes.state(rowID(2)) == nil)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a failing statement takes only itself back`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)])
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO note (id) VALUES (?), (?)", arguments: [key(2), key(1)])
            }
        }
        #expect(try notes.state(rowID(2)) == nil)
        #expect(try notes.sequence() == 1)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `INSERT OR ROLLBACK that fails ends the transaction`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try? notes.database.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN")
            try db.execute(sql: "UPDATE note SET title = 'b'")
            try db.execute(sql: "INSERT OR ROLLBACK INTO note (id) VALUES (?)", arguments: [key(1)])
        }
        #expect(try notes.sequence() == 1)
        try notes.execute("UPDATE note SET title = 'c'")
        #expect(try notes.state(rowID(1))?.sequences("title") == [2])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `what is written before and after ROLLBACK TO is one commit, the rest is gone`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            try db.execute(sql: "SAVEPOINT outer")
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)])
            try db.execute(sql: "SAVEPOINT inner")
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(2)])
            try db.execute(sql: "ROLLBACK TO inner")
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(3)])
            try db.execute(sql: "RELEASE inner")
            try db.execute(sql: "RELEASE outer")
        }
        #expect(try notes.sequence() == 1)
        #expect(try notes.state(rowID(2)) == nil)
        for number: UInt64 in [1, 3] { #expect(try notes.state(rowID(number))?.sequences("title") == [1]) }
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `the first write after everything was rolled back to a savepoint is numbered`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            try db.execute(sql: "SAVEPOINT s")
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)])
            try db.execute(sql: "ROLLBACK TO s")
            try db.execute(sql: "RELEASE s")
        }
        #expect(try notes.sequence() == 0)
        try notes.database.write { db in
            try db.execute(sql: "SAVEPOINT s")
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)])
            try db.execute(sql: "ROLLBACK TO s")
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(2)])
        }
        #expect(try notes.sequence() == 1)
        #expect(try notes.state(rowID(2))?.sequences("title") == [1])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `statements outside a transaction are commits of their own`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.writeWithoutTransaction { db in
            for number: UInt64 in 1...3 { try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
        }
        #expect(try notes.sequence() == 3)
        for number: UInt64 in 1...3 { #expect(try notes.state(rowID(number))?.sequences("title") == [number]) }
    }

    private static let triggerSQL = """
        CREATE TRIGGER copy AFTER INSERT ON note WHEN new.color IS NULL BEGIN
            INSERT INTO note (id, title, color) VALUES (x'ffffffffffffffffffffffffffffffff', new.title, 1);
            UPDATE note SET views = views + 1 WHERE id = new.id;
        END;
        CREATE TRIGGER retag AFTER UPDATE OF title ON note BEGIN
            UPDATE note SET tags = '["a","b"]' WHERE id = new.id;
        END;
        """

    @Test(arguments: Backend.allCases)
    func `triggers of the app that write tracked tables are part of the commit`(backend: Backend) throws {
        let notes = try TestStore(backend, sql: TestStore.noteSQL + ";" + Self.triggerSQL)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let copy = try #require(RowID(bytes: [UInt8](repeating: 255, count: 16)))
        #expect(try notes.state(copy)?.sequences("title") == [1])
        #expect(try notes.row(rowID(1))?["views"] == 1)
        #expect(try notes.sequence() == 1)
        try notes.execute("UPDATE note SET title = 'b', tags = '[\"a\"]'")
        guard case .set(let tags)? = try notes.state(rowID(1))?.cell("tags") else { return #expect(Bool(false), "tags is a set") }
        #expect(tags.elements.map { $0.dots.map(\.sequence) } == [[2], [2]])
        try notes.expectSound()
    }

    @Test func `a trigger of the app made while the store is open fails loudly until the store is opened again`() throws {
        let notes = try TestStore(.pool)
        try notes.execute(Self.triggerSQL)
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)]) }
        try notes.expectSound()
        notes.store.close()
        let again = try TestStore(.pool, folder: notes.folder)
        try again.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        #expect(try again.sequence() == 1)
        try again.expectSound()
    }

    @Test(arguments: Backend.allCases) func `deleted and inserted again in one transaction is a new life`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title, tags) VALUES (?, 'a', '[\"x\"]')", [key(1)])
        try notes.database.write { db in
            try db.execute(sql: "DELETE FROM note")
            try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'a')", arguments: [key(1)])
        }
        let state = try #require(try notes.state(rowID(1)))
        #expect(!state.isDeleted)
        #expect(state.sequences("title") == [2])
        #expect(try notes.row(rowID(1))?["tags"] == "[]")
        try notes.expectSound()
    }
}
