// An app that was there before: from numbers and names to ids, and then two devices that restored the same backup.
//
// `App/PantryBefore.swift` is the app as it was, `App/Pantry.swift` what was changed.

import Foundation
import GRDB
import Kith
import Testing

@testable import AdoptedPantryProgram

@Suite struct PantryTests {
    /// A device that has restored the backup and updated the app.
    private static func device() throws -> SyncedDatabase {
        let database = try DatabaseQueue()
        try PantryBefore.migrator.migrate(database)
        try database.write { try $0.execute(sql: PantryBefore.rows) }
        return try Pantry.open(database)
    }

    private static func text(_ device: SyncedDatabase, _ sql: String) throws -> [String] {
        try device.database.read { try String.fetchAll($0, sql: sql) }
    }

    private static func meet(_ a: SyncedDatabase, _ b: SyncedDatabase) throws {
        try a.pull(from: b)
        try b.pull(from: a)
        try a.pull(from: b)
        for device in [a, b] { #expect(try device.verify().problems == []) }
    }

    private static func search(_ device: SyncedDatabase, _ word: String) throws -> [String] {
        try text(
            device, "SELECT recipe.title FROM recipe JOIN recipeText ON recipeText.rowid = recipe.rowid WHERE recipeText MATCH '\(word)' ORDER BY recipe.title")
    }

    @Test func `what must change is known before anything is changed`() throws {
        let database = try DatabaseQueue()
        try PantryBefore.migrator.migrate(database)
        try database.write { try $0.execute(sql: PantryBefore.rows) }
        let check = try SyncedDatabase.check(database, tables: Pantry.tables)
        #expect(Set(check.problems.map { "\($0.table) \($0.code)" }) == ["recipe key", "recipe missingDefault", "recipe check", "ingredient key", "item key", "journal key"])
        #expect(check.keys?.tables.map(\.name).sorted() == ["ingredient", "item", "journal", "recipe"])
        let after = try Pantry.open(database)
        after.close()
        #expect(try SyncedDatabase.check(database, tables: Pantry.tables).isReady)
    }

    @Test func `everything is there after the update, with its relations, its index and its trigger`() throws {
        let device = try Self.device()
        #expect(try Self.text(device, "SELECT ingredient || shop || amount FROM shopping") == ["FlourMill5"])
        #expect(try Self.text(device, "SELECT j.day || r.title FROM journal j JOIN recipe r ON r.id = j.recipe") == ["2026-11-20Bread"])
        #expect(try Self.search(device, "boil") == ["Soup"])
        try device.database.write { db in
            try db.execute(sql: "UPDATE recipe SET steps = 'Simmer.' WHERE title = 'Soup'; INSERT INTO recipe (title) VALUES ('Stew')")
        }
        #expect(try Self.search(device, "boil") == [])
        #expect(try Self.search(device, "simmer OR stew") == ["Soup", "Stew"])
        #expect(try Self.text(device, "SELECT updatedAt FROM recipe WHERE title = 'Soup'") == ["2026-11-21"])
        #expect(try device.verify().problems == [])
    }

    @Test func `two devices with the same backup have one pantry, and what each does is on both`() throws {
        let (phone, laptop) = (try Self.device(), try Self.device())
        try Self.meet(phone, laptop)
        for device in [phone, laptop] {
            #expect(try Self.text(device, "SELECT title || cooked || labels FROM recipe ORDER BY title") == ["Bread1[]", "Soup4[\"warm\"]"])
        }
        for (device, label, step) in [(phone, "cheap", " Stir."), (laptop, "quick", " Serve.")] {
            try device.database.write { db in
                var soup = try #require(try Recipe.filter(Column("title") == "Soup").fetchOne(db))
                soup.labels.insert(label)
                soup.cooked += 1
                soup.steps += step
                try soup.update(db)
                var bread = try #require(try Recipe.filter(Column("title") == "Bread").fetchOne(db))
                #expect(bread.course == .unknown("brunch"))
                bread.title = "Rye bread"
                try bread.update(db)
                try db.execute(sql: "INSERT INTO journal (id, day, text) VALUES (kith_key('journal', '2026-11-21'), '2026-11-21', ?)", arguments: [label])
            }
        }
        try laptop.database.write { try $0.execute(sql: "DELETE FROM ingredient WHERE name = 'Flour'") }
        try Self.meet(phone, laptop)
        for device in [phone, laptop] {
            let soup = try #require(try device.database.read { try Recipe.filter(Column("title") == "Soup").fetchOne($0) })
            #expect(soup.labels == ["warm", "cheap", "quick"])
            #expect(soup.cooked.value == 6)
            #expect(soup.steps.contains("Stir.") && soup.steps.contains("Serve."))
            #expect(try Self.search(device, "stir AND serve") == ["Soup"])
            #expect(try Self.text(device, "SELECT course FROM recipe WHERE title = 'Rye bread'") == ["brunch"])
            #expect(try Self.text(device, "SELECT ingredient FROM shopping") == [])
            #expect(try Self.text(device, "SELECT day FROM journal ORDER BY day") == ["2026-11-20", "2026-11-21"])
        }
    }
}
