import Foundation
import KithTrust
import Testing

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

    @Test func oneThatHearsTellsTheOthers() throws {
        let secret = a.store.household?.secrets.first
        try c.store.leave()
        #expect(c.store.standing == .left && c.trusted.isEmpty)
        #expect(Set(c.store.leftBehind.map(\.id)) == [a.id, b.id])
        // It is let in no more, though it was trusted until now, and shows all that there is to say.
        #expect(try !a.meet(c))
        #expect(a.trusted == [b.id])
        #expect(a.store.household?.secrets.first != secret)
        try c.store.forgetHousehold()
        #expect(try c.store.standing == .alone && !c.folder.names.contains("household.json"))
        #expect(try a.meet(b))
        #expect(b.trusted == [a.id] && b.store.household?.secrets.first == a.store.household?.secrets.first)
        try b.pair(with: c)
        try a.meet(b)
        #expect(a.trusted == [b.id, c.id] && c.trusted == [a.id, b.id])
    }

    @Test func leavingAgainForgetsAtOnce() throws {
        try c.store.leave()
        try c.store.leave()
        #expect(c.store.standing == .alone && c.store.leftBehind.isEmpty)
    }

    @Test func whoComesBackBeforeAnybodyHasHeardIsInAgain() throws {
        try c.store.leave()
        try a.pair(with: c)
        #expect(c.store.standing == .member && c.trusted == [a.id, b.id] && a.trusted == [b.id, c.id])
    }

    @Test func whoIsAloneInItsHouseholdHasNobodyToTell() throws {
        let d = try TrustedHome()
        try d.store.found(Household.founded(as: "d", by: d.key))
        try d.store.leave()
        #expect(d.store.standing == .alone)
    }

    @Test func nobodyCanSpeakForAnother() throws {
        try c.store.leave()
        // b shows what c has signed: c is out, b stays.
        let shown = try b.key.makeCertificate(stating: c.store.statements)
        #expect(a.store.admission(of: shown) == b.id)
        let stranger = try DeviceKey().makeCertificate(stating: c.store.statements)
        #expect(a.store.admission(of: stranger) == nil)
    }
}
