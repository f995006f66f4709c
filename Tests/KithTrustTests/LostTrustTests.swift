import Foundation
import KithTrust
import TestSupport
import Testing

/// The risk: an edit is lost, a stranger gets on the list, or a damaged list is thrown away.
@Suite struct LostTrustTests {
    let folder: TemporaryFolder
    let own = DeviceKey().id
    let date = Date(timeIntervalSince1970: 1_770_000_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func store() throws(TrustError) -> TrustStore {
        try TrustStore(in: folder.url, ownID: own)
    }

    private func device(name: String = "", _ addresses: String...) throws -> TrustedDevice {
        try TrustedDevice(id: DeviceKey().id, name: name, addresses: addresses.map { try PeerAddress(parsing: $0) }, added: date)
    }

    private func expect(_ code: TrustError.Code, _ body: () throws -> Void) {
        let error = #expect(throws: TrustError.self) { try body() }
        #expect(error?.code == code)
    }

    @Test func `an absent file is an empty list and is not made`() throws {
        #expect(try store().devices.isEmpty)
        #expect(try folder.names.isEmpty)
    }

    @Test func `what is added is there for the next process`() throws {
        let devices = try [device(name: "Attic", "10.0.0.7:4747", "[fe80::1%eth0]:4747"), device(name: "Küche 🍳")]
        for device in devices { try store().add(device) }
        #expect(try store().devices == devices)
        #expect(try store().isTrusted(devices[1].id))
        #expect(try folder.mode("devices.json") == 0o600)
    }

    @Test func `what a killed process has begun to write goes with the next edit`() throws {
        try store().add(device())
        let left = folder.url.appending(path: "devices.json.tmp")
        try Data("a secret".utf8).write(to: left)
        try store().add(device())
        #expect(try !folder.names.contains("devices.json.tmp") && store().devices.count == 2)
    }

    @Test func `only devices on the list are trusted`() throws {
        let store = try store()
        let device = try store.add(device())
        #expect(store.isTrusted(device.id))
        #expect(!store.isTrusted(DeviceKey().id))
        try store.remove(device.id)
        #expect(!store.isTrusted(device.id))
        #expect(try self.store().devices.isEmpty)
    }

    @Test func `a device never trusts itself`() throws {
        expect(.ownDevice) { try store().add(TrustedDevice(id: own, added: date)) }
        try folder.write(
            #"{"version":1,"devices":[{"id":"\#(own)","added":"2026-01-01T00:00:00Z"}]}"#, to: "devices.json")
        #expect(try !store().isTrusted(own))
    }

    @Test func `adding a device again keeps what was known`() throws {
        let store = try store()
        let first = try store.add(device(name: "Attic", "a:1", "b:2"))
        let again = try TrustedDevice(id: first.id, addresses: [PeerAddress(parsing: "c:3"), .init(parsing: "a:1")], added: .now)
        #expect(try store.add(again).addresses.map(\.description) == ["c:3", "a:1", "b:2"])
        #expect(store.device(first.id)?.name == "Attic")
        #expect(store.device(first.id)?.added == date)
        #expect(store.devices.count == 1)
    }

    @Test func `a device can be renamed but not a stranger`() throws {
        let store = try store()
        let device = try store.add(device(name: "Attic", "a:1"))
        try store.rename(device.id, to: "Cellar")
        #expect(try self.store().devices == [TrustedDevice(id: device.id, name: "Cellar", addresses: device.addresses, added: date)])
        expect(.unknownDevice) { try store.rename(own, to: "x") }
        expect(.unknownDevice) { try store.remove(own) }
    }

    @Test func `many editors lose no edit`() async throws {
        let kept = try device(name: "kept")
        try store().add(kept)
        let folder = folder.url
        let (own, date) = (own, date)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let store = try TrustStore(in: folder, ownID: own)
                    for _ in 0..<5 {
                        let device = try TrustedDevice(id: DeviceKey().id, added: date)
                        try store.add(device)
                        let short = try TrustedDevice(id: DeviceKey().id, added: date)
                        try store.add(short)
                        try store.remove(short.id)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store().devices.count == 41)
        #expect(try store().isTrusted(kept.id))
    }

    @Test func `a running node notices the edits of others`() throws {
        let running = try store()
        #expect(try !running.reloadIfChanged())
        let device = try store().add(device())
        #expect(!running.isTrusted(device.id))
        #expect(try running.reloadIfChanged())
        #expect(running.isTrusted(device.id))
        #expect(try !running.reloadIfChanged())
        try store().remove(device.id)
        #expect(try running.reloadIfChanged())
        #expect(!running.isTrusted(device.id))
        try store().add(device)
        #expect(try running.reloadIfChanged())
        try FileManager.default.removeItem(at: running.file)
        #expect(try running.reloadIfChanged())
        #expect(running.devices.isEmpty)
    }

    @Test func `a running node keeps the last good list when the file is damaged`() throws {
        let running = try store()
        let device = try running.add(device())
        try folder.write("{", to: "devices.json")
        expect(.corruptedList) { _ = try running.reloadIfChanged() }
        expect(.corruptedList) { _ = try running.reloadIfChanged() }
        #expect(running.isTrusted(device.id))
        expect(.corruptedList) { try running.remove(device.id) }
        #expect(try folder.text("devices.json") == "{")
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"version":1}"#, #"{"version":"1","devices":[]}"#, #"{"version":1,"devices":{}}"#,
        #"{"version":1,"devices":[{"id":"AAAAA"}]}"#, #"{"version":1,"devices":[7]}"#, "\u{0}",
        String(repeating: "[", count: 100_000),
    ])
    func `a damaged list is refused and kept`(text: String) throws {
        try folder.write(text, to: "devices.json")
        expect(.corruptedList) { _ = try store() }
        #expect(try folder.text("devices.json") == text)
    }

