import Foundation
import GRDB
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Risk: an app's files are where nothing looks for them, the key is copied with the data, or a database that cannot be opened is lost.
@Suite struct AppOpeningTests {
    #if !canImport(Darwin)
    @Test func `folders follow the XDG Base Directory Specification`() throws {
        func folders(_ environment: [String: String]) throws -> SyncedApp.Folders? {
            try SyncedApp.Folders(.standard, of: Pantry.app, environment: environment)
        }
        let standard = try #require(try folders(["HOME": "/home/ada"]))
        #expect(standard.database.path == "/home/ada/.local/share/org.example.pantry/app.sqlite")
        #expect(standard.keys.path == "/home/ada/.config/org.example.pantry/keys")
        let own = try #require(try folders(["HOME": "/home/ada", "XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "relative"]))
        #expect(own.database.path == "/data/org.example.pantry/app.sqlite")
        #expect(own.keys.path == "/home/ada/.config/org.example.pantry/keys")
        // One folder for both would have the key copied with the data.
        let error = #expect(throws: SyncedAppError.self) { try folders(["XDG_DATA_HOME": "/one", "XDG_CONFIG_HOME": "/one"]) }
        #expect(error?.code == .unusableFolder)
    }
    #endif

    @Test func `keys lie apart from the data and are for their owner alone`() async throws {
        let folder = try TemporaryFolder()
        let app = try Pantry.open(in: folder.url)
        let folders = try #require(app.folders)
        #expect(folders.keys.deletingLastPathComponent() != folders.database.deletingLastPathComponent())
        for path in [folders.keys.path, folders.database.deletingLastPathComponent().path, folders.database.path] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "\(path)")
        }
        try await app.close()
        let data = folders.database.deletingLastPathComponent()
        for keys in [data, data.appending(path: "keys")] {
            let error = #expect(throws: SyncedAppError.self) {
                try SyncedApp(Pantry.app, tables: Pantry.tables, at: .database(folders.database, keys: keys))
            }
            #expect(error?.code == .unusableFolder)
        }
    }

    @Test func `an existing database is adopted with its triggers and its index`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "old/pantry.sqlite")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Self.makeOldDatabase(file)
        var options = SyncedApp.Options()
        options.isInProcess = true
        let keys = folder.url.appending(path: "keys")
        let phone = try SyncedApp(
            Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .database(file, keys: keys), options: options)
        let laptop = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try await phone.meet(laptop)
        #expect(try laptop.titles() == ["Milk"])
        try await laptop.database.write { try $0.execute(sql: "UPDATE item SET title = 'Oat milk'") }
        try await laptop.meet(phone)
        let found = try await phone.database.read { db in
            try String.fetchAll(db, sql: "SELECT title FROM search WHERE search MATCH 'oat'")
        }
        #expect(found == ["Oat milk"])
        try await phone.close()
    }

    /// As an app without Kith has it: the tables of its first migration, a row, a full text index and the triggers that keep it.
    private static func makeOldDatabase(_ file: URL) throws {
        let pool = try DatabasePool(path: file.path)
        try Pantry.migrator.migrate(pool)
        try pool.write { db in
            try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, 'Milk')", arguments: [UUID()])
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE search USING fts5(title);
                    INSERT INTO search(rowid, title) SELECT rowid, title FROM item;
                    CREATE TRIGGER search_update AFTER UPDATE OF title ON item BEGIN
                        DELETE FROM search WHERE rowid = old.rowid;
                        INSERT INTO search(rowid, title) VALUES (new.rowid, new.title);
                    END
                    """)
        }
        try pool.close()
    }

    @Test func `a table that cannot be tracked and a migration that fails are told apart`() throws {
        let folder = try TemporaryFolder()
        var migrator = Pantry.migrator
        let rejected = #expect(throws: SyncedAppError.self) {
            try SyncedApp(Pantry.app, migrator: migrator, tables: [TrackedTable("nothing")], at: .folder(folder.url))
        }
        #expect(rejected?.code == .tableRejected && rejected?.underlyingError is StoreError)
        migrator.registerMigration("2") { db in try db.execute(sql: "ALTER TABLE nowhere ADD COLUMN x") }
        let failed = #expect(throws: SyncedAppError.self) {
            try SyncedApp(Pantry.app, migrator: migrator, tables: Pantry.tables, at: .folder(folder.url))
        }
        #expect(failed?.code == .migration && failed?.recoveries == [])
        #expect(failed?.message.contains("nowhere") == true)
    }

    @Test func `data that is gone is not replaced unless a person says so`() async throws {
        let folder = try TemporaryFolder()
        let app = try Pantry.open(in: folder.url)
        let laptop = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try app.add("Milk")
        try await app.meet(laptop)
        let file = try #require(app.folders?.database)
        try await app.close()
        for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + name) }
        let error = #expect(throws: SyncedAppError.self) { try Pantry.open(in: folder.url) }
        #expect(error?.code == .lost && error?.recoveries == [.refill])
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let refilled = try Pantry.open(in: folder.url) { $0.recovery = .refill }
        #expect(try refilled.titles() == [])
        try await refilled.meet(laptop)
        #expect(try refilled.titles() == ["Milk"])
        try await refilled.close()
    }

    @Test func `a damaged file is put aside and refilled`() async throws {
        let folder = try TemporaryFolder()
        let app = try Pantry.open(in: folder.url)
        let laptop = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try app.add("Milk")
        try await app.meet(laptop)
        let file = try #require(app.folders?.database)
        try await app.close()
        for name in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + name) }
        let handle = try FileHandle(forUpdating: file)
        try handle.write(contentsOf: Data(repeating: 0xAA, count: 64 << 10))
        try handle.close()
        let error = #expect(throws: SyncedAppError.self) { try Pantry.open(in: folder.url) }
        #expect(error?.code == .corrupt, "\(error?.message ?? "")")
        #expect(error?.recoveries == [.refill])
        let refilled = try Pantry.open(in: folder.url) { $0.recovery = .refill }
        try await refilled.meet(laptop)
        #expect(try refilled.titles() == ["Milk"])
        let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
        #expect(names.contains { $0.hasPrefix("app.sqlite.lost-") })
        try await refilled.close()
    }

    @Test func `a database that cannot be written is read as a copy if the app says so`() async throws {
        let folder = try TemporaryFolder()
        let app = try Pantry.open(in: folder.url)
        try app.add("Milk")
        let file = try #require(app.folders?.database)
        try await app.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try await app.close()
        // What stands where the log of the database would be made keeps everybody from writing, root included.
        for name in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + name) }
        try FileManager.default.createDirectory(atPath: file.path + "-wal/x", withIntermediateDirectories: true)
        let error = #expect(throws: SyncedAppError.self) { try Pantry.open(in: folder.url) }
        #expect(error?.code == .readOnly && error?.recoveries == [.readOnlyCopy], "\(error?.message ?? "")")
        for isReadOnly in [false, true] {
            let copy = try Pantry.open(in: folder.url) { options in
                options.recovery = .readOnlyCopy
                options.configuration.readonly = isReadOnly
            }
            #expect(copy.readOnlyReason != nil)
            #expect(try copy.titles() == ["Milk"])
            #expect(throws: (any Error).self) { try copy.add("Bread") }
            #expect(try copy.titles() == ["Milk"])
            copy.start()
            #expect(!copy.isStarted)
            try await copy.close()
        }
    }

    @Test func `a key that cannot be read is named, and left as it is`() async throws {
        let folder = try TemporaryFolder()
        let app = try Pantry.open(in: folder.url)
        let keys = try #require(app.folders?.keys)
        try await app.close()
        let key = try #require(
            try FileManager.default.contentsOfDirectory(at: keys, includingPropertiesForKeys: nil).first {
                $0.lastPathComponent == "device.key"
            })
        let garbage = Data("no key".utf8)
        let handle = try FileHandle(forWritingTo: key)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: garbage)
        try handle.close()
        let error = #expect(throws: SyncedAppError.self) { try Pantry.open(in: folder.url) }
        #expect(error?.code == .identity && (error?.underlyingError as? TrustError)?.code == .corruptedKey, "\(error?.message ?? "")")
        #expect(try Data(contentsOf: key) == garbage)
    }

    @Test func `a database without a store of its own is nobody's to put aside`() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "data/app.sqlite")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8_192).write(to: file)
        let error = #expect(throws: SyncedAppError.self) { try Pantry.open(in: folder.url) { $0.recovery = .refill } }
        #expect(error?.code == .notAStore)
        #expect(try Data(contentsOf: file).count == 8_192)
    }
}
