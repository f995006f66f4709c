import Foundation
import KithTrust
import Testing

/// The risk: after pairing, joining, leaving or a crash a device trusts others than its household says.
@Suite struct HouseholdFileTests {
    /// A device with its folder.
    private final class Device {
        let folder: TemporaryFolder
        let key: DeviceKey
        var store: TrustStore

        init() throws {
            folder = try TemporaryFolder()
            key = try DeviceKey.loadOrCreate(in: folder.url)
            store = try TrustStore(in: folder.url, ownID: key.id)
        }

        var asTrusted: TrustedDevice {
            get throws { try TrustedDevice(id: key.id, name: "", added: Date(timeIntervalSince1970: 0)) }
        }

        var trusted: Set<DeviceID> { Set(store.devices.map(\.id)) }

        func reopen() throws { store = try TrustStore(in: folder.url, ownID: key.id) }
    }

    /// What happens when two are paired and the second joins.
    private func pair(_ first: Device, _ second: Device) throws {
        try first.store.admit(second.asTrusted, into: Household.founded(as: "first", by: first.key))
        let household = try #require(first.store.household)
        try second.store.join(household.id, through: first.asTrusted)
    }

    /// What happens when two are connected; returns how many messages it took.
    @discardableResult
    private func connect(_ first: Device, _ second: Device) throws -> Int {
        var line = [(second, first.store.householdDigest), (first, second.store.householdDigest)].compactMap { to, message in
            message.map { (to, $0) }
        }
        var count = 0
        while !line.isEmpty {
            let (to, message) = line.removeFirst()
            count += 1
            try #require(count < 100, "the exchange does not end")
            let read = try #require(HouseholdMessage(message.encoded))
            #expect(read == message)
            let (answers, hasChanged) = try to.store.answer(read)
            let other = to === first ? second : first
            line += answers.map { (other, $0) }
            if hasChanged { line += to.store.householdDigest.map { [(other, $0)] } ?? [] }
        }
        return count
    }

    @Test func whoJoinsTrustsItsSponsorAtOnceAndTheOthersWhenItHasHeardOfThem() throws {
        let (a, b, c) = (try Device(), try Device(), try Device())
        try pair(a, b)
        #expect(b.store.standing == .joining && b.trusted == [a.key.id])
        try connect(a, b)
        #expect(b.store.standing == .member)
        try pair(b, c)
        try connect(b, c)
        try connect(a, b)
        #expect(a.trusted == [b.key.id, c.key.id] && c.trusted == [a.key.id, b.key.id])
        for device in [a, b, c] {
            let trusted = device.trusted
            try device.reopen()
            #expect(device.trusted == trusted && device.store.standing == .member)
            #expect(try device.folder.mode("household.json") == 0o600)
        }
        #expect(a.store.household?.secrets == c.store.household?.secrets)
        #expect(try connect(a, c) == 2)
    }

    @Test func whoIsRevokedIsTrustedByNobodyThatHasHeard() throws {
        let (a, b, c) = (try Device(), try Device(), try Device())
        try pair(a, b)
        try connect(a, b)
        try pair(a, c)
        try connect(a, c)
        try connect(a, b)
        let secret = a.store.household?.secrets.first
        try a.store.remove(c.key.id)
        #expect(!a.store.isTrusted(c.key.id) && b.store.isTrusted(c.key.id))
        try connect(a, b)
        #expect(!b.store.isTrusted(c.key.id))
        // The others have a new secret, with which the revoked one recognises nobody.
        #expect(a.store.household?.secrets.first != secret && b.store.household?.secrets.first == a.store.household?.secrets.first)
        #expect(c.store.household?.secrets.first == secret)
        try connect(a, c)
        #expect(c.store.standing == .removed && c.trusted.isEmpty)
        #expect(throws: TrustError.self) { try c.store.add(b.asTrusted) }
    }

