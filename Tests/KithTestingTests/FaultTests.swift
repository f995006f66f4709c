import KithTesting
import TestSupport
import Testing

/// Risk: a fault is in the list, and never happens.
@Suite struct FaultTests {
    /// Of the scripts that are looked at, so many are also run.
    private static let runCount = UInt64(Soak.count(1, soaking: 2))

    private static func simulator(_ fault: Fault) throws -> KithSimulator {
        var simulator = try PromiseTests.simulator()
        simulator.nodeCount = 5
        simulator.faults = [fault]
        return simulator
    }

    /// `split` and `swizzle` are made of others, and tried below; `garbage` needs longer runs, and is tried in `PromiseTests`.
    @Test(arguments: Fault.allCases.filter { ![.split, .swizzle, .garbage].contains($0) })
    func `each fault befalls something`(fault: Fault) throws {
        var simulator = try PromiseTests.simulator()
        simulator.commitCount = Soak.count(15, soaking: 25)
        simulator.faults = []
        simulator.faultRates = [fault: 0.3]
        var befell = 0
        for seed in 0..<3 as Range<UInt64> where befell == 0 {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil)
            befell = report.statistics.faults[fault] ?? 0
        }
        #expect(befell > 0)
    }

    @Test func `a machine that sleeps for a month writes nothing, and takes part again when it wakes`() throws {
        let script = try Script(
            parsing: """
                nodes 3
                A: insert note 1 title='one'
                wait 5000
                nap B
                A: update note 1 title='two'
                sleep 400
                B: update note 1 title='asleep'
                C: insert note 2 title='three'
                sleep 400
                wake B
                wait 5000
                B: update note 2 title='awake'
                """)
        let report = try KithSimulator.standard.run(script)
        #expect(report.violation == nil)
        #expect(report.statistics.commits == 4)
        #expect(report.statistics.virtualMilliseconds > 800 * 3_600_000)
    }

    @Test func `seeds let one machine sleep for a month and more while others write`() throws {
        let simulator = try Self.simulator(.nap)
        var hours: [Int64] = []
        for seed in 0..<8 as Range<UInt64> {
            let script = try simulator.script(seed: seed)
            if seed < Self.runCount { #expect(simulator.run(script).violation == nil, "seed \(seed)") }
            var asleep: (node: Int, hours: Int64, writers: Set<Int>)?
            for step in script.steps {
                switch step {
                case .nap(let node): asleep = asleep ?? (node, 0, [])
                case .sleep(let more): asleep?.hours += more
                case .commit(let node, _): asleep?.writers.insert(node)
                case .wake(let node):
                    guard let nap = asleep, nap.node == node else { break }
                    if !nap.writers.subtracting([node]).isEmpty { hours.append(nap.hours) }
                    asleep = nil
                default: break
                }
            }
        }
        #expect(hours.count > 4)
        #expect(hours.contains { $0 > 24 * 31 })
    }

    @Test func `connections are lost in the middle of frames`() throws {
        var simulator = try Self.simulator(.lostConnection)
        simulator.faultRates = [.lostConnection: 0.8]
        var torn = 0
        for seed in 0..<4 as Range<UInt64> where torn <= 4 { torn += try simulator.run(simulator.script(seed: seed)).statistics.framesTorn }
        #expect(torn > 4)
    }

    @Test func `seeds split machines into two groups that have no link between them`() throws {
        let simulator = try Self.simulator(.split)
        var sizes: Set<Int> = []
        for seed in 0..<8 as Range<UInt64> {
            let script = try simulator.script(seed: seed)
            if seed < Self.runCount { #expect(simulator.run(script).violation == nil, "seed \(seed)") }
            var cut: Set<[Int]> = []
            for step in script.steps {
                if case .cut(let a, let b) = step { cut.insert([min(a, b), max(a, b)]) }
                if case .join(let a, let b) = step { cut.remove([min(a, b), max(a, b)]) }
                // Those that the first machine still reaches, with no link out of the group.
                let group = (0..<5).filter { $0 == 0 || !cut.contains([0, $0]) }
                let others = (0..<5).filter { !group.contains($0) }
                let isSplit = group.allSatisfy { one in others.allSatisfy { cut.contains([min(one, $0), max(one, $0)]) } }
                if isSplit, !others.isEmpty { sizes.insert(min(group.count, others.count)) }
            }
        }
        #expect(sizes == [1, 2])
    }

    @Test func `seeds stop networks one after the other and restart them in another order`() throws {
        let simulator = try Self.simulator(.swizzle)
        var reordered = 0
        for seed in 0..<8 as Range<UInt64> {
            let script = try simulator.script(seed: seed)
            if seed < Self.runCount { #expect(simulator.run(script).violation == nil, "seed \(seed)") }
            var stopped: [[Int]] = []
            var restarted: [[Int]] = []
            for step in script.steps {
                if case .clog(let a, let b) = step { stopped.append([a, b]) }
                if case .unclog(let a, let b) = step { restarted.append([a, b]) }
            }
            if Set(stopped) == Set(restarted), stopped != restarted { reordered += 1 }
        }
        #expect(reordered > 3)
    }
}
