import Foundation
import TestSupport
import Testing

@testable import KithTrust

/// The risk: the others wait for ever for a device that has left, or it is not let in when it comes back.
@Suite struct FarewellTests {
    private let a: TrustedHome
    private let b: TrustedHome
    private let c: TrustedHome

    init() throws {
        (a, b, c) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.pair(with: b)
        try a.pair(with: c)
        try a.meet(b)
    }

    @Test func `one that hears tells the others`() throws {
        let secret = a.store.household?.secrets.first
        try c.store.leave()
        #expect(c.store.standing == .left && c.trusted.isEmpty)
        #expect(Set(c.store.leftBehind.map(\.id)) == [a.id, b.id])
        // It is let in no more, though it was trusted until now, and shows all that there is to say.
        #expect(try !a.meet(c))
        #expect(a.trusted == [b.id])
        #expect(a.store.household?.secrets.first != secret)
        #expect(try c.store.standing == .alone && !c.folder.names.contains("household.json"))
        #expect(try a.meet(b))
        #expect(b.trusted == [a.id] && b.store.household?.secrets.first == a.store.household?.secrets.first)
        try b.pair(with: c)
        try a.meet(b)
        #expect(a.trusted == [b.id, c.id] && c.trusted == [a.id, b.id])
    }

    @Test func `leaving again forgets at once`() throws {
        try c.store.leave()
        try c.store.leave()
        #expect(c.store.standing == .alone && c.store.leftBehind.isEmpty)
    }

    @Test func `who comes back before anybody has heard is in again`() throws {
        try c.store.leave()
        try a.pair(with: c)
        #expect(c.store.standing == .member && c.trusted == [a.id, b.id] && a.trusted == [b.id, c.id])
    }

    @Test func `who has left says so in no session that is still open`() throws {
        let (digest, none) = (try #require(a.store.householdDigest), MembershipRecord.ID.lowest)
        try c.store.leave()
        // What a member may say at that moment.
        for message in [digest, .have([]), .have([none])] {
            let (answers, hasChanged) = try c.store.answer(message)
            #expect(answers.isEmpty && !hasChanged, "\(message)")
        }
        #expect(a.trusted == [b.id, c.id])
        #expect(try !a.meet(c))
        #expect(a.trusted == [b.id] && c.store.standing == .alone)
    }

    @Test func `who is alone in its household has nobody to tell`() throws {
        let d = try TrustedHome()
        try d.store.found(Household.founded(as: "d", by: d.key))
        try d.store.leave()
        #expect(d.store.standing == .alone)
    }

    @Test func `nobody can speak for another`() throws {
        try c.store.leave()
        // b shows what c has signed: c is out, b stays.
        let shown = try b.key.makeCertificate(stating: c.store.statements)
        #expect(a.store.admission(of: shown) == b.id)
        let stranger = try DeviceKey().makeCertificate(stating: c.store.statements)
        #expect(a.store.admission(of: stranger) == nil)
    }

    @Test(arguments: ["rename", "pair", "renew", "all"]) func `what it said before is heard with it`(what: String) throws {
        let d = try TrustedHome()
        if what == "rename" || what == "all" { try c.store.rename(c.id, to: "desk") }
        if what == "pair" || what == "all" { try c.pair(with: d) }
        if what == "renew" || what == "all" { _ = try c.store.renewKey() }
        try c.store.leave()
        #expect(try !a.meet(c))
        #expect(c.store.standing == .alone)
        let added: Set<DeviceID> = what == "pair" || what == "all" ? [d.id] : []
        #expect(a.trusted == added.union([b.id]))
        #expect(try a.meet(b))
        #expect(b.trusted == added.union([a.id]))
    }

    @Test func `a member that cannot write it down is asked again`() throws {
        try c.store.leave()
        let household = try a.folder.text("household.json")
        try a.folder.write("damaged", to: "household.json")
        #expect(throws: TrustError.self) { try a.meet(c) }
        #expect(c.store.standing == .left)
        try a.folder.write(household, to: "household.json")
        try a.meet(c)
        #expect(c.store.standing == .alone && a.trusted == [b.id])
    }

    @Test func `a member that has left itself is no witness`() throws {
        try a.store.leave()
        try c.store.leave()
        try a.meet(c)
        #expect(c.store.standing == .left && a.store.standing == .left)
        try b.meet(c)
        try b.meet(a)
        #expect(c.store.standing == .alone && a.store.standing == .alone && b.trusted.isEmpty)
    }

    @Test func `who was revoked meanwhile is told so and not listened to`() throws {
        try a.store.remove(c.id)
        try c.pair(with: TrustedHome())
        try c.store.leave()
        let records = a.store.household?.membership.records
        try a.meet(c)
        #expect(c.store.standing == .alone)
        #expect(a.store.household?.membership.records == records)
    }

    @Test func `a member with a new key is a witness`() throws {
        for _ in 0..<2 { _ = try a.store.renewKey() }
        try c.store.leave()
        #expect(!c.store.leftBehind.contains { $0.id == a.id })
        try a.meet(c)
        #expect(c.store.standing == .alone && a.trusted == [b.id])
        // A stranger is none, whatever it shows.
        let d = try TrustedHome()
        try b.pair(with: d)
        try d.store.leave()
        let shown = try DeviceKey().makeCertificate(stating: a.store.statements)
        #expect(try d.store.witness(in: shown) == nil && d.store.witness(in: b.certificate) == b.id)
    }

    @Test func `who is revoked after it came back was removed and has not left`() throws {
        try c.store.leave()
        try a.pair(with: c)
        try a.store.remove(c.id)
        try a.exchange(with: c)
        #expect(c.store.standing == .removed)
        // And one that leaves once more has left.
        try a.pair(with: c)
        try c.store.leave()
        #expect(c.store.standing == .left)
        try a.meet(c)
        #expect(c.store.standing == .alone && a.trusted == [b.id])
    }

    @Test func `who has no room left can leave and renew its key`() throws {
        for device in [b, c] {
            var household = try #require(device.store.household)
            while let _ = try? household.say(.rename(device.id, name: "\(household.membership.records.count)"), by: device.key) {}
            try HouseholdFile.write(household, to: device.folder.url("household.json").path)
            try device.reopen()
            let error = #expect(throws: TrustError.self) { try device.store.rename(device.id, to: "one more") }
            #expect(error?.code == .limitReached)
        }
        let id = try b.store.renewKey()
        try a.meet(b)
        try c.store.leave()
        try a.meet(c)
        #expect(c.store.standing == .alone && a.trusted == [id])
    }
}
