import TestSupport
import Testing

@testable import KithTrust

/// The risk: bytes that no member signed change who belongs, fill the memory, or end the program.
@Suite struct ForgedRecordTests {
    @Test func `a record survives the way through its bytes`() throws {
        var a = try HouseholdDevice.founder("Küche 🍳")
        let other = DeviceKey().id
        for action in [MembershipAction.add(other, name: "laptop"), .rename(other, name: "x"), .revoke(other), .replace(by: other)] {
            let record = try a.say(action)
            let read = try MembershipRecord(bytes: record.bytes)
            #expect(read.id == record.id && read.author == a.id && read.action == action && read.parents == record.parents)
            #expect(read.household == a.membership.household)
        }
    }

    @Test func `every flipped bit is noticed`() throws {
        var a = try HouseholdDevice.founder()
        let record = try a.say(.add(DeviceKey().id, name: "laptop"))
        for bit in 0..<record.bytes.count * 8 {
            var bytes = record.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: MembershipError.self, "bit \(bit)") { try MembershipRecord(bytes: bytes) }
        }
    }

    @Test func `bytes of any kind are refused`() throws {
        var random = SplitMix64(seed: 1)
        var a = try HouseholdDevice.founder()
        let record = try a.say(.add(DeviceKey().id, name: "laptop")).bytes
        for _ in 0..<5_000 {
            var bytes = Bool.random(using: &random) ? random.bytes(Int.random(in: 0...400, using: &random)) : record
            let cut = Int.random(in: 0...bytes.count, using: &random)
            if Bool.random(using: &random) { bytes.removeLast(cut) } else { bytes.insert(contentsOf: random.bytes(3), at: cut) }
            guard bytes != record else { continue }
            #expect(throws: MembershipError.self) { try MembershipRecord(bytes: bytes) }
        }
    }

    @Test func `a record of the largest size is read and one byte more is not`() throws {
        // The largest that can be made: all parents and the longest name.
        var a = try HouseholdDevice.founder()
        var others: [HouseholdDevice] = []
        for _ in 0..<MembershipRecord.parentsMax + 4 { others.append(try a.add()) }
        for index in others.indices {
            try others[index].hear(a)
            try others[index].say(.rename(others[index].id, name: "\(index)"))
        }
        for other in others { try a.hear(other) }
        let record = try a.say(.add(DeviceKey().id, name: String(repeating: "x", count: 64)))
        #expect(record.parents.count == MembershipRecord.parentsMax)
        #expect(record.bytes.count <= MembershipRecord.bytesMax)
        #expect(throws: MembershipError.malformed) {
            try MembershipRecord(bytes: [UInt8](repeating: 0, count: MembershipRecord.bytesMax + 1))
        }
    }

    @Test func `names that deceive a terminal are refused`() throws {
        var a = try HouseholdDevice.founder()
        for name in ["two\nlines", "\u{1B}[2J", "a\u{202E}b", " x", String(repeating: "x", count: 65)] {
            #expect(throws: MembershipError.malformed) { try a.say(.add(DeviceKey().id, name: name)) }
        }
    }

    @Test func `a record of another household is refused`() throws {
        var a = try HouseholdDevice.founder(nonce: 1)
        var b = try HouseholdDevice.founder(nonce: 2)
        let record = try b.say(.add(a.id, name: ""))
        #expect(throws: MembershipError.otherHousehold) { try a.membership.insert([record]) }
        #expect(throws: MembershipError.otherHousehold) { try a.membership.insert(Array(b.membership.records.prefix(1))) }
        #expect(a.members == [a.id])
    }

    @Test func `a stranger can say nothing`() throws {
        let a = try HouseholdDevice.founder()
        var stranger = HouseholdDevice(knowing: a.membership)
        #expect(throws: MembershipError.notAMember) { try stranger.say(.add(stranger.id, name: "")) }
        #expect(throws: MembershipError.notAMember) { try stranger.say(.revoke(a.id)) }
    }

    @Test func `a record whose parents are not known waits for them`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        let first = try b.say(.rename(b.id, name: "one"))
        let second = try b.say(.rename(b.id, name: "two"))
        #expect(throws: MembershipError.missingParent) { try a.membership.insert([second]) }
        try a.membership.insert([first, second])
        #expect(a.membership.member(b.id)?.name == "two")
    }

    @Test func `a replayed record changes nothing`() throws {
        var a = try HouseholdDevice.founder()
        let b = try a.add()
        try a.say(.revoke(b.id))
        let digest = a.membership.digest
        #expect(try a.membership.insert(a.membership.records) == 0)
        #expect(a.membership.digest == digest && a.members == [a.id])
    }

    @Test func `one author can say only so much and revoke all the same`() throws {
        var a = try HouseholdDevice.founder()
        let b = try a.add()
        for index in 0..<Membership.recordsPerAuthorMax - 2 { try a.say(.rename(a.id, name: "\(index)")) }
        #expect(throws: MembershipError.tooMany) { try a.say(.rename(a.id, name: "one more")) }
        try a.say(.revoke(b.id))
        #expect(a.members == [a.id])
    }

    @Test func `the last places are for revocations`() throws {
        var a = try HouseholdDevice.founder()
        let devices = try (0..<9).map { _ in try a.add() }
        var flood = a.membership
        for device in devices {
            while let _ = try? flood.say(.rename(device.id, name: "\(flood.records.count)"), by: device.key, milliseconds: 0) {}
        }
        #expect(flood.records.count == Membership.recordsMax - Membership.reservedForRevocations)
        #expect(throws: MembershipError.tooMany) { try flood.say(.rename(a.id, name: "x"), by: a.key, milliseconds: 0) }
        try flood.say(.revoke(devices[0].id), by: a.key, milliseconds: 0)
        #expect(flood.member(devices[0].id) == nil)
    }

    @Test func `no author uses up the places for revocations`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        for _ in 0..<Membership.revocationsPerAuthorMax { try a.say(.revoke(DeviceKey().id)) }
        #expect(throws: MembershipError.tooMany) { try a.say(.revoke(b.id)) }
        // Nor by records that do not know of each other.
        let start = b.membership
        for _ in 0...Membership.revocationsPerAuthorMax {
            var fork = start
            let record = try fork.say(.revoke(DeviceKey().id), by: b.key, milliseconds: 0)
            _ = try? b.membership.insert([record])
        }
        #expect(b.membership.records.count == start.records.count + Membership.revocationsPerAuthorMax)
        try b.hear(a)
        var c = HouseholdDevice(key: a.key, knowing: start)
        try c.hear(b)
        #expect(c.members == b.members)
        // A file that holds more is read as it is.
        let known = try (0...Membership.revocationsPerAuthorMax).map { _ in
            var fork = start
            return try fork.say(.revoke(DeviceKey().id), by: b.key, milliseconds: 0)
        }
        var full = start
        try full.restore(known)
        #expect(full.records.count == start.records.count + known.count)
        let json = try HouseholdFile.json(of: Household(membership: full, secrets: []))
        #expect(try HouseholdFile.household(json: json, path: "").membership.digest == full.digest)
    }
}
