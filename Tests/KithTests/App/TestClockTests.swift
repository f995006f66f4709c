import Foundation
import GRDB
import Kith
import KithTesting
import Testing

/// Risk: a test of an app sets the time, and the store goes by another one.
@Suite struct TestClockTests {
    private static let begin = Date(timeIntervalSince1970: 1_800_000_000)
    private let clock = TestClock(Self.begin)

    private func pair() async throws -> (SyncedApp, SyncedApp) {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(
                sql: "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL DEFAULT (kith_uuid()), title TEXT NOT NULL DEFAULT '')")
        }
        var options = SyncedApp.Options()
        options.store = SyncedDatabase.Options(clock: clock)
        return try await SyncedApp.pair(tables: [TrackedTable("item", journal: .days(30))], migrator: migrator, options: options)
    }

    @Test func `what is written stands at the time of the clock, on the other device, too`() async throws {
        let (phone, laptop) = try await pair()
        try await phone.database.write { try $0.execute(sql: "INSERT INTO item (title) VALUES ('Milk')") }
        clock.advance(by: .seconds(86_400))
        try await phone.database.write { try $0.execute(sql: "UPDATE item SET title = 'Tea'") }
        try await phone.meet(laptop)
        #expect(try phone.store.history().map(\.date) == [Self.begin, Self.begin + 86_400])
        let id = try await laptop.database.read { try UUID.fetchOne($0, sql: "SELECT id FROM item") }
        let version = try laptop.store.explain(table: "item", id: try #require(id), column: "title").versions.first
        #expect(version?.stamp.timestamp.milliseconds == Int64(clock.now.timeIntervalSince1970) * 1_000)
        try await phone.close()
        try await laptop.close()
    }

    @Test func `a deleted row leaves the trash when the clock says so`() async throws {
        let (phone, laptop) = try await pair()
        try await phone.database.write { try $0.execute(sql: "INSERT INTO item (title) VALUES ('Milk')") }
        try await phone.database.write { try $0.execute(sql: "DELETE FROM item") }
        #expect(try phone.store.trash().map(\.deletedMilliseconds) == [Int64(Self.begin.timeIntervalSince1970) * 1_000])
        clock.advance(by: .milliseconds(SyncedDatabase.trashMilliseconds - 1))
        #expect(try phone.store.trash().count == 1)
        clock.advance(by: .milliseconds(2))
        #expect(try phone.store.trash().isEmpty)
        try await phone.close()
        try await laptop.close()
    }

    @Test(arguments: [-1, 1e15, .nan, .infinity])
    func `a clock that shows no time of ours stops at the nearest one`(seconds: Double) async throws {
        clock.now = Date(timeIntervalSince1970: seconds)
        let (phone, laptop) = try await pair()
        try await phone.database.write { try $0.execute(sql: "INSERT INTO item (title) VALUES ('Milk')") }
        try await phone.meet(laptop)
        #expect(try await laptop.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 1)
        try await phone.close()
        try await laptop.close()
    }
}
