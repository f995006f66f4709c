import Testing

@testable import KithTrust

/// The risk: a device that was revoked goes on recognising the others, because its secret stays the newest.
@Suite struct ForgedSecretTests {
    private let (a, b, thief): (TrustedHome, TrustedHome, TrustedHome)

    init() throws {
        (a, b, thief) = (try TrustedHome(), try TrustedHome(), try TrustedHome())
        try a.pair(with: b)
        try a.pair(with: thief)
        try a.exchange(with: b)
    }

    private func forged(_ number: UInt32) throws -> [HouseholdSecret] {
        try (0..<4).map { try #require(HouseholdSecret(number: number, bytes: [UInt8](repeating: 255 - $0, count: 32))) }
    }

    private var limit: UInt32 {
        get throws { UInt32(1 + Membership.recordsMax + (try #require(a.store.household).membership.records.count)) }
    }

    @Test func `a number past the limit is passed over`() throws {
        let before = a.store.household?.secrets
        for number in [try limit + 1, .max] {
            #expect(try !a.store.answer(.secrets(forged(number))).hasChanged)
            #expect(a.store.household?.secrets == before)
        }
    }

    @Test func `even at the limit it is overcome by the revocation`() throws {
        for device in [a, b] { #expect(try device.store.answer(.secrets(forged(limit))).hasChanged) }
        try a.store.remove(thief.id)
        try a.exchange(with: b)
        let newest = try #require(a.store.household?.secrets.first)
        #expect(try newest.number == limit)
        #expect(b.store.household?.secrets == a.store.household?.secrets)
        #expect(b.trusted == [a.id])
    }

    @Test func `what a secret came before is followed by the digest that brings it again`() throws {
        for device in [a, b] { _ = try device.store.answer(.secrets(forged(limit))) }
        try a.store.remove(thief.id)
        let household = try #require(a.store.household)
        #expect(try !b.store.answer(.secrets(household.secrets)).hasChanged, "the record that makes room for it is not there yet")
        for message in HouseholdMessage.messages(household.membership.records, of: household.membership) {
            let (answers, hasChanged) = try b.store.answer(message)
            #expect(hasChanged && answers == [b.store.householdDigest])
        }
        #expect(try b.store.answer(.secrets(household.secrets)).hasChanged)
    }
}
