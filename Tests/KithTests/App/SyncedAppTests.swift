import Foundation
import GRDB
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Risk: what an app opens in three lines lacks something of what it would compose by hand.
@Suite(.timeLimit(.minutes(2))) struct SyncedAppTests {
    @Test func `two apps that are started show each other's rows at once`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        phone.start()
        laptop.start()
        try phone.add("Milk")
        try await laptop.until { try laptop.titles() == ["Milk"] }
        try laptop.add("Bread")
        try await phone.until { try phone.titles() == ["Bread", "Milk"] }
        try await phone.until { phone.status.state == .upToDate }
        await phone.stop()
        #expect(phone.status.state == .stopped)
        await laptop.stop()
    }

    @Test func `apps in memory merge what both wrote when they meet`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let id = try phone.add("Milk")
        try await phone.meet(laptop)
        for (app, shop) in [(phone, "Corner"), (laptop, "Market")] {
            try await app.database.write { db in
                try db.execute(
                    sql: "UPDATE item SET shops = ?, count = count + 2, title = ? WHERE id = ?", arguments: [#"["\#(shop)"]"#, shop, id])
            }
        }
        try await phone.meet(laptop)
        for app in [phone, laptop] {
            let row = try app.database.read { try Row.fetchOne($0, sql: "SELECT shops, count FROM item") }
            #expect(row?["shops"] == #"["Corner","Market"]"#)
            #expect(row?["count"] == 4)
            #expect(try app.store.conflicts().count == 1)
        }
        #expect(try phone.titles() == laptop.titles())
        #expect(!phone.isStarted && !laptop.isStarted)
    }

    @Test func `attachments come along in memory`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let photo = try phone.store.attach(content)
        try phone.add("Milk", photo: photo)
        try await phone.meet(laptop)
        guard case .present(let file) = laptop.store.attachmentState(photo) else {
            Issue.record("it is \(laptop.store.attachmentState(photo))")
            return
        }
        #expect([UInt8](try Data(contentsOf: file.url)) == content)
    }

    @Test func `what is in memory leaves nothing behind`() async throws {
        var folder: URL?
        do {
            let (phone, laptop) = try await Pantry.pair()
            try await phone.meet(laptop)
            folder = phone.trust.file.deletingLastPathComponent().deletingLastPathComponent()
            #expect(FileManager.default.fileExists(atPath: folder?.path ?? ""))
        }
        let path = try #require(folder?.path)
        for _ in 0..<12_000 where FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a third device gets what the first wrote from the second`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let tablet = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try phone.add("Milk")
        try await phone.meet(laptop)
        try await laptop.meet(tablet)
        #expect(try tablet.titles() == ["Milk"])
        // By now the phone has heard of it, or hears of it from the laptop.
        try tablet.add("Bread")
        try await tablet.meet(laptop)
        try await laptop.meet(phone)
        #expect(try phone.titles() == ["Bread", "Milk"])
        try await phone.until { phone.trust.devices.count == 2 }
        for app in [phone, laptop, tablet] { #expect(app.trust.household?.id == phone.trust.household?.id) }
    }

    @Test func `when a meeting is over each of the two knows that it was complete`() async throws {
        for number in 0..<10 {
            let (phone, laptop) = try await Pantry.pair()
            try phone.add("Milk \(number)")
            try await phone.meet(laptop)
            for app in [phone, laptop] { #expect(app.status.peers.first?.lastSyncMilliseconds != nil) }
        }
    }

    @Test func `two that a third has brought into one household meet although they have not heard of each other; none meets itself`()
        async throws
    {
        let (phone, laptop) = try await Pantry.pair()
        let tablet = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try await phone.meet(laptop)
        try await phone.meet(tablet)
        try tablet.add("Of the tablet")
        try await laptop.meet(tablet)
        #expect(try laptop.titles() == ["Of the tablet"])
        await #expect(throws: SyncedAppError.self) { try await phone.meet(phone) }
    }

    @Test func `an app meets two others at once`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let tablet = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try await phone.meet(laptop)
        try phone.introduce(to: tablet)
        try await phone.meet(tablet)
        // The first meeting is over when the second one has only begun.
        for round in 0..<3 {
            for row in 0..<500 { try tablet.add("Of the tablet, \(round), \(row)") }
            async let first: Void = phone.meet(laptop)
            async let second: Void = phone.meet(tablet)
            _ = try await (first, second)
            #expect(!phone.isStarted && phone.status.state == .stopped && tablet.status.state == .stopped)
            try await phone.meet(laptop)
            #expect(try laptop.titles() == tablet.titles())
        }
    }

    @Test(arguments: [true, false])
    func `a meeting ends when one of the two is stopped`(isFirst: Bool) async throws {
        let (phone, laptop) = try await Pantry.pair()
        var (rows, error): (Int, SyncedAppError?) = (0, nil)
        // A meeting may be over before anybody stops it.
        while error == nil, rows < 100_000 {
            rows += 2_000
            try await phone.database.write {
                try $0.execute(
                    sql: """
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                        INSERT INTO item (id, title) SELECT randomblob(16), hex(randomblob(200)) FROM n
                        """)
            }
            let meeting = Task { () -> SyncedAppError? in
                do {
                    try await phone.meet(laptop)
                    return nil
                } catch {
                    return try #require(error as? SyncedAppError)
                }
            }
            while phone.status.state == .stopped || laptop.status.state == .stopped, try laptop.titles().count < rows {
                try await Task.sleep(for: .milliseconds(1))
            }
            await (isFirst ? phone : laptop).stop()
            error = try await meeting.value
        }
        #expect(error?.code == .cannotMeet)
        // Nothing is lost, and the next meeting goes on.
        try await phone.meet(laptop)
        #expect(try laptop.titles().count == rows)
    }

    @Test func `it starts and stops as often as an app likes`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        laptop.start()
        for round in 0..<5 {
            try phone.add("Round \(round)")
            phone.start()
            phone.start()
            #expect(phone.isStarted)
            try await laptop.until { try laptop.titles().count == round + 1 }
            await phone.stop()
            await phone.stop()
            #expect(!phone.isStarted && phone.status.state == .stopped)
        }
        // Without a wait between.
        for _ in 0..<20 {
            phone.start()
            async let stopped: Void = phone.stop()
            phone.start()
            await stopped
        }
        phone.start()
        try phone.add("Last")
        try await laptop.until { try laptop.titles().contains("Last") }
        await phone.stop()
        await laptop.stop()
    }

    @Test func `a status says what goes on to any number of readers`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let readers = (0..<3).map { _ in
            Task {
                for await status in phone.statuses where status.state == .upToDate { return true }; return false
            }
        }
        phone.start()
        laptop.start()
        for reader in readers { #expect(await reader.value) }
        await phone.stop()
        await laptop.stop()
    }

    @Test func `different apps and different households do not meet`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let diary = try await SyncedApp.open("org.example.diary", migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        let (stranger, _) = try await Pantry.pair()
        for other in [diary, stranger] {
            let error = await #expect(throws: SyncedAppError.self) { try await phone.meet(other) }
            #expect(error?.code == .cannotMeet)
        }
        try await phone.meet(laptop)
    }

    @Test func `an app that has opened its database itself keeps it`() async throws {
        let queue = try DatabaseQueue()
        try Pantry.migrator.migrate(queue)
        let phone = try SyncedApp(Pantry.app, database: queue, tables: Pantry.tables)
        let laptop = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try laptop.add("Milk")
        try await phone.meet(laptop)
        #expect(try await queue.read { try String.fetchAll($0, sql: "SELECT title FROM item") } == ["Milk"])
        try await phone.close()
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 1)
    }

    @Test func `an app that is closed can be opened again`() async throws {
        let folder = try TemporaryFolder()
        let first = try Pantry.open(in: folder.url)
        try first.add("Milk")
        let id = first.trust.ownID
        try await first.close()
        first.start()
        #expect(!first.isStarted)
        let second = try Pantry.open(in: folder.url)
        #expect(try second.titles() == ["Milk"])
        #expect(second.trust.ownID == id)
        try await second.close()
    }

    @Test func `of two processes with one file one synchronises and the other takes over`() async throws {
        let folder = try TemporaryFolder()
        // Two objects of one process keep each other out as two processes would.
        let (app, widget) = (try Pantry.open(in: folder.url), try Pantry.open(in: folder.url))
        let laptop = try await SyncedApp.open(Pantry.app, migrator: Pantry.migrator, tables: Pantry.tables, at: .inMemory)
        try app.introduce(to: laptop)
        app.start()
        laptop.start()
        try await app.until { app.status.state == .upToDate }
        widget.start()
        try widget.add("Milk")
        try await laptop.until { try laptop.titles() == ["Milk"] }
        // It shows what the one says that synchronises.
        try await widget.until { widget.status.state == .upToDate }
        await app.stop()
        try widget.add("Bread")
        try await laptop.until { try laptop.titles() == ["Bread", "Milk"] }
        try laptop.add("Salt")
        try await app.until { try app.titles() == ["Bread", "Milk", "Salt"] }
        for each in [app, widget, laptop] { try await each.close() }
    }
}