    @Test func `a device listed twice is damage`() throws {
        let entry = #"{"id":"\#(DeviceKey().id)","added":"2026-01-01T00:00:00Z"}"#
        try folder.write(#"{"version":1,"devices":[\#(entry)]}"#, to: "devices.json")
        #expect(try store().devices.count == 1)
        try folder.write(#"{"version":1,"devices":[\#(entry),\#(entry)]}"#, to: "devices.json")
        expect(.corruptedList) { _ = try store() }
    }

    @Test func `a list of a newer version is left alone`() throws {
        try folder.write(#"{"version":2,"devices":[]}"#, to: "devices.json")
        expect(.newerList) { _ = try store() }
    }

    @Test func `fields of a later version survive an edit`() throws {
        let id = DeviceKey().id
        try folder.write(
            #"{"version":1,"household":{"a":[1,2.5,null,true]},"devices":[{"id":"\#(id)","name":"x","added":"2026-01-01T00:00:00Z","color":"red"}]}"#,
            to: "devices.json")
        let store = try store()
        try store.add(device())
        try store.rename(id, to: "y")
        let text = try folder.text("devices.json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let devices = try #require(object["devices"] as? [[String: Any]])
        #expect(devices.count == 2)
        #expect(devices[0]["color"] as? String == "red")
        #expect(devices[0]["name"] as? String == "y")
        #expect((object["household"] as? [String: Any])?.count == 1)
    }

    @Test(arguments: [0o620, 0o602, 0o666]) func `a list that others may write is refused`(mode: Int) throws {
        try store().add(device())
        try folder.write(folder.text("devices.json"), to: "devices.json", mode: mode)
        expect(.exposedFile) { _ = try store() }
        try folder.write(folder.text("devices.json"), to: "devices.json", mode: 0o644)
        #expect(try store().devices.count == 1)
    }

    @Test func `the list is full at its limit`() throws {
        let entries = (0..<TrustStore.devicesMax - 1).map { _ in #"{"id":"\#(DeviceKey().id)","added":"2026-01-01T00:00:00Z"}"# }
        try folder.write(#"{"version":1,"devices":[\#(entries.joined(separator: ","))]}"#, to: "devices.json")
        let store = try store()
        try store.add(device())
        #expect(store.devices.count == TrustStore.devicesMax)
        expect(.limitReached) { try store.add(device()) }
        #expect(try self.store().devices.count == TrustStore.devicesMax)
    }

    @Test func `the file is read up to its limit and refused beyond`() throws {
        let text = #"{"version":1,"devices":[]}"#
        let padding = String(repeating: " ", count: TrustStore.fileBytesMax - text.utf8.count)
        try folder.write(text + padding, to: "devices.json")
        #expect(throws: Never.self) { try store() }
        try folder.write(text + padding + " ", to: "devices.json")
        expect(.fileSystem) { _ = try store() }
    }
}
