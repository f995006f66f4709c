import Foundation
import GRDB
import Kith

/// An app of the tests: a pantry, with a table that refers to another one, texts, sets, counters and attachments.
enum Pantry {
    static let app: AppID = "org.example.pantry"

    static let tables = [
        TrackedTable("recipe", texts: ["steps"]), TrackedTable("item", sets: ["shops"], counters: ["count"], attachments: ["photo"]),
    ]

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE recipe (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', steps TEXT NOT NULL DEFAULT '');
                    CREATE TABLE item (
                        id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', shops TEXT NOT NULL DEFAULT '[]',
                        count INTEGER NOT NULL DEFAULT 0, photo TEXT, recipe BLOB REFERENCES recipe ON DELETE CASCADE)
                    """)
        }
        return migrator
    }

    static func pair(_ options: SyncedApp.Options = SyncedApp.Options()) async throws -> (SyncedApp, SyncedApp) {
        try await SyncedApp.pair(app, tables: tables, migrator: migrator, options: options)
    }

    /// In a folder, and with apps of this process only.
    static func open(in folder: URL, _ change: (inout SyncedApp.Options) -> Void = { _ in }) throws -> SyncedApp {
        var options = SyncedApp.Options()
        options.isInProcess = true
        change(&options)
        return try SyncedApp(app, migrator: migrator, tables: tables, at: .folder(folder), options: options)
    }
}

extension SyncedApp {
    @discardableResult
    func add(_ title: String, photo: AttachmentID? = nil) throws -> UUID {
        let id = UUID()
        try database.write {
            try $0.execute(sql: "INSERT INTO item (id, title, photo) VALUES (?, ?, ?)", arguments: [id, title, photo?.description])
        }
        return id
    }

    func titles() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT title FROM item ORDER BY title") }
    }

    /// Waits until `condition` holds; fails after a minute.
    func until(_ condition: () throws -> Bool) async throws {
        for _ in 0..<12_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw NotInTime(status: status)
    }

    struct NotInTime: Error {
        let status: NodeStatus
    }
}
