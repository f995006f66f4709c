import Foundation
import KithTrust
import TestSupport
import Testing

/// The risk: the key is lost, overwritten, made twice or read by others, and the device is no longer itself.
@Suite struct LostKeyTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func expect(_ code: TrustError.Code, saying text: String, _ body: () throws -> Void) {
        let error = #expect(throws: TrustError.self) { try body() }
        #expect(error?.code == code)
        #expect(error?.message.contains(text) == true)
    }

    @Test func `the key is made once and read ever after`() throws {
        let home = folder.url("a/b/identity")
        let made = try DeviceKey.loadOrCreate(in: home)
        #expect(try DeviceKey.loadOrCreate(in: home).id == made.id)
        #expect(try DeviceKey.load(from: home).privateKeyDER == made.privateKeyDER)
    }

    @Test func `the key file and its new folders are for the owner alone`() throws {
        _ = try DeviceKey.loadOrCreate(in: folder.url("a/identity"))
        #expect(try folder.mode("a") == 0o700)
        #expect(try folder.mode("a/identity") == 0o700)
        #expect(try folder.mode("a/identity/device.key") == 0o600)
    }

    @Test func `nothing half written is left behind`() throws {
        _ = try DeviceKey.loadOrCreate(in: folder.url)
        #expect(try folder.names == ["device.key", "device.key.lock"])
    }

    @Test func `many starters get one key`() async throws {
        let home = folder.url("identity")
        let ids = try await withThrowingTaskGroup(of: DeviceID.self) { group in
            for _ in 0..<16 { group.addTask { try DeviceKey.loadOrCreate(in: home).id } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o620, 0o602]) func `a key that others can reach is refused`(mode: Int) throws {
        _ = try DeviceKey.loadOrCreate(in: folder.url)
        let text = try folder.text("device.key")
        try folder.write(text, to: "device.key", mode: mode)
        expect(.exposedFile, saying: "chmod 600") { _ = try DeviceKey.loadOrCreate(in: folder.url) }
        try folder.write(text, to: "device.key", mode: 0o400)
        #expect(throws: Never.self) { try DeviceKey.loadOrCreate(in: folder.url) }
    }

    @Test func `a folder in which others could replace the key is refused`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
        expect(.exposedFolder, saying: "chmod 700") { _ = try DeviceKey.loadOrCreate(in: folder.url) }
        #expect(try folder.names.isEmpty)
    }

    @Test func `a damaged key is refused and kept`() throws {
        _ = try DeviceKey.loadOrCreate(in: folder.url)
        let text = try folder.text("device.key")
        for damaged in ["", "x", String(text.dropLast(40)), text.replacing("PRIVATE", with: "PUBLIC"), "\u{0}\u{0}"] {
            try folder.write(damaged, to: "device.key")
            expect(.corruptedKey, saying: "device.key") { _ = try DeviceKey.loadOrCreate(in: folder.url) }
            expect(.corruptedKey, saying: "device.key") { _ = try DeviceKey.load(from: folder.url) }
            #expect(try folder.text("device.key") == damaged)
        }
    }

    @Test func `a key file is read up to its limit and refused beyond`() throws {
        let id = try DeviceKey.loadOrCreate(in: folder.url).id
        let text = try folder.text("device.key")
        let padding = String(repeating: "\n", count: DeviceKey.fileBytesMax - text.utf8.count)
        try folder.write(text + padding, to: "device.key")
        #expect(try DeviceKey.load(from: folder.url).id == id)
        try folder.write(text + padding + "\n", to: "device.key")
        expect(.fileSystem, saying: "larger") { _ = try DeviceKey.load(from: folder.url) }
    }

    @Test func `something else in the keys place is refused`() throws {
        try FileManager.default.createDirectory(at: folder.url("device.key"), withIntermediateDirectories: false)
        expect(.fileSystem, saying: "device.key") { _ = try DeviceKey.loadOrCreate(in: folder.url) }
        try folder.write("", to: "file")
        expect(.fileSystem, saying: "file") { _ = try DeviceKey.loadOrCreate(in: folder.url("file")) }
    }

    @Test func `loading never makes a key`() throws {
        expect(.missingKey, saying: "device.key") { _ = try DeviceKey.load(from: folder.url) }
        #expect(try folder.names.isEmpty)
    }

    @Test func `printing a key shows its ID alone`() {
        let key = DeviceKey()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains(key.id.description))
            #expect(!text.contains("P256"))
        }
    }
}
