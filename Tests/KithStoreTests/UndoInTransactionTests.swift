import Foundation
import GRDB
import KithStore
import TestSupport
import Testing

@Suite("An undo within a transaction of the app is not a part of it, or stays when that is rolled back", .timeLimit(.minutes(5)))
struct UndoInTransactionTests {
    @Test func `an undo within a transaction of the app is a part of it, with what else it writes`() throws {
        let store = try HistoryTests.store()
        let undo = store.store.undo(scope: "editor")
        try store.execute("INSERT INTO item (id, title, n) VALUES (?, 'Milk', 1)", [key(1)])
        try undo.group("Rename") { try $0.execute(sql: "UPDATE item SET title = 'Cream', n = 5") }
        try store.database.write { db in
            try store.store.setAuthor("editor", db)
            #expect(try #require(try undo.undo(db)).isWhole)
            try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, 'taken back')", arguments: [key(2)])
            #expect(try undo.nextRedo(db)?.title == "Rename")
            #expect(try undo.nextUndo(db) == nil)
        }
        #expect(try UndoTests.rows(store).map { $0["title"] as String? } == ["Milk", "taken back"])
        #expect(try store.store.history().last?.author == "editor")
        let sequence = try store.sequence()
        #expect(try store.database.write { db in try undo.redo(db) }?.isWhole == true)
        #expect(try UndoTests.rows(store).map { $0["title"] as String? } == ["Cream"])
        // One transaction is one commit.
        #expect(try store.sequence() == sequence + 1)
        #expect(try undo.nextUndo()?.title == "Rename")
        try store.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `an undo that is rolled back, whole or to a savepoint, has not been`(backend: Backend) throws {
        let store = try HistoryTests.store(backend)
        let undo = store.store.undo(scope: "editor")
        try store.execute("INSERT INTO item (id, title) VALUES (?, 'a')", [key(1)])
        try undo.group("first") { try $0.execute(sql: "UPDATE item SET title = 'b'") }
        try undo.group("second") { try $0.execute(sql: "UPDATE item SET title = 'c'") }
        struct Cancelled: Error {}
        #expect(throws: Cancelled.self) {
            try store.database.write { db in
                _ = try undo.undo(db)
                #expect(try String.fetchOne(db, sql: "SELECT title FROM item") == "b")
                throw Cancelled()
            }
        }
        #expect(try UndoTests.title(store) == "c")
        #expect(try undo.nextUndo()?.title == "second" && undo.nextRedo() == nil)
        // The rest of the transaction is no step of the editor's.
        try store.database.write { db in
            try db.inSavepoint {
                _ = try undo.undo(db)
                return .rollback
            }
            #expect(try undo.nextUndo(db)?.title == "second")
            try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, 'other')", arguments: [key(2)])
        }
        #expect(try undo.nextUndo()?.title == "second" && undo.nextRedo() == nil)
        #expect(try store.store.history().last?.changes.map(\.kind) == [.insert])
        // And it can be one, or an undo, after all.
        try store.database.write { db in
            try db.inSavepoint {
                _ = try undo.undo(db)
                return .rollback
            }
            #expect(try #require(try undo.undo(db)).isWhole)
        }
        #expect(try undo.nextUndo()?.title == "first" && undo.nextRedo()?.title == "second")
        try store.database.write { db in
            try db.inSavepoint {
                _ = try undo.redo(db)
                return .rollback
            }
            try undo.mark(db, "third")
            try db.execute(sql: "UPDATE item SET title = 'd' WHERE title = 'b'")
        }
        #expect(try undo.nextUndo()?.title == "third" && undo.nextRedo() == nil)
        try store.expectSound()
    }

    @Test func `a transaction is one step, one undo or one redo`() throws {
        let store = try HistoryTests.store()
        let undo = store.store.undo(scope: "editor")
        try store.execute("INSERT INTO item (id, title) VALUES (?, 'a')", [key(1)])
        try undo.group("first") { try $0.execute(sql: "UPDATE item SET title = 'b'") }
        try undo.group("second") { try $0.execute(sql: "UPDATE item SET title = 'c'") }
        func isRefused(_ body: () throws -> Void) {
            #expect { try body() } throws: { ($0 as? StoreError)?.message.contains("already") == true }
        }
        try store.database.write { db in
            _ = try undo.undo(db)
            isRefused { _ = try undo.undo(db) }
            isRefused { _ = try undo.redo(db) }
            isRefused { try undo.mark(db, "third") }
            isRefused { _ = try store.store.undo(scope: "other").undo(db) }
        }
        #expect(try UndoTests.title(store) == "b")
        try store.database.write { db in
            try undo.mark(db, "third")
            try db.execute(sql: "UPDATE item SET title = 'd'")
            isRefused { _ = try undo.undo(db) }
        }
        #expect(try undo.nextUndo()?.title == "third")
        #expect(try UndoTests.title(store) == "d")
        // An access that only reads takes nothing back.
        #expect(throws: (any Error).self) { try store.database.read { _ = try undo.undo($0) } }
        #expect(try undo.nextUndo()?.title == "third")
    }

    @Test func `an undo that finds nothing to change ends its step, within a transaction too`() throws {
        let store = try HistoryTests.store()
        let undo = store.store.undo(scope: "editor")
        try store.execute("INSERT INTO item (id, title) VALUES (?, 'a')", [key(1)])
        try undo.group("first") { try $0.execute(sql: "UPDATE item SET title = 'b'") }
        try store.execute("UPDATE item SET title = 'c'")
        #expect(try store.database.write { db in try undo.undo(db) }?.left.count == 1)
        #expect(try undo.nextUndo() == nil && undo.nextRedo()?.title == "first")
    }

    @Test func `a reversion within a transaction of the app goes with it`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        try here.execute("INSERT INTO item (id, title) VALUES (?, 'Milk')", [key(1)])
        try there.receive(from: here)
        let moment = try #require(try here.store.history().last?.date)
        try there.execute("UPDATE item SET title = 'spam'")
        try here.receive(from: there)
        try here.database.write { db in
            try db.inSavepoint {
                _ = try here.store.revert(db, device: .unknown, since: moment.addingTimeInterval(0.001))
                #expect(try String.fetchOne(db, sql: "SELECT title FROM item") == "Milk")
                return .rollback
            }
            #expect(try String.fetchOne(db, sql: "SELECT title FROM item") == "spam")
            let report = try here.store.revert(db, device: .unknown, since: moment.addingTimeInterval(0.001))
            #expect(report.isWhole && report.rowsChanged == 1)
            try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, 'kept')", arguments: [key(2)])
        }
        #expect(try UndoTests.rows(here).map { $0["title"] as String? } == ["Milk", "kept"])
        #expect(try here.store.history().last?.changes.count == 2)
        try here.expectSound()
    }
}
