import Foundation
import GRDB
import Kith
import KithTesting

// The code of docs/testing.md, compiled like that of the other pages.

func statedInvariants(_ migrator: DatabaseMigrator, tables: [TrackedTable]) -> SimulatedSchema {
    var schema = SimulatedSchema(tables: tables) { database in try migrator.migrate(database) }
    schema.invariants = [
        .always("a shop counts its items") { db in
            let wrong = try String.fetchAll(
                db, sql: "SELECT name FROM shop WHERE items <> (SELECT count(*) FROM item WHERE item.shop = shop.name)")
            return wrong.isEmpty ? nil : "The counts of \(wrong) are wrong."
        },
        .converged("a day has one entry") { db in
            let days = try String.fetchAll(db, sql: "SELECT date FROM day GROUP BY date HAVING count(*) > 1")
            return days.isEmpty ? nil : "\(days) have several."
        },
    ]
    return schema
}

func timeOfTests(_ migrator: DatabaseMigrator) async throws {
    let clock = TestClock()
    var options = SyncedApp.Options()
    options.store = SyncedDatabase.Options(clock: clock)
    let (phone, laptop) = try await SyncedApp.pair(tables: [TrackedTable("item", journal: .days(30))], migrator: migrator, options: options)
    try await phone.database.write { db in try Item(title: "Milk", due: clock.now + 3_600).insert(db) }
    clock.advance(by: .seconds(7_200))
    let due = try await phone.database.read { db in try Item.filter(Column("due") < clock.now).fetchCount(db) }
    let written = try phone.store.history().map(\.date)
    try await phone.meet(laptop)
    print(due, written)
}
