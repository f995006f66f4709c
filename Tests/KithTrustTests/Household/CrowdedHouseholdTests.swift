import TestSupport
import Testing

@testable import KithTrust

/// The risk: what one member signs leaves no room for others, or keeps a revocation from being heard.
@Suite struct CrowdedHouseholdTests {
    private let desktop = RecordSigner.standIn(1)
    private let laptop = RecordSigner.standIn(2)
    private let phone = RecordSigner.standIn(3)

    private func household() throws -> Membership {
        var membership = try Membership.founded(by: desktop)
        for device in [laptop, phone] { try membership.say(.add(device.id, name: ""), by: desktop, milliseconds: 0) }
        return membership
    }

    private func fill(_ membership: inout Membership, by signer: RecordSigner) {
        while let _ = try? membership.say(.rename(signer.id, name: "\(membership.records.count)"), by: signer, milliseconds: 0) {}
    }

    @Test func `a laptop that a stolen phone filled hears the desktop all the same`() throws {
        let start = try household()
        var (filled, other) = (start, start)
        fill(&filled, by: phone)
        let junk = filled.records.count - start.records.count
        #expect(junk > 100)
        #expect(throws: MembershipError.tooMany) { try filled.say(.rename(phone.id, name: "x"), by: phone, milliseconds: 0) }
        // The desktop has heard nothing of it.
        try other.say(.rename(laptop.id, name: "laptop"), by: desktop, milliseconds: 0)
        try other.say(.revoke(phone.id), by: desktop, milliseconds: 0)
        filled.hear(other)
        #expect(filled.member(phone.id) == nil && filled.member(laptop.id)?.name == "laptop")
        // And there is room for more.
        try filled.say(.add(RecordSigner.standIn(4).id, name: "new"), by: laptop, milliseconds: 0)
        other.hear(filled)
        #expect(other.members == filled.members && other.members.count == 3 && other.digest == filled.digest)
    }

    @Test func `sixty devices that each add more have no more room than the one that let the first of them in`() throws {
        var membership = try household()
        let room = try #require(membership.warrants(of: phone.id).first).room
        var (devices, next) = ([phone], 10)
        for _ in 0..<60 {
            let device = RecordSigner.standIn(next)
            if (try? membership.say(.add(device.id, name: ""), by: devices[next % devices.count], milliseconds: 0)) != nil {
                devices.append(device)
            }
            next += 1
        }
        let before = membership.records.count
        for device in devices { fill(&membership, by: device) }
        let said = membership.tree.chains.filter { $0.device != desktop.id && $0.device != laptop.id }
        #expect(devices.count > 20 && membership.records.count > before)
        #expect(said.reduce(0) { $0 + $1.path.count } <= room)
        // All of them revoke each other, and then the desktop does.
        for device in devices {
            for other in devices.dropFirst() { _ = try? membership.say(.revoke(other.id), by: device, milliseconds: 0) }
        }
        try membership.say(.revoke(phone.id), by: desktop, milliseconds: 0)
        #expect(membership.members.count <= 2 + devices.count && membership.member(phone.id) == nil)
        #expect(membership.revocations.byAddition.count <= membership.tree.chains.count)
    }

    @Test func `what was handed on is used up to the last number and not beyond`() throws {
        var membership = try household()
        let chain = try #require(membership.warrants(of: phone.id).first)
        var terms = RecordTerms()
        (terms.warrant, terms.previous, terms.number) = (chain.addition.id, chain.addition.id, 1)
        terms.room = chain.room
        let greedy = try membership.record(.add(DeviceID.example(9), name: ""), terms, by: phone)
        #expect(throws: MembershipError.tooMany) { try membership.insert([greedy]) }
        terms.room = chain.room - 1
        try membership.insert([membership.record(.add(DeviceID.example(9), name: ""), terms, by: phone)])
        #expect(membership.member(DeviceID.example(9)) != nil)
        #expect(throws: MembershipError.tooMany) { try membership.say(.rename(phone.id, name: "x"), by: phone, milliseconds: 0) }
        // A new key, and revocations, need no room.
        try membership.say(.revoke(DeviceID.example(9)), by: phone, milliseconds: 0)
        try membership.say(.replace(by: DeviceID.example(10)), by: phone, milliseconds: 0)
        #expect(membership.member(DeviceID.example(10)) != nil && membership.member(DeviceID.example(9)) == nil)
    }

