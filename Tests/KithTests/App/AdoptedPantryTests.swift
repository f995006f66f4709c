import Foundation
import GRDB
import KithStore
import KithTrust
import TestSupport
import Testing

@testable import AdoptedPantryProgram
@testable import Kith

/// Risk: what holds for one store in one process does not hold for an app that was there before: two of its processes adopt one file at
/// the same time, are killed, and synchronise with devices that have adopted the same backup by themselves.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AdoptedPantryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static var options: SyncedApp.Options {
        var options = SyncedApp.Options()
        options.usesDiscovery = false
        options.port = 0
        return options
    }

    private func home(_ name: String) -> URL { folder.url.appending(path: name) }

    /// The file of a device on which the backup was restored and the app not yet opened.
    private func restore(_ name: String) throws {
        let data = home(name).appending(path: "data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: data.appending(path: "app.sqlite").path)
        try PantryBefore.migrator.migrate(database)
        try database.write { try $0.execute(sql: PantryBefore.rows) }
        try database.close()
    }

    private func open(_ name: String) throws -> SyncedApp {
        try SyncedApp(
            AdoptedPantryProgram.Pantry.app, migrator: AdoptedPantryProgram.Pantry.migrator, tables: AdoptedPantryProgram.Pantry.tables,
            at: .folder(home(name)), options: Self.options)
    }

    private static func trusted(_ app: SyncedApp, _ name: String) async throws -> TrustedDevice {
        let address = try PeerAddress(host: "127.0.0.1", port: await app.node.port())
        return try TrustedDevice(id: app.trust.ownID, name: name, addresses: [address], added: Date())
    }

    @Test func `two processes and two other devices adopt one backup, and every device ends with what all have done`() async throws {
        for name in ["desk", "phone", "laptop"] { try restore(name) }
        let (phone, laptop) = (try open("phone"), try open("laptop"))
        // The desk has a key and knows the others before its app is opened for the first time.
        let keys = home("desk").appending(path: "keys")
        let desk = try TrustStore(in: keys, ownID: DeviceKey.loadOrCreate(in: keys).id)
        let (asPhone, asLaptop) = (try await Self.trusted(phone, "phone"), try await Self.trusted(laptop, "laptop"))
        try desk.add(asPhone)
        try desk.add(asLaptop)
        for app in [phone, laptop] { try app.trust.add(TrustedDevice(id: desk.ownID, name: "desk", added: Date())) }
        try phone.trust.add(asLaptop)
        try laptop.trust.add(asPhone)

        // Both find the file as it was before.
        var processes = try (0..<2).map { _ in try LineProcess("AdoptedPantryProgram", home("desk")) }
        defer { for process in processes { process.kill() } }
        for (number, process) in processes.enumerated() {
            for line in ["cook Soup", "label Soup=desk\(number)", "step Soup=Stir \(number).", "buy Soup=Salt \(number)"] {
                process.type(line)
            }
        }
        try await phone.database.write { db in
            try AdoptedPantryProgram.Pantry.obey("cook Soup", db)
            try AdoptedPantryProgram.Pantry.obey("step Soup=Serve.", db)
        }
        try await laptop.database.write { db in
            try AdoptedPantryProgram.Pantry.obey("cook Soup", db)
            try db.execute(sql: "DELETE FROM ingredient WHERE name = 'Flour'; UPDATE recipe SET title = 'Rye bread' WHERE title = 'Bread'")
        }
        for process in processes { try await process.finishWriting() }
        for app in [phone, laptop] { app.start() }
        // The one that synchronises is killed, and what it had committed is there.
        try await phone.until { processes.contains { $0.synchronises } }
        let holder = try #require(processes.firstIndex { $0.synchronises })
        processes[holder].kill()
        try await phone.until { processes[1 - holder].synchronises }
        processes[1 - holder].type("cook Soup")
        processes[holder] = try LineProcess("AdoptedPantryProgram", home("desk"))
        processes[holder].type("cook Soup")
        for process in processes { try await process.finishWriting() }

        func summary(_ app: SyncedApp) throws -> String { try app.database.read(AdoptedPantryProgram.Pantry.summary) }
        let soup = "Soup 10 [\"desk0\", \"desk1\", \"warm\"] Boil."
        try await phone.until {
            let now = try summary(phone)
            return try now.contains(soup) && now == summary(laptop) && processes.allSatisfy { $0.seen == "sees \(now)" }
        }
        let end = try summary(phone)
        #expect(end.hasPrefix("Rye bread 1 [] Bake.; \(soup)") && end.hasSuffix("; Salt 0; Salt 1; Water"), "\(end)")
        for step in ["Stir 0.", "Stir 1.", "Serve."] { #expect(end.contains(step), "\(end)") }
        for process in processes { process.kill() }
        let again = try open("desk")
        for app in [phone, laptop, again] {
            #expect(try summary(app) == end)
            #expect(try app.store.verify().problems == [])
            // The app's own trigger and its search index did on every device what they did before.
            let found =
                "SELECT recipe.title FROM recipe JOIN recipeText ON recipeText.rowid = recipe.rowid WHERE recipeText MATCH 'stir AND serve'"
            #expect(try await app.database.read { try String.fetchAll($0, sql: found) } == ["Soup"])
            #expect(try await app.database.read { try Int.fetchOne($0, sql: "SELECT count(updatedAt) FROM recipe") } == 2)
        }
        for app in [phone, laptop, again] { try await app.close() }
    }
}
