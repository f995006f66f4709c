// A journal and undo: what was changed, by which device, and taking back one's own step when another one has written since.
//
//   swift run journal-and-undo

import Foundation
import GRDB
import Kith

struct Item: Codable, Identifiable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"

    var id = UUID()
    var title: String
    var place = "fridge"
}

var migrator = DatabaseMigrator()
migrator.registerMigration("1") { db in
    try db.execute(
        sql: "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', place TEXT NOT NULL DEFAULT 'fridge')")
}

// A table with a journal keeps what each transaction has changed, in this file and for this file alone.
let (phone, laptop) = try await SyncedApp.pair(tables: [TrackedTable("item", journal: .days(30))], migrator: migrator)
let (soup, peas) = (Item(title: "Soup"), Item(title: "Peas"))
try phone.database.write { db in
    try soup.insert(db)
    try peas.insert(db)
}
try await phone.meet(laptop)

// One step of the phone's user.
let undo = phone.undo(scope: "list")
try undo.group("Move to freezer") { db in
    try db.execute(sql: "UPDATE item SET place = 'freezer'")
}
// The laptop's user has the soup for lunch before that is taken back.
try await phone.meet(laptop)
try laptop.database.write { db in
    try db.execute(sql: "UPDATE item SET place = 'table' WHERE id = ?", arguments: [soup.id])
}
try await laptop.meet(phone)

func show(_ words: String) throws {
    let items = try phone.database.read { try Item.order(sql: "title").fetchAll($0) }
    print(words + ": " + items.map { "\($0.title): \($0.place)" }.joined(separator: ", "))
}
try show("Before")
// What is still as the step left it goes back; the soup stays where the laptop put it, and the report says so.
let report = try undo.undo()
try show("After the undo")
for left in report?.left ?? [] { print("Left: \(left.column ?? "the row") of \(left.uuid == soup.id ? "the soup" : "the peas")") }
try undo.redo()
try show("After the redo")

// Why the soup is where it is, and what became of it.
let explanation = try phone.store.explain(table: "item", id: soup.id, column: "place")
print(
    "The soup was in \(explanation.history.count) changes; the last one came from another device: \(explanation.versions.first?.author != .own)"
)