    @Test func `a line of devices is as long as it may be and no longer`() throws {
        var membership = try Membership.founded(by: desktop)
        var signer = desktop
        for step in 1...Membership.depthMax {
            let next = RecordSigner.standIn(step + 10)
            try membership.say(.replace(by: next.id), by: signer, milliseconds: 0)
            signer = next
        }
        #expect(membership.members.map(\.id) == [signer.id])
        for action in [MembershipAction.replace(by: desktop.id), .add(phone.id, name: "")] {
            #expect(throws: MembershipError.tooMany) { try membership.say(action, by: signer, milliseconds: 0) }
        }
        try membership.say(.rename(signer.id, name: "last"), by: signer, milliseconds: 0)
        #expect(membership.members.map(\.name) == ["last"])
    }

    @Test func `who adds a second device under one number silences nobody`() throws {
        // The laptop was added by the phone, and revokes it.
        var membership = try Membership.founded(by: desktop)
        try membership.say(.add(phone.id, name: ""), by: desktop, milliseconds: 0)
        let before = membership
        try membership.say(.add(laptop.id, name: ""), by: phone, milliseconds: 0)
        let chain = try #require(before.warrants(of: phone.id).first)
        var terms = RecordTerms()
        (terms.warrant, terms.previous, terms.number) = (chain.addition.id, chain.addition.id, 1)
        let forks = try (0..<40).map { try before.record(.rename(phone.id, name: "\($0)"), terms, by: phone, milliseconds: 0) }
        var other = before
        _ = try? other.insert(forks)
        try membership.say(.revoke(phone.id), by: laptop, milliseconds: 0)
        for message in HouseholdMessage.messages(membership.records, of: membership) {
            guard case .records(let records) = message else { continue }
            #expect(records.count == membership.records.count)
        }
        other.hear(membership)
        #expect(other.members.map(\.id) == [desktop.id])
        membership.hear(other)
        #expect(membership.digest == other.digest && membership.members == other.members)
    }

    @Test func `who revokes one device again and again makes others write down little`() throws {
        var membership = try household()
        let warrant = try #require(membership.warrants(of: phone.id).first)
        let chain = try #require(membership.warrants(of: laptop.id).first)
        var terms = RecordTerms()
        (terms.warrant, terms.addition) = (warrant.addition.id, chain.addition.id)
        var changes = 0
        for seal in (chain.nextMax..<chain.nextMax + 2_000).reversed() {
            terms.seal = seal
            let before = membership.digest
            _ = try? membership.insert([membership.record(.revoke(laptop.id), terms, by: phone)])
            if membership.digest != before { changes += 1 }
        }
        // Of equal ones the lowest id is kept: about as many as the logarithm of their number.
        #expect(changes > 0 && changes < 40)
        #expect(membership.member(laptop.id) == nil && membership.revocations.byAddition.count == 1)
        // One that leaves less standing counts all the same.
        terms.seal = 1
        try membership.insert([membership.record(.revoke(laptop.id), terms, by: phone)])
        #expect(membership.revocations.byAddition[chain.addition.id]?.terms.seal == 1)
    }

