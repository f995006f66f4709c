import GRDB
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
