import Foundation
import GRDB
import KithStore

/// Gives the rows of a database new ids and has them adopted, and says what is done: for tests that kill it.
enum CrashMigrator {
    static func run(path: String) throws {
        let database = try DatabaseQueue(path: path)
        say("begin")
        try KeyMigration(tables, form: .text).run(on: database)
        say("migrated")
        _ = try SyncedDatabase(database, tables: tables)
        say("adopted")
        while true { sleep(1) }
    }

    private static let tables = [TrackedTable("recipe"), TrackedTable("step")]

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
