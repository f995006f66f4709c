import KithSync
import TestSupport
import Testing

/// The risk: whoever can announce things on the network fills this device's memory, lets it dial without end, or keeps it from the devices
/// that it looks for. In virtual time: dialling a place where nobody is takes five seconds for each address, as it does for real.
@Suite struct DialFloodTests {
    private typealias Planner = DialPlanner<Int, String, String>

    /// A network on which devices answer at certain addresses, and nobody at all others.
    private struct Network {
        var planner = Planner()
        var now = Instant(milliseconds: 0)
        /// Who answers where.
        var answering: [String: Int] = [:]
        /// Where somebody answers who is no trusted device.
        var refusing: Set<String> = []
        private(set) var dials = 0
        private(set) var mostAtOnce = 0
        private(set) var connectedAt: [Int: Instant] = [:]
        private var underWay: [(end: Instant, dial: Planner.Dial, device: Int?, advice: RetryAdvice)] = []
        private var random = SplitMix64(seed: 7)

        /// Runs until `end`, with `step` every so many milliseconds.
        mutating func run(until end: Int64, every step: Int64 = 250, _ body: (inout Network) -> Void = { _ in }) {
            while now.milliseconds < end {
                body(&self)
                for dial in planner.start(now: now) { begin(dial) }
                mostAtOnce = max(mostAtOnce, planner.diallingCount)
                now = now.advanced(byMilliseconds: step)
                for ended in underWay.filter({ $0.end <= now }) {
                    if let device = ended.device {
                        planner.connected(device, dialled: ended.dial.target)
                        planner.succeeded(device)
                        connectedAt[device] = connectedAt[device] ?? ended.end
                    } else {
                        planner.failed(ended.dial.target, ended.advice, now: now, using: &random)
                    }
                }
                underWay.removeAll { $0.end <= now }
            }
        }

        private mutating func begin(_ dial: Planner.Dial) {
            dials += 1
            var milliseconds: Int64 = 0
            for address in dial.addresses {
                if let device = answering[address], dial.device == nil || dial.device == device {
                    return underWay.append((now.advanced(byMilliseconds: milliseconds + 10), dial, device, .later))
                }
                if refusing.contains(address) || answering[address] != nil {
                    return underWay.append((now.advanced(byMilliseconds: milliseconds + 10), dial, nil, .afterChange))
                }
                // The addresses of one place are raced, a quarter of a second apart.
                milliseconds += 250
            }
            underWay.append((now.advanced(byMilliseconds: milliseconds + 5_000), dial, nil, .later))
        }
    }

    private func lies(_ names: Range<Int>, device: Int? = nil, addresses: Int = 1) -> [(name: String, device: Int?, addresses: [String])] {
        names.map { number in ("liar \(number)", device, (0..<addresses).map { "lie \(number) \($0)" }) }
    }

    @Test func `ten thousand announcements are neither kept nor dialled`() {
        var network = Network()
        for lie in lies(0..<10_000) { network.planner.found(lie.name, lie.addresses, now: network.now) }
        #expect(network.planner.targetCount == Planner.announcedMax)
        let seconds = Soak.count(120, soaking: 600)
        network.run(until: Int64(seconds) * 1_000)
        #expect(network.planner.targetCount == Planner.announcedMax)
        // Those at once, and four a second.
        #expect(network.dials <= 128 + 4 * seconds)
        #expect(network.mostAtOnce <= 128 + 4 * 5)
    }

    @Test func `a list of ten thousand announcements is cut`() {
        var planner = Planner()
        for _ in 0..<3 {
            planner.found(lies(0..<10_000), now: Instant(milliseconds: 0))
            #expect(planner.targetCount == Planner.announcedMax)
            planner.found([], now: Instant(milliseconds: 0))
            #expect(planner.targetCount == 0)
        }
    }

    @Test func `names and addresses that change all the time are dialled no more often`() {
        var network = Network()
        var round = 0
        let seconds = Soak.count(100, soaking: 300)
        network.run(until: Int64(seconds) * 1_000) { network in
            round += 1
            // Every quarter of a second the same names at other addresses, and others that nobody has heard of.
            let moved = (0..<50).map { (name: "mover \($0)", device: nil as Int?, addresses: ["round \(round) \($0)"]) }
            network.refusing = Set(moved.flatMap(\.addresses))
            network.planner.found(moved + lies(round * 1_000..<round * 1_000 + 100), now: network.now)
        }
        #expect(network.dials <= 128 + 4 * seconds)
    }