    @Test(arguments: 0..<20) func `a device that was added many times is out as each of its additions tells`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var membership = try household()
        for signer in [desktop, laptop] {
            let warrant = try #require(membership.warrants(of: signer.id).first)
            var (number, previous) = (warrant.next, warrant.tip)
            for index in 0..<20 {
                var terms = RecordTerms()
                (terms.warrant, terms.number, terms.previous) = (warrant.addition.id, number, previous)
                (terms.round, terms.room) = (Int.random(in: 0...3, using: &random), 3)
                let record = try membership.record(.add(phone.id, name: "\(index)"), terms, by: signer)
                try membership.insert([record])
                (number, previous) = (terms.next, record.id)
            }
        }
        for chain in membership.chains[phone.id] ?? [] where Int.random(in: 0..<10, using: &random) < 3 {
            var terms = RecordTerms()
            let signer = Bool.random(using: &random) ? desktop : laptop
            terms.warrant = membership.chains[signer.id]?.first?.addition.id
            (terms.addition, terms.seal) = (chain.addition.id, Int.random(in: 1...3, using: &random))
            try membership.insert([membership.record(.revoke(phone.id), terms, by: signer)])
            guard Bool.random(using: &random) else { continue }
            (terms.warrant, terms.addition, terms.seal) = (chain.addition.id, nil, 0)
            (terms.number, terms.previous) = (1, chain.addition.id)
            _ = try? membership.insert([membership.record(.replace(by: DeviceID.example(9)), terms, by: phone)])
        }
        let chains = membership.chains[phone.id] ?? []
        #expect(chains.count > 40)
        for chain in chains {
            // As docs/household.md says it, addition by addition.
            let revocation = membership.revocations.byAddition[chain.addition.id]
            let isEndedElsewhere = chains.contains { other in
                guard other.addition.id != chain.addition.id, other.round >= chain.round else { return false }
                let elsewhere = membership.revocations.byAddition[other.addition.id]
                let isOfSameRound = other.round == chain.round
                if let revocation {
                    return isOfSameRound && !other.renewals.isEmpty || elsewhere != nil && elsewhere?.author != revocation.author
                }
                return (isOfSameRound || chain.renewals.count != 1) && (!other.renewals.isEmpty || elsewhere != nil)
            }
            #expect(membership.seals[chain.addition.id] == (isEndedElsewhere ? 0 : revocation?.terms.seal))
        }
    }

    @Test func `who shows different records to two members brings them to agree`() throws {
        let start = try household()
        let chain = try #require(start.warrants(of: phone.id).first)
        func branch(_ names: [String]) throws -> Membership {
            var membership = start
            for name in names { try membership.say(.rename(phone.id, name: name), by: phone, milliseconds: 0) }
            return membership
        }
        var views = [try branch(["r1", "r2"]), try branch(["r3", "r4"]), try branch(["r5"])]
        for _ in 0..<2 {
            for left in views.indices { for right in views.indices { let other = views[left]; views[right].hear(other) } }
        }
        #expect(Set(views.map(\.digest)).count == 1)
        #expect(views.allSatisfy { $0.members == start.members && $0.tree[chain.addition.id]?.evidence.count == 2 })
        // It can say nothing any more; with another key it can.
        #expect(throws: MembershipError.forked) { try views[0].say(.rename(phone.id, name: "x"), by: phone, milliseconds: 0) }
        try views[0].say(.replace(by: DeviceID.example(9)), by: phone, milliseconds: 0)
        views[1].hear(views[0])
        #expect(views[1].member(DeviceID.example(9)) != nil && views[1].digest == views[0].digest)
    }

    @Test func `what a device added stays when one revokes it that knew all its additions and goes when one did not`() throws {
        let start = try Membership.founded(by: desktop)
        var (left, right) = (start, start)
        try left.say(.add(laptop.id, name: ""), by: desktop, milliseconds: 0)
        right = left
        // Two members add the phone and do not know of each other.
        try left.say(.add(phone.id, name: ""), by: desktop, milliseconds: 0)
        try right.say(.add(phone.id, name: ""), by: laptop, milliseconds: 0)
        let blind = right
        right.hear(left)
        try right.say(.add(DeviceID.example(1), name: ""), by: phone, milliseconds: 0)
        for (who, knewAll) in [(right, true), (blind, false)] {
            var revoking = who
            try revoking.say(.revoke(phone.id), by: laptop, milliseconds: 0)
            for _ in 0..<2 { revoking.hear(right) }
            #expect(revoking.member(phone.id) == nil)
            #expect((revoking.member(DeviceID.example(1)) != nil) == knewAll)
        }
    }

    @Test func `a backdated record of a renewed key is void and does not undo the renewal`() throws {
        var membership = try household()
        try membership.say(.add(DeviceID.example(8), name: "kept"), by: phone, milliseconds: 0)
        let old = membership
        try membership.say(.rename(phone.id, name: "mine"), by: phone, milliseconds: 0)
        let new = RecordSigner.standIn(9)
        try membership.say(.replace(by: new.id), by: phone, milliseconds: 0)
        let members = membership.members
        // What was not before the renewal, under a number that was used and under one that was not, heard before it or after it.
        var thief = old
        try thief.say(.rename(phone.id, name: "backdated"), by: phone, milliseconds: 1)
        try thief.say(.add(DeviceID.example(10), name: "planted"), by: phone, milliseconds: 1)
        for start in [membership, old, thief] {
            var view = start
            for _ in 0..<3 {
                view.hear(thief)
                view.hear(membership)
            }
            #expect(view.members == members && view.digest == membership.digest)
        }
        #expect(members.contains { $0.id == new.id && $0.name == "mine" } && members.contains { $0.name == "kept" })
    }
}

extension DeviceID {
    static func example(_ number: Int) -> DeviceID { RecordSigner.standIn(number + 1_000).id }
}
