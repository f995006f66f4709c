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
            #expect(read.id == record.id && read.author == a.id && read.action == action && read.terms == record.terms)
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
        for _ in 0..<Soak.count(5_000, soaking: 1_000_000) {
            var bytes = Bool.random(using: &random) ? random.bytes(Int.random(in: 0...400, using: &random)) : record
            let cut = Int.random(in: 0...bytes.count, using: &random)
            if Bool.random(using: &random) { bytes.removeLast(cut) } else { bytes.insert(contentsOf: random.bytes(3), at: cut) }
            guard bytes != record else { continue }
            #expect(throws: MembershipError.self) { try MembershipRecord(bytes: bytes) }
        }
    }

    @Test func `a record of the largest size is read and one byte more is not`() throws {
        var a = try HouseholdDevice.founder()
        let record = try a.say(.add(DeviceKey().id, name: String(repeating: "x", count: 64)))
        #expect(record.bytes.count <= MembershipRecord.bytesMax)
        #expect(throws: MembershipError.malformed) { try MembershipRecord(bytes: record.bytes + [0]) }
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

    @Test func `a record waits for those that it follows`() throws {
        var a = try HouseholdDevice.founder()
        var b = try a.add()
        let first = try b.say(.rename(b.id, name: "one"))
        let second = try b.say(.rename(b.id, name: "two"))
        #expect(throws: MembershipError.missingRecord) { try a.membership.insert([second]) }
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
}