    @Test func `a listed device is reached at its address whatever is announced in its name`() {
        var network = Network()
        network.answering["home"] = 1
        network.planner.trust([(1, ["home"])], now: network.now)
        // Each lie takes all the time that one can.
        network.planner.found(lies(0..<500, device: 1, addresses: 20), now: network.now)
        network.run(until: 120_000)
        #expect((network.connectedAt[1]?.milliseconds ?? .max) < 500)
        #expect(network.dials == 1)
    }

    /// A stranger repeats the tag of a member under many names, at places that take a connection and say nothing.
    @Test func `a device that is announced once is reached among five hundred lies in its name`() {
        for name in ["", "zzz"] {
            var network = Network()
            network.answering["there"] = 1
            network.planner.trust([(1, [])], now: network.now)
            let lies = lies(0..<500, device: 1, addresses: 8)
            network.planner.found([(name, 1, ["there"])] + lies, now: network.now)
            // The lies are new again all the time, and once the list changes.
            var round = 0
            network.run(until: 500 / Int64(Planner.atOnceMax) * 7_000) { network in
                guard network.now.milliseconds % 10_000 == 0, network.connectedAt[1] == nil else { return }
                round += 1
                let moved = lies.map { (name: $0.name, device: $0.device, addresses: $0.addresses.map { "\($0) \(round)" }) }
                network.planner.found([(name, 1, ["there"])] + moved, now: network.now)
                if round % 10 == 0 { network.planner.trust([(1, [])], now: network.now) }
            }
            #expect(network.connectedAt[1] != nil)
            #expect(network.mostAtOnce <= Planner.atOnceMax)
        }
    }

    @Test func `a device that was announced in vain again and again is still reached when it comes back`() {
        var network = Network()
        network.planner.trust([(1, ["home"])], now: network.now)
        network.planner.found(lies(0..<500, device: 1), now: network.now)
        network.run(until: 600_000)
        network.answering["home"] = 1
        network.run(until: 600_000 + 130_000)
        #expect(network.connectedAt[1] != nil)
        #expect(network.mostAtOnce <= Planner.atOnceMax)
    }

    @Test func `where a device has answered it is dialled before any lie`() {
        var network = Network()
        var random = SplitMix64(seed: 9)
        network.answering["here"] = 1
        network.planner.trust([(1, [])], now: network.now)
        network.planner.found("true", ["here"], device: 1, now: network.now)
        network.run(until: 1_000)
        #expect(network.connectedAt[1] != nil)
        for lie in lies(0..<500, device: 1) { network.planner.found(lie.name, lie.addresses, device: 1, now: network.now) }
        network.planner.disconnected(1, .atOnce, now: network.now, using: &random)
        #expect(network.planner.start(now: network.now).map(\.target) == [.announced("true")])
    }

    @Test func `a device that is announced in a flood is reached when its turn comes`() {
        var network = Network()
        network.answering["there"] = 2
        network.planner.trust([(2, [])], now: network.now)
        // Nobody can tell yet who is who.
        network.planner.found(lies(0..<400), now: network.now)
        network.run(until: 10_000)
        network.planner.found("honest", ["there"], now: network.now)
        network.run(until: 150_000)
        #expect((network.connectedAt[2]?.milliseconds ?? .max) <= 10_000 + 512 / 4 * 1_000)
    }

    @Test func `a clock at its end overflows nothing`() {
        var planner = Planner()
        var random = SplitMix64(seed: 11)
        for milliseconds in [Int64.min, 0, .max - 1, .max] {
            let now = Instant(milliseconds: milliseconds)
            planner.found("one", ["\(milliseconds)"], now: now)
            for dial in planner.start(now: now) { planner.failed(dial.target, .later, now: now, using: &random) }
            _ = planner.nextDue
        }
        #expect(planner.targetCount == 1)
    }
}
