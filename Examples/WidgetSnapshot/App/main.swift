// A snapshot for a widget: the app keeps the answer of a query in a small file, which is renewed when something is committed or merged.
//
//   swift run widget-snapshot FILE
//
// The widget, which needs no database, is beside it.

import Foundation
import GRDB
import Kith

struct Item: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"

    var id = UUID()
    var title: String
}

var migrator = DatabaseMigrator()
migrator.registerMigration("1") { db in
    try db.execute(sql: "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '')")
}

let file = URL(filePath: CommandLine.arguments.dropFirst().first ?? "items.snapshot")
let (phone, laptop) = try await SyncedApp.pair(tables: [TrackedTable("item")], migrator: migrator)

// The first five, by title. The file is written only if they are others.
let snapshot = phone.snapshot("items", to: file) { db in try Item.order(Column("title")).limit(5).fetchAll(db) }
let keeping = Task { await snapshot.run() }

// Another device writes; when it meets this one, the file follows by itself.
try laptop.database.write { db in
    for title in ["Milk", "Bread", "Apples"] { try Item(title: title).insert(db) }
}
try await laptop.meet(phone)
try await Task.sleep(for: .seconds(1))
keeping.cancel()
