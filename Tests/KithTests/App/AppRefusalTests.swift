import CFaultVFS
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Kith

/// Risk: an app is told something wrong about a database that another process holds or a disk that is full, or what it had is half changed.
@Suite(.timeLimit(.minutes(2))) struct AppRefusalTests {
    /// The next version of the app: another table, and a column that gets a value.
    private static var nextMigrator: DatabaseMigrator {
        var migrator = Pantry.migrator
        migrator.registerMigration("2") { db in
            try db.execute(
                sql: """
                    CREATE TABLE shop (id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
                    ALTER TABLE item ADD COLUMN shelf TEXT;
                    UPDATE item SET shelf = title || hex(zeroblob(2000))
                    """)
        }
        return migrator
    }

    private static let nextTables = Pantry.tables + [TrackedTable("shop")]

    private static func openNext(in folder: URL, _ change: (inout SyncedApp.Options) -> Void = { _ in }) throws -> SyncedApp {
        var options = SyncedApp.Options()
        options.isInProcess = true
        change(&options)
        return try SyncedApp(Pantry.app, migrator: nextMigrator, tables: nextTables, at: .folder(folder), options: options)
    }

    /// What the app had before it was updated.
    private static func fill(_ folder: URL) async throws -> URL {
        let app = try Pantry.open(in: folder)
        for title in ["Milk", "Salt", "Tea"] { try app.add(title) }
        let file = try #require(app.folders?.database)
        try await app.close()
        return file
    }

    /// Either nothing was changed, or all was.
    private static func expectWhole(_ folder: URL) async throws {
        let app = try openNext(in: folder)
        #expect(try app.titles() == ["Milk", "Salt", "Tea"])
        let shelves = try await app.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item WHERE length(shelf) > 4000") }
        #expect(shelves == 3)
        #expect(try app.store.verify().isSound)
        try await app.close()
    }

    @Test(arguments: [true, false])
    func `a database that another process holds for too long is busy, and opened later`(isNew: Bool) async throws {
        let folder = try TemporaryFolder()
        let place = SyncedApp.Place.folder(folder.url)
        if !isNew { _ = try await Self.fill(folder.url) }
        let file = try #require(try SyncedApp.Folders(place, of: Pantry.app)).database
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: file.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE") }
        for isUpdate in [false, true] {
            let error = #expect(throws: SyncedAppError.self) {
                let open = isUpdate ? Self.openNext : Pantry.open
                _ = try open(folder.url) { $0.configuration.busyMode = .timeout(0.05) }
            }
            #expect(error?.code == .busy && error?.recoveries == [], "\(error?.message ?? "")")
            #expect(error?.underlyingError != nil)
        }
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        let app = try Self.openNext(in: folder.url)
        #expect(try app.titles() == (isNew ? [] : ["Milk", "Salt", "Tea"]))
        try await app.close()
    }

    @Test func `a full disk is named wherever it is noticed, changes nothing, and leaves a copy to read`() async throws {
        var failures = 0
        for extraPages in 0..<200 {
            let folder = try TemporaryFolder()
            let file = try await Self.fill(folder.url)
            let pages = try await DatabaseQueue(path: file.path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
            func limit(_ options: inout SyncedApp.Options) {
                options.configuration.prepareDatabase { db in
                    // The copy in memory has all the room that there is.
                    let file = try String.fetchOne(db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")
                    if file?.isEmpty == false { try db.execute(sql: "PRAGMA max_page_count = \(pages + extraPages)") }
                }
            }
            do {
                try await Self.openNext(in: folder.url, limit).close()
                break
            } catch let error as SyncedAppError {
                failures += 1
                #expect(error.code == .diskFull && error.recoveries == [.readOnlyCopy], "\(extraPages) pages: \(error.message)")
                if extraPages % 5 == 0 {
                    let copy = try Self.openNext(in: folder.url) {
                        limit(&$0)
                        $0.recovery = .readOnlyCopy
                    }
                    #expect(copy.readOnlyReason != nil)
                    #expect(try copy.titles() == ["Milk", "Salt", "Tea"])
                    #expect(throws: (any Error).self) { try copy.add("Bread") }
                    try await copy.close()
                }
            }
            try await Self.expectWhole(folder.url)
        }
        #expect(failures > 5 && failures < 200)
    }

    @Test func `a disk that fills up in the midst of an opening leaves all as it was`() async throws {
        #expect(kith_fault_install() == 0)
        var failures = 0
        // Of the places where it may fill up every third one is tried, and in the long run every one.
        for writes in stride(from: 0, to: 400, by: Soak.count(3, soaking: 1)) {
            let folder = try TemporaryFolder()
            _ = try await Self.fill(folder.url)
            let disk = folder.url.resolvingSymlinksInPath().path
            try #require(kith_fault_disk_add(disk) == 0)
            defer { kith_fault_disk_remove(disk) }
            kith_fault_disk_fail(disk, Int64(writes), -1, ResultCode.SQLITE_FULL.rawValue)
            do {
                let app = try Self.openNext(in: folder.url)
                // What closes it may have no room to tidy up.
                try? await app.close()
            } catch let error as SyncedAppError {
                failures += 1
                #expect(error.code == .diskFull && error.recoveries == [.readOnlyCopy], "\(writes) writes: \(error.message)")
            }
            let hasFailed = kith_fault_disk_failures(disk) > 0
            kith_fault_disk_fail(disk, 0, 0, 0)
            try await Self.expectWhole(folder.url)
            if !hasFailed { break }
        }
        #expect(failures > 5 && failures < 400)
    }
}