    @Test func aListKeptByHandBecomesAHousehold() throws {
        let (a, b, c) = (try Device(), try Device(), try Device())
        try a.store.add(b.asTrusted)
        try b.store.add(a.asTrusted)
        try b.store.add(c.asTrusted)
        try a.store.found(Household.founded(as: "a", by: a.key))
        #expect(a.trusted == [b.key.id])
        // The other one meets a device that it trusts and that has a household.
        try b.store.join(try #require(a.store.household).id, through: a.asTrusted)
        #expect(b.trusted == [a.key.id, c.key.id])
        try connect(a, b)
        // Whom it trusted by hand is a member, too.
        #expect(a.trusted == [b.key.id, c.key.id] && b.trusted == [a.key.id, c.key.id])
    }

    @Test func whoLeavesTrustsNobodyAndMayComeBack() throws {
        let (a, b) = (try Device(), try Device())
        try pair(a, b)
        try connect(a, b)
        try b.store.leave()
        #expect(b.store.standing == .left && b.trusted.isEmpty)
        try b.reopen()
        #expect(b.store.standing == .left && b.trusted.isEmpty)
        try b.store.forgetHousehold()
        #expect(try b.store.standing == .alone && !b.folder.names.contains("household.json"))
        try pair(a, b)
        try connect(a, b)
        #expect(b.store.standing == .member && b.trusted == [a.key.id])
    }

    @Test func whoChangesTheHouseholdLeavesItsMembersBehind() throws {
        let (a, b, c) = (try Device(), try Device(), try Device())
        try pair(a, b)
        try connect(a, b)
        try c.store.found(Household.founded(as: "c", by: c.key))
        try c.store.admit(b.asTrusted, into: Household.founded(as: "unused", by: c.key))
        try b.store.join(try #require(c.store.household).id, through: c.asTrusted)
        #expect(b.trusted == [c.key.id])
        try connect(b, c)
        #expect(b.trusted == [c.key.id] && c.trusted == [b.key.id])
    }

    @Test func whatAnotherProcessDoesIsNoticed() throws {
        let (a, b) = (try Device(), try Device())
        let other = try TrustStore(in: a.folder.url, ownID: a.key.id)
        try pair(a, b)
        #expect(try other.reloadIfChanged() && other.isTrusted(b.key.id) && other.standing == .member)
        #expect(try !other.reloadIfChanged())
        try other.remove(b.key.id)
        #expect(try a.store.reloadIfChanged() && !a.store.isTrusted(b.key.id))
    }

    @Test func aDamagedOrExposedHouseholdIsRefusedAndLeftAsItIs() throws {
        let (a, b) = (try Device(), try Device())
        try pair(a, b)
        let text = try a.folder.text("household.json")
        for damaged in ["", "{}", text.replacingOccurrences(of: "\"version\" : 1", with: "\"version\" : 2"), String(text.dropLast(40))] {
            try a.folder.write(damaged, to: "household.json")
            #expect(throws: TrustError.self) { try a.reopen() }
            #expect(throws: TrustError.self) { try a.store.leave() }
            #expect(try a.folder.text("household.json") == damaged)
        }
        try a.folder.write(text, to: "household.json", mode: 0o644)
        #expect(throws: TrustError.self) { try a.reopen() }
        try a.folder.write(text, to: "household.json")
        try a.reopen()
        #expect(a.trusted == [b.key.id])
    }

    @Test func messagesOfAnyKindChangeNothing() throws {
        var random = SplitMix64(seed: 5)
        let (a, b) = (try Device(), try Device())
        try pair(a, b)
        let trusted = a.trusted
        for kind in 0..<6 {
            for _ in 0..<200 {
                let bytes = [UInt8(kind)] + random.bytes(Int.random(in: 0...300, using: &random))
                guard let message = HouseholdMessage(bytes) else { continue }
                if case .secrets = message { continue }
                #expect(try !a.store.answer(message).hasChanged)
            }
        }
        #expect(HouseholdMessage([UInt8](repeating: 2, count: HouseholdMessage.bytesMax + 1)) == nil)
        #expect(HouseholdMessage([2] + random.bytes(32 * Membership.recordsMax)) != nil)
        #expect(HouseholdMessage([2] + random.bytes(32 * (Membership.recordsMax + 1))) == nil)
        #expect(a.trusted == trusted)
    }
}
