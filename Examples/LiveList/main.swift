// A live list: what is different, row by row, in place of the whole list anew.
//
//   swift run live-list
//
// Two devices of one person, here in memory. The laptop shows a list in an order, and is told of each change, the laptop's own and the phone's.

import Foundation
import GRDB
import Kith

struct Errand: Codable, Identifiable, Hashable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "errand"

    var id = UUID()
    var title: String
    /// Higher is nearer the top.
    var weight = 0
}

var migrator = DatabaseMigrator()
migrator.registerMigration("1") { db in
    try db.execute(
        sql: "CREATE TABLE errand (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', weight INTEGER NOT NULL DEFAULT 0)")
}

let (phone, laptop) = try await SyncedApp.pair(tables: [TrackedTable("errand")], migrator: migrator)
let (milk, plants) = (Errand(title: "Buy milk", weight: 2), Errand(title: "Water the plants", weight: 1))

// A screen that is told what to do, as a table view is.
let screen = Task {
    for try await change in laptop.live(Errand.order(Column("weight").desc)) {
        for place in change.difference.removals { print("  - row \(place.offset)") }
        for place in change.difference.insertions { print("  + row \(place.offset): \(change.rows[place.offset].title)") }
        for move in change.difference.moves { print("  row \(move.from) goes to \(move.to): \(change.rows[move.to].title)") }
        for update in change.difference.updates {
            print(
                "  row \(update.offset) changes its \(update.columns.sorted().joined(separator: ", ")): \(change.rows[update.offset].title)"
            )
        }
    }
}

func step(_ what: String, _ body: () async throws -> Void) async throws {
    print(what)
    try await body()
    try await Task.sleep(for: .milliseconds(300))
}

try await step("The phone has two errands, and meets the laptop:") {
    try await phone.database.write { db in
        try milk.insert(db)
        try plants.insert(db)
    }
    try await phone.meet(laptop)
}
try await step("On the laptop the plants become urgent:") {
    try await laptop.database.write { db in try db.execute(sql: "UPDATE errand SET weight = 3 WHERE id = ?", arguments: [plants.id]) }
}
try await step("On the phone the milk gets a better name:") {
    try await phone.database.write { db in
        try db.execute(sql: "UPDATE errand SET title = 'Buy oat milk' WHERE id = ?", arguments: [milk.id])
    }
    try await phone.meet(laptop)
}
try await step("It is bought:") {
    try await phone.database.write { db in try db.execute(sql: "DELETE FROM errand WHERE id = ?", arguments: [milk.id]) }
    try await phone.meet(laptop)
}
screen.cancel()
