import Foundation
import TestSupport
import Testing

@testable import KithTrust

/// The risk: a large household makes every command and every handshake slow.
@Suite struct HouseholdCostTests {
    /// A household that has used its room up: thirty devices, names, revocations.
    private func full() throws -> (Household, DeviceKey) {
        let keys = (0..<30).map { _ in DeviceKey() }
        var household = try Household.founded(as: "0", by: keys[0])
        var members = [keys[0]]
        for key in keys.dropFirst() {
            for sponsor in members where (try? household.say(.add(key.id, name: "d"), by: sponsor)) != nil {
                members.append(key)
                break
            }
        }
        for member in members {
            while let _ = try? household.say(.rename(member.id, name: "\(household.membership.records.count)"), by: member) {}
        }
        for member in members.dropFirst(20) { try household.say(.revoke(member.id), by: members[0]) }
        return (household, keys[0])
    }

    @Test func `a start verifies no signature again and finds damage`() throws {
        let folder = try TemporaryFolder()
        let key = try DeviceKey.loadOrCreate(in: folder.url)
        var household = try Household.founded(as: "a", by: key)
        try household.say(.add(DeviceKey().id, name: "b"), by: key)
        // Signed by nobody: only what was verified is ever written.
        let unsigned = household.membership.records.map { Array($0.bytes.dropLast(64)) + [UInt8](repeating: 1, count: 64) }
        #expect(throws: MembershipError.unsigned) { try MembershipRecord(bytes: unsigned[1]) }
        let restored = try Household(membership: Membership(of: household.id, restoring: unsigned), secrets: household.secrets)
        let json = try HouseholdFile.json(of: restored)
        #expect(try HouseholdFile.household(json: json, path: "").membership.members == household.membership.members)
        let text = String(decoding: json, as: UTF8.self)
        let records = String(try #require(text.split(separator: "\"").first { $0.count > 400 }))
        for place in stride(from: 0, to: records.count, by: 7) {
            var damaged = Array(records)
            damaged[place] = damaged[place] == "A" ? "B" : "A"
            let other = text.replacingOccurrences(of: records, with: String(damaged))
            #expect(throws: TrustError.self) { try HouseholdFile.household(json: Array(other.utf8), path: "") }
        }
    }

    /// The figures of docs/household.md: `KITH_SOAK=1` prints them.
    @Test(.enabled(if: Soak.isAsked)) func `a full household is read and judged at once`() throws {
        let (household, key) = try full()
        let records = household.membership.records
        let json = try HouseholdFile.json(of: household)
        let clock = ContinuousClock()
        var membership = Membership(of: household.id)
        let judging = try clock.measure { _ = try membership.insert(records) }
        let one = try clock.measure { _ = try membership.say(.revoke(key.id), by: key, milliseconds: 0) }
        var read: Household?
        let reading = try clock.measure { read = try HouseholdFile.household(json: json, path: "") }
        let verifying = try clock.measure { for record in records { _ = try MembershipRecord(bytes: record.bytes) } }
        print("\(records.count) records, \(json.count) bytes: judged \(judging), one more \(one), read \(reading), verified \(verifying)")
        #expect(read?.membership.digest == household.membership.digest)
    }
}

extension Membership {
    init(of household: HouseholdID, restoring records: [[UInt8]]) throws {
        self.init(of: household)
        try insert(RecordClaim.restored(records))
    }
}
