/// Decides when what goes wrong, and when it is over.
struct FaultGenerator {
    private let swarm: Swarm
    private var random: SplitMix64
    /// Decides about faults with a rate.
    private var rated: SplitMix64
    /// What is to be put right again, and after how many users' transactions.
    private var repairs: [(after: Int, step: Step)] = []
    private var commits = 0
    /// One revocation is enough: more would leave nobody.
    private var isRevoked = false
    /// How long all have slept.
    private var hoursSlept: Int64 = 0

    init(seed: UInt64, swarm: Swarm) {
        self.swarm = swarm
        random = SplitMix64(seed: seed, .faults)
        rated = SplitMix64(seed: seed, .faults, 1)
    }

    /// What happens before the next user's transaction.
    mutating func next() -> [Step] {
        commits += 1
        var steps = repairs.filter { $0.after <= commits }.map(\.step)
        repairs.removeAll { $0.after <= commits }
        if random.chance(percent: swarm.faultPercent) {
            let index = random.index(weighted: swarm.faultWeights.map(\.weight))
            steps += occur(swarm.faultWeights[index].fault)
        }
        for (fault, rate) in swarm.faultRates where rated.chance(rate) { steps += occur(fault) }
        return steps
    }

    private mutating func occur(_ fault: Fault) -> [Step] {
        let (a, b) = fault.befallsLink ? connectedPair() : pair()
        switch fault {
        case .lostConnection:
            return [.drop(a, b)]
        case .partition:
            return partition(a)
        case .clog:
            repair(.unclog(from: a, to: b))
            return [.clog(from: a, to: b)]
        case .slowLink:
            repair(.slow(from: a, to: b, milliseconds: 0))
            return [.slow(from: a, to: b, milliseconds: Int64(random.pick([500, 5_000, 30_000]) ?? 500))]
        case .crash:
            repair(.start(a))
            return [.crash(a)]
        case .wrongClock:
            let magnitude = random.pick([1_000, 60_000, 3_600_000, 86_400_000, 31_536_000_000]) ?? 1_000
            let offset = Int64(random.int(in: -magnitude...magnitude))
            // A store that knows of sticks waits for members: a leap of 90 days makes them all silent at once.
            return [.setClock(node: a, byMilliseconds: swarm.carries ? offset % (Self.hoursSleptMax * 3_600_000) : offset)]
        case .driftingClock:
            repair(.runClock(node: a, percent: 100))
            return [.runClock(node: a, percent: random.pick([0, 50, 99, 101, 1_000]) ?? 100)]
        case .fullDisk:
            repair(.freeDisk(node: a))
            return [.fillDisk(node: a, afterWrites: random.int(in: 0...30))]
        case .brokenDisk:
            repair(.mendDisk(a))
            return [.breakDisk(node: a, afterWrites: random.int(in: 0...30))]
        case .powerLoss:
            repair(.start(a))
            return [.losePower(node: a, afterWrites: random.pick([0, 3, 30, 300]).map { random.int(in: 0...$0) } ?? 0)]
        case .absence:
            let hours = Int64(random.pick([1, 24, 24 * 40, 24 * 100]) ?? 1)
            if swarm.removesRows, hoursSlept + hours > Self.hoursSleptMax { return [] }
            hoursSlept += hours
            return [.sleep(hours: hours)]
        case .nap: return nap(a)
        case .split: return split()
        case .swizzle: return swizzle()
        case .restore:
            repair(.restore(a))
            return [.backup(a)]
        case .revert:
            repair(.revert(a))
            return [.backup(a)]
        case .clone:
            return [.clone(from: a, to: b)]
        case .oldVersion:
            return swarm.hasOlderVersion && a != swarm.staysOld ? [.update(a)] : []
        case .garbage:
            // What was deleted is in the trash for a month from when it was heard of, and members must have said that they hold the deletion.
            let hours: Int64 = 24 * 31
            if hoursSlept + hours > Self.hoursSleptMax { return [.collect(a)] }
            hoursSlept += hours
            let collection: [Step] = [.wait(milliseconds: 5_000), .collect(a)]
            let month = [.wait(milliseconds: 5_000), .sleep(hours: hours)] + collection
            return random.chance(percent: 50) ? month : absence(of: b, during: month, then: collection)
        case .revocation:
            if isRevoked { return [] }
            isRevoked = true
            return [.revoke(a)]
        case .stick: return carry(from: a, to: b)
        case .foundRows: return []
        case .forgery:
            switch random.int(in: 0...99) {
            case ..<50: return [.forge(from: a, to: b)]
            case ..<80: return [.lie(from: a, to: b)]
            default: return [.lieRecords(from: a, to: b)]
            }
        case .damage:
            return [.damage(from: a, to: b)]
        }
    }

    /// Who has been silent for 90 days is no longer waited for.
    private static let hoursSleptMax: Int64 = 24 * 85

