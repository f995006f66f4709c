import Foundation
import TestSupport
import Testing

@testable import KithTrust

/// The risk: an exported identity is opened without its passphrase, overwrites another one, or cannot be opened with it.
@Suite struct StolenArchiveTests {
    private let passphrase = "correct horse battery"
    private let cost = IdentityArchive.Cost(logN: 4, r: 8, p: 1)

    private func device() throws -> (folder: TemporaryFolder, id: DeviceID, archive: [UInt8]) {
        let folder = try TemporaryFolder()
        let key = try DeviceKey.loadOrCreate(in: folder.url)
        let store = try TrustStore(in: folder.url, ownID: key.id)
        try store.admit(
            TrustedDevice(id: DeviceKey().id, name: "laptop", added: Date(timeIntervalSince1970: 0)),
            founding: Household.founded(as: "desk", by: key))
        return (folder, key.id, try IdentityArchive.sealed(from: folder.url, passphrase: passphrase, cost: cost))
    }

    @Test func `what was exported is all there elsewhere`() throws {
        let (folder, id, archive) = try device()
        let other = try TemporaryFolder()
        let place = other.url("keys")
        #expect(try IdentityArchive.restore(archive, passphrase: passphrase, into: place) == id)
        let (old, new) = (try TrustStore(in: folder.url, ownID: id), try TrustStore(in: place, ownID: id))
        #expect(new.standing == .member && new.devices == old.devices && new.household?.secrets == old.household?.secrets)
        #expect(try other.mode("keys/device.key") == 0o600 && other.mode("keys/household.json") == 0o600)
        #expect(try DeviceKey.load(from: place).privateKeyDER == DeviceKey.load(from: folder.url).privateKeyDER)
    }

    @Test func `without the passphrase nothing is opened`() throws {
        let (folder, _, archive) = try device()
        let key = try folder.text("device.key").split(separator: "\n")[1]
        #expect(!String(decoding: archive, as: UTF8.self).contains(key))
        for wrong in ["", "correct horse batterz", passphrase + " ", String(repeating: "x", count: 1025)] {
            let error = #expect(throws: TrustError.self) {
                try IdentityArchive.restore(archive, passphrase: wrong, into: TemporaryFolder().url("keys"))
            }
            #expect(error?.code == .wrongPassphrase)
        }
    }

    @Test func `every damage is noticed and nothing is written`() throws {
        let (_, _, archive) = try device()
        var random = SplitMix64(seed: 1)
        let other = try TemporaryFolder()
        for round in 0..<200 {
            var damaged = archive
            // The cost stays bearable, or a test would take as long as it asks for.
            let at = Int.random(in: 0..<damaged.count, using: &random)
            if (16..<19).contains(at) { continue }
            if round % 3 == 0 { damaged.removeLast(at) } else { damaged[at] ^= UInt8.random(in: 1...255, using: &random) }
            #expect(throws: TrustError.self) { try IdentityArchive.restore(damaged, passphrase: passphrase, into: other.url("keys")) }
        }
        for header in [[19, 8, 1], [0, 8, 1], [4, 255, 1], [4, 8, 255], [255, 255, 255]] as [[UInt8]] {
            var greedy = archive
            greedy.replaceSubrange(16..<19, with: header)
            #expect(throws: TrustError.self) { try IdentityArchive.restore(greedy, passphrase: passphrase, into: other.url("keys")) }
        }
        #expect(try other.names.isEmpty)
    }

    @Test func `another identity is not overwritten`() throws {
        let (folder, _, archive) = try device()
        let key = try folder.text("device.key")
        let error = #expect(throws: TrustError.self) { try IdentityArchive.restore(archive, passphrase: passphrase, into: folder.url) }
        #expect(error?.code == .identityExists)
        #expect(try folder.text("device.key") == key)
        // Nor a household that has lost its key.
        let other = try TemporaryFolder()
        try other.write("{}", to: "household.json")
        #expect(throws: TrustError.self) { try IdentityArchive.restore(archive, passphrase: passphrase, into: other.url) }
        #expect(try other.names == ["household.json"] && other.text("household.json") == "{}")
    }

    @Test func `the file is for its owner alone and no file is overwritten`() throws {
        let (folder, id, _) = try device()
        let file = folder.url("desk.kith")
        try IdentityArchive.export(from: folder.url, to: file.path, passphrase: passphrase, cost: cost)
        #expect(try folder.mode("desk.kith") == 0o600)
        let bytes = Array(try Data(contentsOf: file))
        #expect(throws: TrustError.self) {
            try IdentityArchive.export(from: folder.url, to: file.path, passphrase: "another passphrase", cost: cost)
        }
        #expect(try Array(Data(contentsOf: file)) == bytes)
        #expect(try IdentityArchive.restore(bytes, passphrase: passphrase, into: TemporaryFolder().url("keys")) == id)
    }

    @Test func `an identity whose key was renewed is worth nothing any more`() throws {
        let (a, b) = (try TrustedHome(), try TrustedHome())
        try a.pair(with: b)
        let backup = try IdentityArchive.sealed(from: b.folder.url, passphrase: passphrase, cost: cost)
        _ = try b.store.renewKey()
        try a.meet(b)
        let thief = try TemporaryFolder()
        let id = try IdentityArchive.restore(backup, passphrase: passphrase, into: thief.url("keys"))
        #expect(!a.store.isTrusted(id) && !b.store.isTrusted(id))
    }

    @Test func `a passphrase that is too short is refused`() throws {
        let (folder, _, _) = try device()
        #expect(throws: TrustError.self) { try IdentityArchive.sealed(from: folder.url, passphrase: "nine byte", cost: cost) }
        _ = try IdentityArchive.sealed(from: folder.url, passphrase: "ten bytes.", cost: cost)
        #expect(throws: TrustError.self) {
            try IdentityArchive.sealed(from: folder.url, passphrase: String(repeating: "x", count: 1025), cost: cost)
        }
    }

    @Test func `an import that fails leaves nothing and one that is cut off is not used`() throws {
        let (_, id, archive) = try device()
        let other = try TemporaryFolder()
        let household = try HouseholdFile.json(of: Household.founded(as: "desk", by: DeviceKey()))
        let fields = ["household": String(decoding: household, as: UTF8.self), "devices": "{}", "key": "no key"].mapValues {
            JSONValue.string(Data($0.utf8).base64EncodedString())
        }
        let broken = try IdentityArchive.seal(fields, passphrase, cost)
        let error = #expect(throws: TrustError.self) { try IdentityArchive.restore(broken, passphrase: passphrase, into: other.url) }
        #expect(error?.code == .corruptedKey)
        #expect(try other.names.isEmpty)
        #expect(try IdentityArchive.restore(archive, passphrase: passphrase, into: other.url) == id)
        // The machine stopped before the key was made.
        try FileManager.default.removeItem(at: other.url("device.key"))
        let names = try other.names
        let refusal = #expect(throws: TrustError.self) { try DeviceKey.loadOrCreate(in: other.url) }
        #expect(refusal?.code == .missingKey && refusal?.message.contains(other.url.path) == true)
        #expect(try other.names.filter { $0 != "device.key.lock" } == names.filter { $0 != "device.key.lock" })
    }
}
