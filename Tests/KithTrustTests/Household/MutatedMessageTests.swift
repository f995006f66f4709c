import TestSupport
import Testing

@testable import KithTrust

/// The risk: a damaged message about the household ends the program, or makes somebody a member whom nobody has added.
@Suite struct MutatedMessageTests {
    /// Messages of all kinds that a member may send, which has added a device and revoked it again, and has another key.
    private func messages(_ member: TrustedHome, _ ahead: TrustedHome) throws -> [[UInt8]] {
        try member.pair(with: ahead)
        try member.store.rename(ahead.id, to: "kitchen")
        try member.store.remove(ahead.id)
        _ = try member.store.renewKey()
        let household = try #require(member.store.household)
        let records = household.membership.records
        return HouseholdMessage.have(all: records.map(\.id)).map(\.encoded)
            + HouseholdMessage.messages(records, of: household.membership).map(\.encoded)
            + [HouseholdMessage.digest(household.digest).encoded, HouseholdMessage.secrets(household.secrets).encoded]
    }

    @Test func `mutated messages about the household make no stranger a member`() throws {
        let (home, member) = (try TrustedHome(), try TrustedHome())
        try home.pair(with: member)
        let (early, ahead) = (home.trusted, try TrustedHome())
        let messages = try messages(member, ahead)
        // The member with its key as it was and as it is, and the device that it has added: of its revocation nothing may be left.
        let expected = early.union([member.id, ahead.id])
        var random = SplitMix64(seed: Soak.firstSeed)
        var (understood, changes) = (0, 0)
        for round in 0..<Soak.count(4_000, soaking: 1_000_000) {
            var bytes = messages[round % messages.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) { bytes.damage(&random) }
            guard let message = HouseholdMessage(bytes) else { continue }
            understood += 1
            // What was read is within the rules: it can be written, and reads back the same.
            #expect(HouseholdMessage(message.encoded) == message)
            let (answers, hasChanged) = try home.store.answer(message)
            #expect(answers.allSatisfy { $0.encoded.count <= HouseholdMessage.bytesMax })
            if hasChanged { changes += 1 }
        }
        #expect(understood > 0 && home.trusted.isSubset(of: expected) && !home.trusted.isEmpty)
        // The newest secrets and records are heard all the same.
        for message in messages { _ = try home.store.answer(try #require(HouseholdMessage(message))) }
        #expect(home.trusted == [member.id])
        print("\(understood) of the messages were understood, \(changes) told something new")
    }
}