    /// One node alone, or one pair; healed link by link in another order.
    private mutating func partition(_ node: Int) -> [Step] {
        var steps: [Step] = []
        for other in 0..<swarm.nodeCount where other != node && random.chance(percent: 60) {
            steps.append(.cut(node, other))
            repair(.join(node, other))
        }
        return steps
    }

    /// One node is cut off, hears of nothing and goes on writing; meanwhile, a little later, `steps` are done, and `after` when it is back.
    private mutating func absence(of node: Int, during steps: [Step], then after: [Step]) -> [Step] {
        let others = (0..<swarm.nodeCount).filter { $0 != node }
        let middle = commits + random.int(in: 2...15)
        let end = middle + random.int(in: 1...10)
        repairs += steps.map { (middle, $0) } + others.map { (end, .join(node, $0)) } + after.map { (end, $0) }
        return others.map { .cut(node, $0) }
    }

    /// One node sleeps for a month or two, in which the others write now and then.
    private mutating func nap(_ node: Int) -> [Step] {
        let nights = random.int(in: 3...6)
        let hours: Int64 = 24 * 11
        if swarm.removesRows, hoursSlept + Int64(nights) * hours > Self.hoursSleptMax { return [] }
        hoursSlept += Int64(nights) * hours
        for night in 1...nights { repairs.append((commits + 2 * night, .sleep(hours: hours))) }
        repairs.append((commits + 2 * nights + 1, .wake(node)))
        return [.nap(node)]
    }

    /// Two groups, as close to halves as it goes or not, who find each other again link by link.
    private mutating func split() -> [Step] {
        let nodes = shuffled()
        guard nodes.count > 2 else { return [] }
        let size = random.int(in: 1...nodes.count / 2)
        let end = commits + random.int(in: 2...(random.pick([5, 20, 40]) ?? 5))
        var steps: [Step] = []
        for one in nodes.prefix(size) {
            for other in nodes.dropFirst(size) {
                steps.append(.cut(one, other))
                repairs.append((end + random.int(in: 0...2), .join(one, other)))
            }
        }
        return steps
    }

    /// Swizzle-clogging, which FoundationDB's simulator does; see Wilson, "Testing Distributed Systems with Deterministic Simulation", 2014.
    private mutating func swizzle() -> [Step] {
        let nodes = Array(shuffled().prefix(random.int(in: 2...max(2, swarm.nodeCount - 1))))
        var steps: [Step] = []
        for (order, node) in nodes.enumerated() {
            for other in 0..<swarm.nodeCount where other != node {
                let clog = [Step.clog(from: node, to: other), .clog(from: other, to: node)]
                if order == 0 { steps += clog } else { repairs += clog.map { (commits + order, $0) } }
            }
        }
        let stopped = commits + nodes.count
        for (order, node) in shuffled().filter(nodes.contains).enumerated() {
            for other in 0..<swarm.nodeCount where other != node {
                repairs += [(stopped + order, .unclog(from: node, to: other)), (stopped + order, .unclog(from: other, to: node))]
            }
        }
        return steps
    }

    /// Two machines that do not meet for a while, or meet, and a stick that goes from one to the other, perhaps to a third, perhaps back.
    private mutating func carry(from a: Int, to b: Int) -> [Step] {
        let stick = random.int(in: 1...3)
        var steps: [Step] = []
        if random.chance(percent: 60) {
            steps.append(.cut(a, b))
            repair(.join(a, b))
        }
        steps.append(.carryOut(node: a, stick: stick, to: random.chance(percent: 50) ? b : nil))
        for _ in 0..<random.int(in: 1...2) { repair(.carryIn(node: b, stick: stick)) }
        if random.chance(percent: 40) { repair(.carryIn(node: random.int(in: 0...swarm.nodeCount - 1), stick: stick)) }
        if random.chance(percent: 50) {
            repair(.carryOut(node: b, stick: stick, to: random.chance(percent: 50) ? a : nil))
            repair(.carryIn(node: a, stick: stick))
        }
        if random.chance(percent: 10) { repair(.loseStick(stick)) }
        return steps
    }

    private mutating func shuffled() -> [Int] {
        var nodes = Array(0..<swarm.nodeCount)
        for index in nodes.indices.dropLast() { nodes.swapAt(index, random.int(in: index...nodes.count - 1)) }
        return nodes
    }

    private mutating func repair(_ step: Step) {
        repairs.append((commits + random.int(in: 1...(random.pick([5, 20, 80]) ?? 5)), step))
    }

    /// Two machines that have a link, if any have one.
    private mutating func connectedPair() -> (Int, Int) {
        guard let (one, other) = random.pick(swarm.conditions.topology.links(nodeCount: swarm.nodeCount)) else { return pair() }
        return random.chance(percent: 50) ? (one, other) : (other, one)
    }

    private mutating func pair() -> (Int, Int) {
        let a = random.int(in: 0...swarm.nodeCount - 1)
        let b = random.int(in: 0...max(0, swarm.nodeCount - 2))
        return (a, b >= a ? min(b + 1, swarm.nodeCount - 1) : b)
    }
}
