import Testing

@testable import KithTrust

/// The risk: a device that was out, came back and goes again takes along what it said when it was a member before.
@Suite struct ReturnedDeviceTests {
    private func expectMembers(_ expected: Set<DeviceID>, _ devices: [HouseholdDevice], _ location: SourceLocation = #_sourceLocation)
        throws
    {
        // In another order, all say the same.
        var devices = devices
        for _ in 0..<2 {
            for left in devices.indices {
                for right in devices.indices.reversed() where left != right { try devices[right].hear(devices[left]) }
            }
        }
        for device in devices {
            #expect(device.members == expected, sourceLocation: location)
            #expect(device.membership.digest == devices[0].membership.digest, sourceLocation: location)
            let again = HouseholdDevice(knowing: try anew(device.membership))
            #expect(again.members == expected, sourceLocation: location)
            #expect(again.membership.digest == device.membership.digest, sourceLocation: location)
        }
    }

    /// The same records, each for itself and in the opposite order.
    private func anew(_ membership: Membership) throws -> Membership {
        var copy = Membership(of: membership.household)
        for _ in 0..<3 { for record in membership.records.reversed() { _ = try? copy.insert([record]) } }
        _ = try? copy.insert(membership.records)
        return copy
    }

    @Test func `the first device leaves, comes back and is revoked by another one`() throws {
        var x = try HouseholdDevice.founder()
        var a = try x.add("a")
        let b = try x.add("b")
        try a.hear(x)
        try x.say(.revoke(x.id))
        try a.hear(x)
        try a.say(.add(x.id, name: "x"))
        try x.hear(a)
        var c = try x.add("c")
        try a.hear(x)
        try a.say(.revoke(x.id))
        #expect(a.members == [a.id, b.id, c.id])
        try expectMembers([a.id, b.id, c.id], [a, b, c, x])
        // Once more, by one whom it has added the second time.
        try c.hear(a)
        try c.say(.add(x.id, name: "x"))
        try c.say(.revoke(x.id))
        try expectMembers([a.id, b.id, c.id], [c, b, a, x])
    }

    @Test func `it is revoked by one and then by another`() throws {
        var x = try HouseholdDevice.founder()
        var a = try x.add("a")
        var b = try x.add("b")
        try a.hear(x)
        try a.say(.revoke(x.id))
        try b.hear(a)
        try b.say(.add(x.id, name: "x"))
        // Both end it at once.
        try a.hear(b)
        try a.say(.revoke(x.id))
        try b.say(.revoke(x.id))
        try expectMembers([a.id, b.id], [a, b, x])
    }

    @Test func `what a device added that was added by another one stays`() throws {
        var a = try HouseholdDevice.founder()
        var x = try a.add("x")
        let b = try x.add("b")
        try x.say(.revoke(x.id))
        try a.hear(x)
        try a.say(.add(x.id, name: "x"))
        try a.say(.revoke(x.id))
        try expectMembers([a.id, b.id], [a, b, x])
    }

    @Test func `a key that was replaced is added again by mistake, and revoked`() throws {
        var phone = try HouseholdDevice.founder("phone")
        var attic = try phone.add("attic")
        let new = HouseholdDevice(key: DeviceKey(), knowing: phone.membership)
        try phone.say(.replace(by: new.id))
        try attic.hear(phone)
        #expect(attic.members == [attic.id, new.id])
        try attic.say(.add(phone.id, name: "copy"))
        #expect(attic.members == [attic.id, new.id, phone.id])
        try attic.say(.revoke(phone.id))
        try expectMembers([attic.id, new.id], [attic, phone, new])
    }

    @Test(arguments: [false, true]) func `a device that came back takes another key`(hasKeyBefore: Bool) throws {
        var x = try HouseholdDevice.founder("x")
        var a = try x.add("a")
        try a.hear(x)
        let before = DeviceKey()
        try x.say(hasKeyBefore ? .replace(by: before.id) : .revoke(x.id))
        try a.hear(x)
        try a.say(.add(x.id, name: "x"))
        try x.hear(a)
        let new = HouseholdDevice(key: DeviceKey(), knowing: x.membership)
        try x.say(.replace(by: new.id))
        try a.hear(x)
        #expect(a.members == Set([a.id, new.id] + (hasKeyBefore ? [before.id] : [])))
        try expectMembers(a.members, [a, x, new])
    }

    @Test func `a device is revoked while it takes another key, and is revoked again under the old one`() throws {
        var x = try HouseholdDevice.founder("x")
        var a = try x.add("a")
        var b = try x.add("b")
        try a.hear(x)
        try x.say(.replace(by: DeviceKey().id))
        try a.say(.revoke(x.id))
        try b.hear(a)
        try b.hear(x)
        try b.say(.add(x.id, name: "x"))
        try b.say(.revoke(x.id))
        try expectMembers([a.id, b.id], [a, b, x])
    }

    @Test func `who returns cannot bring back what it says it had said before`() throws {
        var a = try HouseholdDevice.founder()
        var x = try a.add("x")
        var accomplice = try a.add("accomplice")
        try x.hear(a)
        // It keeps back an addition of before.
        var hidden = x
        let guest = try hidden.add("guest")
        try a.say(.revoke(x.id))
        try accomplice.hear(a)
        try accomplice.say(.add(x.id, name: "x"))
        try a.hear(accomplice)
        try a.say(.revoke(x.id))
        try a.hear(guest)
        try expectMembers([a.id, accomplice.id], [a, accomplice, guest])
    }
}
