import Testing

@testable import KithLab

@Suite("A plan is a function of the file")
struct PlanTests {
    private func scenario(_ more: String = "", seed: Int = 1) throws -> Scenario {
        try ScenarioReader.read("lasts: 100s\nin: 10s\nseed: \(seed)\nnodes: [a, b]\n\(more)", name: "test")
    }

    @Test func `steps come in order and in the time of the run`() throws {
        let plan = Plan(try scenario("events:\n  - {at: 50s, heal: a}\n  - {at: 20s, cut: a}\n  - {at: 50s, kill: b}"))
        #expect(plan.steps.map(\.action) == [.cut(0), .heal(0), .kill(1)])
        #expect(plan.steps.map(\.atMilliseconds) == [2_000, 5_000, 5_000])
        #expect(plan.steps.map(\.scenarioMilliseconds) == [20_000, 50_000, 50_000])
    }

    #if os(Linux)
    @Test(arguments: [(-1, 0), (0, 0), (9, 9_000), (10, 10_000), (4_294_968, 10_000), (Int64.max, 10_000)] as [(Int64, UInt32)])
    func `a run that waits for hours or days sleeps for a moment at a time`(left: Int64, microseconds: UInt32) {
        #expect(LabRun.pauseMicroseconds(milliseconds: left) == microseconds)
    }
    #endif

    @Test func `the same seed draws the same and another one something else`() throws {
        let writes = "writes:\n  - {every: 2s}\n  - {by: b, every: 5s}"
        #expect(Plan(try scenario(writes)) == Plan(try scenario(writes)))
        #expect(Plan(try scenario(writes)) != Plan(try scenario(writes, seed: 2)))
    }

    @Test func `every title line and tag is written once and every note is made first`() throws {
        let plan = Plan(try scenario("writes:\n  - {every: 200ms}\n  - {by: b, every: 500ms}"))
        var values: Set<String> = []
        var notes: Set<String> = []
        for step in plan.steps {
            guard case .write(_, let note, let change) = step.action else { continue }
            switch change {
            case .add(let value):
                #expect(notes.insert(note).inserted)
                #expect(values.insert(value).inserted)
            case .title(let value), .line(let value), .tag(let value): #expect(values.insert(value).inserted)
            case .untag(let value): #expect(values.contains(value))
            case .color, .delete, .attach: break
            }
            #expect(notes.contains(note))
        }
        #expect(values.count > 300)
    }

    @Test func `files are attached only where a scenario says so`() throws {
        func sizes(_ change: String) throws -> [Int] {
            Plan(try scenario("writes:\n  - {every: 200ms\(change)}")).steps.compactMap { step in
                if case .write(_, _, .attach(let bytes)) = step.action { bytes } else { nil }
            }
        }
        #expect(try sizes("") == [])
        let drawn = try sizes(", change: [add, attach]")
        #expect(drawn.count > 100 && Set(drawn).count == 6 && drawn.min() == 65_536 && drawn.max() == 2_097_152)
    }

    @Test func `what is broken is repaired once`() {
        var broken = Broken()
        for action: Scenario.Action in [
            .cut(0), .heal(0), .cut(1), .kill(2), .pause(0), .part(.init(0, 1)), .fill(1), .free(1), .clock(0, milliseconds: 5),
            .lose(3, .emptied), .recover(3), .start(3), .lose(4, .missing),
        ] {
            broken.note(action)
        }
        #expect(broken.repairs == [.heal(1), .join(.init(0, 1)), .recover(4), .resume(0), .start(2), .start(4)])
    }

    @Test func `the topology says who hears whom`() throws {
        var scenario = try ScenarioReader.read("lasts: 1s\nnodes: [a, b, c, d]", name: "test")
        func links(_ topology: Scenario.Topology) -> [[Int]] {
            scenario.topology = topology
            return scenario.pairs.filter(scenario.isConnected).map { [$0.first, $0.second] }
        }
        #expect(links(.mesh).count == 6)
        #expect(links(.star) == [[0, 1], [0, 2], [0, 3]])
        #expect(links(.chain) == [[0, 1], [1, 2], [2, 3]])
        #expect(links(.ring) == [[0, 1], [0, 3], [1, 2], [2, 3]])
    }

    @Test func `a link delays loses and slows down`() {
        var state = LinkState()
        let slow = Scenario.Link(delayMilliseconds: 10, jitterMilliseconds: 20, lossPercent: 50, bitsPerSecond: 8_000)
        // A byte takes a millisecond at this rate.
        #expect(state.arrival(of: 100, at: 0, over: slow, random: (0.9, 0.5)) == 120)
        #expect(state.arrival(of: 100, at: 0, over: slow, random: (0.9, 0)) == 210)
        // Half of the frames vanish.
        #expect(state.arrival(of: 100, at: 0, over: slow, random: (0.49, 0)) == nil)
        // No frame overtakes another.
        let fast = Scenario.Link()
        #expect(state.arrival(of: 100, at: 50, over: fast, random: (0, 0)) == 210)
        // What would wait too long is dropped.
        #expect(state.arrival(of: 400, at: 50, over: slow, random: (0.9, 0)) == 610)
        #expect(state.arrival(of: 1, at: 50, over: slow, random: (0.9, 0)) == nil)
        #expect((state.frames, state.bytes, state.dropped) == (4, 700, 2))
    }
}
