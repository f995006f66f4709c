import TestSupport
import Testing

@testable import KithTrust

/// The risk: what a household has grown to does not fit into the messages of its members, or takes them for ever.
@Suite struct LargeHouseholdMessageTests {
    private func ids(_ count: Int) throws -> [MembershipRecord.ID] {
        var random = SplitMix64(seed: 3)
        return try (0..<count).map { _ in try #require(MembershipRecord.ID(bytes: random.bytes(32))) }
    }

    @Test(arguments: [0, 1, 1_999, 2_000, 2_001, 4_000, 5_500]) func `any number of ids is said, and each once`(count: Int) throws {
        let ids = try ids(count)
        let messages = HouseholdMessage.have(all: ids)
        #expect(messages.count == max(1, (count + HouseholdMessage.idsMax - 1) / HouseholdMessage.idsMax))
        var (said, reach) = ([] as [MembershipRecord.ID], MembershipRecord.ID.lowest)
        for message in messages {
            #expect(message.encoded.count <= HouseholdMessage.bytesMax)
            guard case .have(let part, let from, let through)? = HouseholdMessage(message.encoded) else { Issue.record("unread"); return }
            // Nothing lies between two parts, and nothing of a part outside of its bounds.
            #expect(from == reach && part.allSatisfy { from <= $0 && $0 <= through })
            (said, reach) = (said + part, through)
        }
        #expect(said == ids.sorted() && reach == .highest)
    }

    @Test func `what lies outside of the bounds of a message is not sent`() throws {
        let (a, b) = (try TrustedHome(), try TrustedHome())
        try a.pair(with: b)
        let records = try #require(a.store.household).membership.records
        let sorted = records.map(\.id).sorted()
        func answer(_ message: HouseholdMessage) throws -> Int {
            try a.store.answer(message).answers.reduce(0) { count, message in
                if case .records(let records) = message { count + records.count } else { count }
            }
        }
        #expect(try answer(.have([])) == records.count)
        #expect(try answer(.have([], from: sorted[0], through: sorted[0])) == 1)
        #expect(try answer(.have([sorted[0]], from: sorted[0], through: sorted[0])) == 0)
        #expect(try answer(.have([], from: .highest, through: .lowest)) == 0)
    }

    @Test func `no message of records is too large, and a revocation has with it what it needs`() throws {
        let (founder, thief) = (RecordSigner.standIn(1), RecordSigner.standIn(2))
        var membership = try Membership.founded(by: founder)
        try membership.say(.add(thief.id, name: String(repeating: "x", count: 64)), by: founder, milliseconds: 0)
        let before = membership
        try membership.say(.add(DeviceID.example(1), name: ""), by: thief, milliseconds: 0)
        while let _ = try? membership.say(.rename(founder.id, name: "\(membership.records.count)"), by: founder, milliseconds: 0) {}
        // What the thief added is void, and still leads to who revoked it.
        let revoking = RecordSigner.standIn(1 + 1_000)
        try membership.say(.revoke(thief.id), by: revoking, milliseconds: 0)
        var terms = RecordTerms()
        let chain = try #require(before.warrants(of: thief.id).first)
        (terms.warrant, terms.previous, terms.number) = (chain.addition.id, chain.addition.id, 1)
        _ = try? membership.insert((0..<40).map { try before.record(.rename(thief.id, name: "\($0)"), terms, by: thief) })
        let messages = HouseholdMessage.messages(membership.records, of: membership)
        #expect(messages.count > 2 && messages.allSatisfy { $0.encoded.count <= HouseholdMessage.bytesMax })
        var other = Membership(of: membership.household)
        for message in messages {
            guard case .records(let bytes)? = HouseholdMessage(message.encoded) else { continue }
            _ = try? other.insert(membership.records.filter { bytes.contains($0.bytes) })
        }
        #expect(other.digest == membership.digest && other.member(thief.id) == nil && other.member(founder.id) != nil)
    }
}
