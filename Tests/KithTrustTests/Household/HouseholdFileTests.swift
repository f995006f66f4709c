import Foundation
import KithTrust
import TestSupport
import Testing

/// The risk: after pairing, joining, leaving or a crash a device trusts others than its household says.
@Suite struct HouseholdFileTests {
    @Test func `who joins trusts its sponsor at once and the others when it has heard of them`() throws {
        let (a, b, c) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.sponsor(b)
        #expect(b.store.standing == .joining && b.trusted == [a.id])
        try a.exchange(with: b)
        #expect(b.store.standing == .member)
        try b.sponsor(c)
        try b.exchange(with: c)
        try a.exchange(with: b)
        #expect(a.trusted == [b.id, c.id] && c.trusted == [a.id, b.id])
        for device in [a, b, c] {
            let trusted = device.trusted
            try device.reopen()
            #expect(device.trusted == trusted && device.store.standing == .member)
            #expect(try device.folder.mode("household.json") == 0o600)
        }
        #expect(a.store.household?.secrets == c.store.household?.secrets)
        #expect(try a.exchange(with: c) == 2)
    }

    @Test func `who is revoked is trusted by nobody that has heard`() throws {
        let (a, b, c) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.sponsor(b)
        try a.exchange(with: b)
        try a.sponsor(c)
        try a.exchange(with: c)
        try a.exchange(with: b)
        let secret = a.store.household?.secrets.first
        try a.store.remove(c.id)
        #expect(!a.store.isTrusted(c.id) && b.store.isTrusted(c.id))
        try a.exchange(with: b)
        #expect(!b.store.isTrusted(c.id))
        // The others have a new secret, with which the revoked one recognises nobody.
        #expect(a.store.household?.secrets.first != secret && b.store.household?.secrets.first == a.store.household?.secrets.first)
        #expect(c.store.household?.secrets.first == secret)
        try a.exchange(with: c)
        #expect(c.store.standing == .removed && c.trusted.isEmpty)
        #expect(throws: TrustError.self) { try c.store.add(b.asTrusted) }
    }

    @Test func `who was let in by a device that was revoked before trusts it no more`() throws {
        let (a, thief, c) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.pair(with: thief)
        try a.store.remove(thief.id)
        try thief.pair(with: c)
        #expect(c.trusted == [a.id, thief.id])
        try c.exchange(with: a)
        #expect(c.trusted.isEmpty && a.trusted.isEmpty)
        // It is let in by somebody who is a member.
        try a.pair(with: c)
        #expect(c.trusted == [a.id] && a.trusted == [c.id])
    }

    @Test func `a list kept by hand becomes a household`() throws {
        let (a, b, c) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.store.add(b.asTrusted)
        try b.store.add(a.asTrusted)
        try b.store.add(c.asTrusted)
        try a.store.found(Household.founded(as: "a", by: a.key))
        #expect(a.trusted == [b.id])
        // The other one meets a device that it trusts and that has a household.
        try b.store.join(try #require(a.store.household).id, through: a.asTrusted)
        #expect(b.trusted == [a.id, c.id])
        try a.exchange(with: b)
        // Whom it trusted by hand is a member, too.
        #expect(a.trusted == [b.id, c.id] && b.trusted == [a.id, c.id])
    }

    @Test func `who leaves trusts nobody and may come back`() throws {
        let (a, b) = (try TrustedHome(), try TrustedHome())
        try a.sponsor(b)
        try a.exchange(with: b)
        try b.store.leave()
        #expect(b.store.standing == .left && b.trusted.isEmpty)
        try b.reopen()
        #expect(b.store.standing == .left && b.trusted.isEmpty)
        try b.store.forgetHousehold()
        #expect(try b.store.standing == .alone && !b.folder.names.contains("household.json"))
        try a.sponsor(b)
        try a.exchange(with: b)
        #expect(b.store.standing == .member && b.trusted == [a.id])
    }

    @Test func `who changes the household leaves its members behind`() throws {
        let (a, b, c) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.sponsor(b)
        try a.exchange(with: b)
        try c.store.found(Household.founded(as: "c", by: c.key))
        try c.store.admit(b.asTrusted, founding: Household.founded(as: "unused", by: c.key))
        try b.store.join(try #require(c.store.household).id, through: c.asTrusted)
        #expect(b.trusted == [c.id])
        try b.exchange(with: c)
        #expect(b.trusted == [c.id] && c.trusted == [b.id])
    }

    @Test func `what another process does is noticed`() throws {
        let (a, b) = (try TrustedHome(), try TrustedHome())
        let other = try TrustStore(in: a.folder.url, ownID: a.id)
        try a.sponsor(b)
        #expect(try other.reloadIfChanged() && other.isTrusted(b.id) && other.standing == .member)
        #expect(try !other.reloadIfChanged())
        try other.remove(b.id)
        #expect(try a.store.reloadIfChanged() && !a.store.isTrusted(b.id))
    }

    @Test func `a damaged or exposed household is refused and left as it is`() throws {
        let (a, b) = (try TrustedHome(), try TrustedHome())
        try a.sponsor(b)
        let text = try a.folder.text("household.json")
        for damaged in ["", "{}", text.replacingOccurrences(of: "\"version\" : 2", with: "\"version\" : 3"), String(text.dropLast(40))] {
            try a.folder.write(damaged, to: "household.json")
            #expect(throws: TrustError.self) { try a.reopen() }
            #expect(throws: TrustError.self) { try a.store.leave() }
            #expect(try a.folder.text("household.json") == damaged)
        }
        try a.folder.write(text, to: "household.json", mode: 0o644)
        #expect(throws: TrustError.self) { try a.reopen() }
        try a.folder.write(text, to: "household.json")
        try a.reopen()
        #expect(a.trusted == [b.id])
    }

    @Test func `messages of any kind change nothing`() throws {
        var random = SplitMix64(seed: 5)
        let (a, b) = (try TrustedHome(), try TrustedHome())
        try a.sponsor(b)
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
        for count in [2, 2_002] { #expect(HouseholdMessage([2] + random.bytes(32 * count)) != nil) }
        for count in [0, 1, 2_003] { #expect(HouseholdMessage([2] + random.bytes(32 * count)) == nil) }
        #expect(a.trusted == trusted)
    }
}
