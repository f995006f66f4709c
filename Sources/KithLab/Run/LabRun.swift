#if os(Linux)
import Foundation
import KithCausality
import KithNotes

/// Lets a scenario happen to real nodes, inside a private world, and judges what they hold in the end.
final class LabRun {
    private static let tickMicroseconds: UInt32 = 10_000
    private static let stopMillisecondsMax: Int64 = 5_000

    let scenario: Scenario
    let folder: URL
    let say: (String) -> Void
    var state = RunState()
    var hosts: [Host] = []
    var network: Switch
    var watcher: Watcher
    var marks: [LabRecord.Mark] = []
    var findings: [Finding] = []
    var remarks: [String] = []
    /// The nodes whose stores cannot be read in the end.
    var unreadable: [String] = []
    /// Asks what is safe, if there are attachments whose bytes can be looked for.
    private(set) var safety: SafetyWatch?
    private(set) var losses = 0
    private var writers: [Writer] = []
    private var nextLook: Int64 = 0

    /// Makes the machines and lets them trust each other.
    init(_ scenario: Scenario, kith: String, folder: URL, say: @escaping (String) -> Void) throws {
        self.scenario = scenario
        remarks = scenario.notTried
        self.folder = folder
        self.say = say
        watcher = Watcher(nodes: scenario.nodes.count)
        let actions = scenario.events.map(\.action)
        let hasClocks =
            scenario.nodes.contains { $0.clockMilliseconds != 0 } || actions.contains { if case .clock = $0 { true } else { false } }
        let clock = hasClocks ? try WrongClock.makeLibrary(in: folder) : nil
        let taps = try scenario.nodes.indices.map { try Tap(name: "node\($0)") }
        network = Switch(taps, scenario)
        for (index, node) in scenario.nodes.enumerated() {
            var program = kith
            if let binary = node.binary, let path = scenario.binaries[binary], !path.isEmpty {
                // Whole, because a machine begins in another folder.
                program = URL(filePath: path).absoluteURL.path
            }
            hosts.append(try Host(index, node, in: folder, kith: program, clockLibrary: clock, tapName: "node\(index)"))
        }
        let frames = network
        Thread.detachNewThread { frames.run(seed: scenario.seed) }
        if scenario.trust == .household { try pairAll() } else { try introduceAll() }
        state = RunState()
        writers = hosts.map { [state] in Writer($0, state) }
        if scenario.hasAttachments { safety = SafetyWatch(hosts, try deviceIDs(), state) }
        PrivateWorld.onStop { [state] in state.with { $0.isInterrupted = true } }
    }

    private func introduceAll() throws {
        let all = hosts
        let known = try deviceIDs()
        let errors = RunState()
        DispatchQueue.concurrentPerform(iterations: hosts.count) { index in
            for (other, id) in known.enumerated() where other != index {
                let result = try? all[index].run(["device", "add", id, "--name", all[other].spec.name])
                if result?.status != 0 { errors.with { $0.isInterrupted = true } }
            }
        }
        if errors.isInterrupted { throw LabError(.software, "The nodes could not be told of each other (kith device add).") }
    }

    private func deviceIDs() throws -> [String] {
        try hosts.map { host in
            guard let id = try host.run(["device", "id"]).text.split(whereSeparator: \.isNewline).last else {
                throw LabError(.software, "\(host.kith) does not say the id of its device.")
            }
            return String(id)
        }
    }

    /// Clocks are right meanwhile: a token is good for ten minutes.
    private func pairAll() throws {
        for host in hosts { try host.setClock(0) }
        for host in hosts.dropFirst() { try hosts[0].admit(host) }
        for host in hosts { try host.setClock(host.spec.clockMilliseconds) }
    }

    // MARK: The course of events

    /// - Throws: ``LabError`` with code `interrupted` if the run was stopped.
    func run() throws -> LabRecord {
        let started = Date()
        let plan = Plan(scenario)
        for host in hosts { perform(.start(host.index), index: 0) }
        safety?.start()
        for (index, step) in plan.steps.enumerated() {
            try wait(until: step.atMilliseconds)
            perform(step.action, index: index)
        }
        try wait(until: scenario.takesMilliseconds)
        let settledFrom = try settle()
        let converged = try waitForAgreement()
        if converged != nil { try waitForBytes() }
        findings += safety?.finish() ?? []
        let traffic = network.traffic()
        judge(isConverged: converged != nil)
        return record(started: started, settledFrom: settledFrom, converged: converged, traffic: traffic)
    }

    private func wait(until milliseconds: Int64) throws {
        while true {
            if state.isInterrupted { throw LabError(.interrupted, "The run was stopped; nothing was judged.") }
            look()
            let left = milliseconds - state.nowMilliseconds
            if left <= 0 { return }
            usleep(Self.pauseMicroseconds(milliseconds: left))
        }
    }

    /// How long to sleep where so much is left, which may be days.
    static func pauseMicroseconds(milliseconds left: Int64) -> UInt32 {
        left < Int64(tickMicroseconds / 1_000) ? UInt32(max(0, left)) * 1_000 : tickMicroseconds
    }

    private func look() {
        guard state.nowMilliseconds >= nextLook else { return }
        let looks = hosts.map { StoreLook.take($0.notes) }
        watcher.take(looks, at: state.nowMilliseconds)
        nextLook = state.nowMilliseconds + LabRecord.lookMilliseconds
    }

