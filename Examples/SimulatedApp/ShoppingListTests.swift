// Your own tables, on machines that fail on purpose.
//
//   swift test
//
// Five simulated machines share the shopping list: real SQLite, the real protocol, virtual time. Connections break, links
// split, processes die, clocks lie, disks fill up. Whatever happens, what a user wrote must be shown, or have been
// overwritten by someone who saw it, or be kept as an alternative. A seed that fails is cut down to a short script.

import GRDB
import KithTesting
import Testing

/// As the app has it.
enum ShoppingList {
    static let tables = [TrackedTable("item", sets: ["shops"], counters: ["count"])]

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (
                        id    BLOB PRIMARY KEY NOT NULL,
                        name  TEXT NOT NULL DEFAULT '',
                        shops TEXT NOT NULL DEFAULT '[]',
                        count INTEGER NOT NULL DEFAULT 1)
                    """)
        }
        return migrator
    }
}

@Suite struct ShoppingListTests {
    static let schema = SimulatedSchema(tables: ShoppingList.tables) { try ShoppingList.migrator.migrate($0) }

    @Test func `nothing on the list is lost, whatever happens`() throws {
        // A debug build takes its time: let `kith lab sim --schema app.sql --seeds 300`, or `swift test -c release`, run many.
        let failures = try KithSimulator(Self.schema).failures(seeds: 0..<3)
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `two people change the same item while they are apart`() throws {
        let script = try Script(
            parsing: """
                nodes 2
                A: insert item 1 name='milk' count=1
                sync A B
                cut A B
                A: update item 1 name='oat milk'
                B: count item 1 count=2
                B: delete item 1
                """)
        #expect(try KithSimulator(Self.schema).run(script).violation == nil)
    }
}
