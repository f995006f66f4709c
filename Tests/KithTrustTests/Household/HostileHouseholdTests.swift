import TestSupport
import Testing

@testable import KithTrust

/// The risk: what up to three dishonest devices sign makes members disagree, silences a revocation, or puts an honest device out.
@Suite struct HostileHouseholdTests {
    private static let orders = 20

    @Test func `whatever liars sign all agree and every revocation gets through and no honest device is out`() throws {
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(100, soaking: 10_000)) {
            var household = try HostileHousehold(seed: seed)
            household.run(steps: 60)
            try judge(&household, seed)
        }
    }

    @Test func `the same holds with signatures`() throws {
        for seed in 1...UInt64(Soak.count(4, soaking: 8)) {
            let keys = (0..<200).map { _ in DeviceKey() }
            var household = try HostileHousehold(seed: seed) { RecordSigner(keys[$0 % keys.count]) }
            household.run(steps: 40)
            for record in household.all { #expect(try MembershipRecord(bytes: record.bytes).id == record.id) }
            try judge(&household, seed)
        }
    }

    private func judge(_ household: inout HostileHousehold, _ seed: UInt64) throws {
        let id = household.honest[0].view.household
        var first: Membership?
        for order in 0..<Self.orders {
            var membership = Membership(of: id)
            let records = order == 0 ? household.all : household.all.shuffled(using: &household.random)
            // Some have heard a part before, or have what an honest device has.
            if order % 3 == 1 { _ = try? membership.insert(Array(records.prefix(records.count / 2))) }
            if order % 3 == 2 { membership = household.honest[order % household.honest.count].view }
            let isSettled = membership.hear(records, inPiecesOf: 1...(order % 2 == 0 ? 4 : 30), &household.random)
            #expect(isSettled, "seed \(seed), order \(order)")
            if let first {
                #expect(membership.digest == first.digest, "seed \(seed), order \(order)")
                #expect(membership.members == first.members, "seed \(seed), order \(order)")
            } else {
                first = membership
            }
        }
        judge(try #require(first), household, "seed \(seed)")
        try judgeMeetings(household, seed)
    }

    /// The honest devices alone, each of which knows a part, come to agree as well.
    private func judgeMeetings(_ household: HostileHousehold, _ seed: UInt64) throws {
        var views = household.honest.map(\.view)
        for _ in 0..<8 where Set(views.map(\.digest)).count > 1 {
            for left in views.indices {
                for right in views.indices where left != right {
                    let other = views[right]
                    views[right].hear(views[left])
                    views[left].hear(other)
                }
            }
        }
        #expect(Set(views.map(\.digest)).count == 1, "seed \(seed): meetings")
        judge(views[0], household, "seed \(seed), meetings")
    }

    private func judge(_ membership: Membership, _ household: HostileHousehold, _ place: String) {
        var again = Membership(of: membership.household)
        _ = try? again.insert(membership.records)
        #expect(again.digest == membership.digest && again.members == membership.members, "\(place): kept records")
        for revocation in household.revocations { judge(revocation, membership, household, place) }
        for device in household.honest {
            guard let line = device.line, line.isDisjoint(with: household.attacked) else { continue }
            #expect(membership.member(device.signer.id) != nil, "\(place): \(device.signer.id) is out")
        }
        #expect(membership.tree.chains.reduce(0) { $0 + $1.path.count } <= Membership.recordsMax, "\(place)")
    }

    /// The revoked device is out unless somebody who knew added it, and nothing counts that it said and the revoking one did not know.
    private func judge(
        _ revocation: HostileHousehold.Revocation, _ membership: Membership, _ household: HostileHousehold, _ place: String
    ) {
        let terms = revocation.record.terms
        guard let addition = terms.addition, let device = revocation.record.subject, let chain = membership.tree[addition] else { return }
        for warrant in membership.warrants(of: device) { #expect(warrant.round > chain.round, "\(place): \(device) is a member") }
        for record in chain.path + chain.renewals where membership.counting.contains(record.id) {
            #expect(revocation.known.contains(record.id), "\(place): let in by a revoked device")
        }
    }
}
