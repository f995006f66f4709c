import KithTrust
import TestSupport
import Testing

/// The risk: after partitions and revocations at any moment, two honest devices disagree about who belongs, or a revoked one is in.
@Suite struct DividedHouseholdTests {
    /// A household of honest devices, one of which is revoked at a random moment and goes on as if it were not.
    private struct Simulation {
        var random: SplitMix64
        var devices: [HouseholdDevice] = []
        var thief: HouseholdDevice
        /// What the thief added and nobody honest did.
        var planted: Set<DeviceID> = []
        /// In which part of the network each device is; the thief is in all of them.
        var parts: [Int] = []

        init(seed: UInt64, keys: [DeviceKey]) throws {
            random = SplitMix64(seed: seed)
            let record = try MembershipRecord.founding(as: "0", by: keys[0], nonce: random.bytes(32), milliseconds: 0)
            var founder = HouseholdDevice(key: keys[0], knowing: try Membership(foundedBy: record))
            for key in keys.dropFirst() { try founder.say(.add(key.id, name: "")) }
            devices = keys.dropLast().map { HouseholdDevice(key: $0, knowing: founder.membership) }
            thief = HouseholdDevice(key: keys[keys.count - 1], knowing: founder.membership)
            parts = devices.map { _ in 0 }
        }

        mutating func step() throws {
            let index = Int.random(in: devices.indices, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: parts = devices.map { _ in Int.random(in: 0...1, using: &random) }
            case 1: _ = try? devices[index].say(.rename(devices[index].id, name: "name \(random.next() % 100)"))
            case 2, 3: try plant()
            case 4: hearThief(index)
            case 5: try thief.hear(devices[index])
            default:
                let other = Int.random(in: devices.indices, using: &random)
                if other != index, parts[index] == parts[other] {
                    var left = devices[index]
                    try left.hear(devices[other])
                    try devices[other].hear(left)
                    devices[index] = left
                }
            }
        }

        /// The thief adds a key of its own, with what it knew at some earlier time for its reasons.
        mutating func plant() throws {
            let all = thief.membership.records
            var memory = Membership(of: thief.membership.household)
            let known = Bool.random(using: &random) ? all.count : Int.random(in: 1...all.count, using: &random)
            _ = try? memory.insert(Array(all.prefix(known)))
            let planted = DeviceKey().id
            var liar = HouseholdDevice(key: thief.key, knowing: memory)
            guard (try? liar.say(.add(planted, name: "plant"))) != nil else { return }
            self.planted.insert(planted)
            _ = try? thief.membership.insert(liar.membership.records)
        }

        /// A member that does not know better listens to the thief.
        mutating func hearThief(_ index: Int) {
            guard devices[index].membership.member(thief.id) != nil else { return }
            _ = try? devices[index].hear(thief)
        }

        mutating func revokeThief() throws {
            let index = Int.random(in: devices.indices, using: &random)
            // What the one that revokes knows of is its own responsibility; all else is the thief's.
            let known = devices[index].members
            try devices[index].say(.revoke(thief.id))
            planted.subtract(known)
        }

        mutating func heal() throws {
            for index in devices.indices { try devices[0].hear(devices[index]) }
            for index in devices.indices { try devices[index].hear(devices[0]) }
        }
    }

    @Test func `honest devices agree whenever one is revoked`() throws {
        let keys = (0..<5).map { _ in DeviceKey() }
        for seed in 0..<Soak.count(150, soaking: 500) {
            var simulation = try Simulation(seed: UInt64(seed), keys: keys)
            let moment = Int.random(in: 0..<16, using: &simulation.random)
            for step in 0..<24 {
                if step == moment { try simulation.revokeThief() }
                try simulation.step()
            }
            try simulation.heal()
            let members = simulation.devices[0].membership.members
            for device in simulation.devices {
                #expect(device.membership.members == members, "seed \(seed)")
                #expect(device.membership.digest == simulation.devices[0].membership.digest, "seed \(seed)")
                #expect(members.contains { $0.id == device.id }, "seed \(seed)")
            }
            let ids = Set(members.map(\.id))
            #expect(!ids.contains(simulation.thief.id), "seed \(seed)")
            #expect(ids.isDisjoint(with: simulation.planted), "seed \(seed)")
        }
    }

    @Test func `the order in which records come does not matter`() throws {
        let keys = (0..<5).map { _ in DeviceKey() }
        for seed in 0..<20 {
            var simulation = try Simulation(seed: UInt64(1_000 + seed), keys: keys)
            for step in 0..<30 {
                if step == 12 { try simulation.revokeThief() }
                if step == 15 { _ = try? simulation.devices[1].say(.revoke(simulation.devices[2].id)) }
                if step == 16 { _ = try? simulation.devices[2].say(.revoke(simulation.devices[1].id)) }
                try simulation.step()
            }
            try simulation.heal()
            let known = simulation.devices[0].membership
            var waiting = known.records.shuffled(using: &simulation.random)
            var other = Membership(of: known.household)
            while !waiting.isEmpty {
                let before = waiting.count
                _ = try? other.insert(waiting)
                waiting.removeAll { other.contains($0.id) }
                try #require(waiting.count < before, "seed \(seed): \(waiting.count) records never fit")
            }
            #expect(other.members == known.members, "seed \(seed)")
            #expect(other.digest == known.digest)
        }
    }
}
