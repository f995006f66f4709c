import Testing

@testable import KithTrust

/// The risk: a device that was revoked is let in again, or lets others in.
@Suite struct RevokedDeviceTests {
    @Test func `any member may add and revoke`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add("b")
        let c = try b.add("c")
        #expect(b.members == [a.id, b.id, c.id])
        try b.say(.revoke(a.id))
        #expect(b.members == [b.id, c.id])
    }

    @Test func `what a revoked device added beforehand stays`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        let c = try b.add()
        try a.hear(b)
        try a.say(.revoke(b.id))
        #expect(a.members == [a.id, c.id])
    }

    @Test func `what a revoked device adds at the same time counts for nothing`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        try a.say(.revoke(b.id))
        // One that b adds, and one that this one adds.
        var c = try b.add()
        let d = try c.add()
        #expect(d.members.count == 4)
        try a.hear(d)
        #expect(a.members == [a.id])
    }

    @Test func `a device that knows it is revoked can say nothing`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        try a.say(.revoke(b.id))
        try b.hear(a)
        #expect(throws: MembershipError.notAMember) { try b.say(.add(DeviceKey().id, name: "")) }
        #expect(throws: MembershipError.notAMember) { try b.say(.revoke(a.id)) }
    }

    @Test func `an addition that did not know of the revocation does not undo it`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        let c = try a.add()
        try b.hear(a)
        try a.say(.revoke(c.id))
        try b.say(.add(c.id, name: "again"))
        try HouseholdDevice.meet(&a, &b)
        #expect(a.members == [a.id, b.id])
        #expect(b.members == a.members)
        #expect(a.membership.isRevoked(c.id))
        try b.say(.add(c.id, name: "on purpose"))
        #expect(b.members == [a.id, b.id, c.id])
    }

    @Test func `two that revoke each other are out until a third decides`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        var c = try a.add()
        try b.hear(a)
        try a.say(.revoke(b.id))
        try b.say(.revoke(a.id))
        try HouseholdDevice.meet(&a, &b)
        try c.hear(a)
        #expect(a.members == [c.id] && b.members == [c.id] && c.members == [c.id])
        #expect(throws: MembershipError.notAMember) { try a.say(.add(a.id, name: "")) }
        try c.say(.add(a.id, name: ""))
        #expect(c.members == [a.id, c.id])
    }

    @Test func `a key is replaced and the old one is worth nothing`() throws {
        var a = try HouseholdDevice.founder("attic")
        var b = try a.add()
        let key = DeviceKey()
        try a.say(.replace(by: key.id))
        #expect(a.members == [b.id, key.id])
        #expect(a.membership.member(key.id)?.name == "attic")
        #expect(a.membership.replacement(of: a.id) == key.id)
        #expect(throws: MembershipError.notAMember) { try a.say(.revoke(b.id)) }
        // A thief moves to a key of his own while the owner revokes the stolen one.
        try b.say(.revoke(a.id))
        try b.hear(a)
        #expect(b.members == [b.id])
    }

    @Test func `who moves away may come back`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        try b.say(.revoke(b.id))
        try a.hear(b)
        #expect(a.members == [a.id])
        try a.say(.add(b.id, name: "back"))
        #expect(a.members == [a.id, b.id])
    }

    @Test func `the last name is the same everywhere`() throws {
        var a = try HouseholdDevice.founder("a")
        var b = try a.add("b")
        try a.say(.rename(b.id, name: "laptop"))
        try b.say(.rename(b.id, name: "notebook"))
        try HouseholdDevice.meet(&a, &b)
        #expect(a.membership.members == b.membership.members)
        try a.say(.rename(b.id, name: "settled"))
        try b.hear(a)
        #expect(b.membership.member(b.id)?.name == "settled")
    }

    @Test func `a name from a device that is out keeps no other name from being given`() throws {
        let (desktop, laptop, phone) = (RecordSigner.standIn(1), RecordSigner.standIn(2), RecordSigner.standIn(3))
        var membership = try Membership.founded(by: desktop)
        for device in [laptop, phone] { try membership.say(.add(device.id, name: ""), by: desktop, milliseconds: 0) }
        let chain = try #require(membership.warrants(of: phone.id).first)
        var terms = RecordTerms()
        (terms.warrant, terms.number, terms.previous) = (chain.addition.id, chain.next, chain.tip)
        terms.edition = RecordTerms.numberMax
        try membership.insert([membership.record(.rename(laptop.id, name: "mine"), terms, by: phone)])
        #expect(membership.member(laptop.id)?.name == "mine")
        try membership.say(.revoke(phone.id), by: desktop, milliseconds: 0)
        for index in 1...20 {
            try membership.say(.rename(laptop.id, name: "name \(index)"), by: index % 2 == 0 ? desktop : laptop, milliseconds: 0)
            #expect(membership.member(laptop.id)?.name == "name \(index)")
        }
    }
}