    private func perform(_ action: Scenario.Action, index: Int) {
        if case .write(let node, let note, let change) = action {
            writers[node].enqueue(index, note: note, change)
            return
        }
        let now = state.nowMilliseconds
        guard let (kind, node, other, text) = describe(action) else { return }
        marks.append(LabRecord.Mark(atMilliseconds: now, kind: kind, node: node, other: other, text: text))
        say("\(moment(now))  \(text)")
        do {
            try act(action)
        } catch {
            findings.append(Finding(rule: .nodeFailed, sentence: "\(text): \(error)"))
        }
    }

    private func act(_ action: Scenario.Action) throws {
        switch action {
        case .write: break
        case .cut(let node): network.setPlugged(node, false)
        case .heal(let node): network.setPlugged(node, true)
        case .part(let pair): network.setJoined(pair, false)
        case .join(let pair): network.setJoined(pair, scenario.isConnected(pair))
        case .link(let pair, let link): network.setLink(pair, link)
        case .start(let node):
            try hosts[node].start { [state] line in
                state.with { $0.statusLines.append((node, state.nowMilliseconds, line)) }
            }
        case .stop(let node): hosts[node].stop()
        case .kill(let node): hosts[node].kill()
        case .pause(let node): hosts[node].pause(true)
        case .resume(let node): hosts[node].pause(false)
        case .clock(let node, let milliseconds): try hosts[node].setClock(milliseconds)
        case .move(let node): try hosts[node].move()
        case .fill(let node): hosts[node].fill()
        case .free(let node): hosts[node].free()
        case .lose(let node, let loss): try lose(node, loss)
        case .recover(let node): try recover(node)
        }
    }

    /// Makes everything work again, and waits for the writes that are under way. Returns when that was so.
    private func settle() throws -> Int64 {
        let plan = Plan(scenario)
        var broken = Broken()
        for step in plan.steps { broken.note(step.action) }
        for action in broken.repairs { perform(action, index: 0) }
        for host in hosts where !host.isRunning && host.failure == nil { perform(.start(host.index), index: 0) }
        while state.pendingWrites > 0 { try wait(until: state.nowMilliseconds + 20) }
        return state.nowMilliseconds
    }

    /// Returns when all nodes knew the same, or `nil` if that took too long.
    private func waitForAgreement() throws -> Int64? {
        let end = state.nowMilliseconds + scenario.settleMilliseconds
        while state.nowMilliseconds < end {
            nextLook = 0
            try wait(until: state.nowMilliseconds + 50)
            if watcher.isConverged, knowsAllWrites { return state.nowMilliseconds }
        }
        return nil
    }

    /// Waits until every node has the bytes of all attachments, as long as it may take them to agree.
    private func waitForBytes() throws {
        guard let safety else { return }
        let end = state.nowMilliseconds + scenario.settleMilliseconds
        var lacking: [String] = []
        repeat {
            lacking = safety.lackingBytes()
            if lacking.isEmpty { return state.with { $0.lost = [] } }
            try wait(until: state.nowMilliseconds + 200)
        } while state.nowMilliseconds < end
        let words = "in which everything worked, the bytes of attachments had not arrived: \(lacking.joined(separator: ", "))."
        findings.append(
            Finding(rule: .noConvergence, sentence: "After \(Quantity.span(Double(scenario.settleMilliseconds))) \(words)"))
    }

    /// Takes the notes of a node away, and looks whether its commands say so.
    private func lose(_ node: Int, _ loss: Scenario.Loss) throws {
        writers[node].waitForAll()
        hosts[node].stop()
        let end = state.nowMilliseconds + Self.stopMillisecondsMax
        while hosts[node].isRunning, state.nowMilliseconds < end { usleep(Self.tickMicroseconds) }
        state.with { data in
            data.lost.insert(node)
            data.perhapsGone.formUnion(data.writes.filter { $0.node == node }.compactMap(\.dot))
        }
        try hosts[node].lose(loss)
        losses += 1
        if let finding = hosts[node].commandThatNoticesNoLoss(loss) { findings.append(finding) }
    }

    private func recover(_ node: Int) throws {
        // Nothing has made an empty store of it meanwhile.
        if let finding = hosts[node].commandThatNoticesNoLoss(nil) { findings.append(finding) }
        let answer = try hosts[node].run(["recover", "--refill"])
        if answer.status != 0 { throw LabError(.software, "`kith recover --refill` ended with status \(answer.status): \(answer.text)") }
    }

    private var knowsAllWrites: Bool {
        let (dots, perhapsGone) = state.with { ($0.writes.compactMap(\.dot), $0.perhapsGone) }
        return watcher.knowsAll(dots, perhapsGone: perhapsGone)
    }

    /// Ends all nodes, so that their files can be opened.
    func stopNodes() {
        for host in hosts { host.stop() }
        let end = state.nowMilliseconds + Self.stopMillisecondsMax
        while hosts.contains(where: \.isRunning), state.nowMilliseconds < end { usleep(Self.tickMicroseconds) }
        for host in hosts where host.isRunning { host.kill() }
    }

    /// Copies the disks that go away with the machines.
    func keepDisks() {
        for host in hosts where host.spec.diskBytes != nil {
            try? FileManager.default.copyItem(at: host.home, to: folder.appending(path: "\(host.spec.name).disk"))
        }
    }

    func moment(_ milliseconds: Int64) -> String {
        Quantity.moment(scenario.moment(at: milliseconds), lasts: scenario.lastsMilliseconds)
    }
}

extension Scenario {
    /// Whether bytes travel that can be counted.
    var hasAttachments: Bool {
        Plan(self).steps.contains { step in
            if case .write(_, _, .attach) = step.action { true } else { false }
        }
    }

    /// The scenario's own time at a moment of the run.
    func moment(at milliseconds: Int64) -> Int64 {
        Int64(Double(milliseconds) * Double(lastsMilliseconds) / Double(max(1, takesMilliseconds)))
    }
}
#endif
