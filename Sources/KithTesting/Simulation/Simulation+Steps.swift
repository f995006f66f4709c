import GRDB
import KithCausality
import KithStore
import KithSync

extension Simulation {
    func perform(_ step: Step) throws {
        if trace.keepsLines, !step.isWait { trace.note(now, "— \(step)") }
        switch step {
        case .wait(let milliseconds): try runEvents(until: now + milliseconds)
        case .commit(let node, let operations): try commit(nodes[node], operations)
        case .drop(let a, let b): try withLink(a, b) { link in try breakConnection(link) }
        case .cut(let a, let b):
            try withLink(a, b) { link in
                links[link].isCut = true
                try breakConnection(link)
            }
        case .join(let a, let b):
            withLink(a, b) { link in
                links[link].isCut = false
                links[link].attempts = 0
                dialLater(link)
            }
        case .clog(let from, let to): withDirection(from, to) { link, side in links[link].isClogged[side] = true }
        case .unclog(let from, let to): try withDirection(from, to) { link, side in try unclog(link, side: side) }
        case .damage(let from, let to):
            withDirection(from, to) { link, side in links[link].damages[side] += 1 }
        case .sync(let a, let b): try sync(nodes[a], nodes[b])
        case .crash(let node): try crash(nodes[node])
        case .start(let node): try start(nodes[node])
        case .sleep(let hours): try sleep(hours: hours)
        case .setClock(let node, let distance): nodes[node].course.jump(byMilliseconds: distance, at: now)
        case .runClock(let node, let percent): nodes[node].course.run(atPercent: percent, at: now)
        case .fillDisk(let node, let pages): try nodes[node].limitDisk(pages: pages)
        case .freeDisk(let node): try nodes[node].limitDisk(pages: nil)
        case .backup(let node): try nodes[node].makeBackup()
        case .restore(let node): try restore(nodes[node], from: nodes[node])
        case .clone(let from, let to):
            try nodes[from].makeBackup()
            try restore(nodes[to], from: nodes[from])
        }
    }

    private func withLink(_ a: Int, _ b: Int, _ body: (Int) throws -> Void) rethrows {
        if let link = links.firstIndex(where: { $0.nodes == [min(a, b), max(a, b)] }) { try body(link) }
    }

    private func withDirection(_ from: Int, _ to: Int, _ body: (_ link: Int, _ side: Int) throws -> Void) rethrows {
        try withLink(from, to) { link in try body(link, from < to ? 0 : 1) }
    }

    // MARK: Users

    /// A user's transaction, and what the oracle expects of it.
    private func commit(_ node: SimulatedNode, _ operations: [Operation]) throws {
        guard let store = node.store else { return }
        _ = wallClock(of: node)
        let outcomes: [WriteOutcome]?
        do {
            outcomes = try UserTransaction(store: store, database: node.database, tables: tables, editor: node.editor)
                .run(operations)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL && node.isDiskLimited {
            return try checkUnchanged(node)
        } catch let error as StoreError where error.code == .diskFull && node.isDiskLimited {
            return try checkUnchanged(node)
        }
        guard let outcomes else { return try checkUnchanged(node) }
        try checkCommit(operations, outcomes, node)
        statistics.commits += 1
        try storeMoved(node, relay: nil, except: nil)
    }

    // MARK: Machines

    private func crash(_ node: SimulatedNode) throws {
        guard node.isRunning else { return }
        for end in ends(of: node) {
            links[end.link].ends[end.side] = nil
            // A process that dies closes its connections; a machine that loses power does not.
            let hasPower = random.chance(percent: 70)
            if hasPower, isOpen(end.other) { plan(.hangUp(end.other), at: now + random.int64(in: script.conditions.latencyMilliseconds)) }
        }
        try node.stop()
    }

    func start(_ node: SimulatedNode) throws {
        guard !node.isRunning else { return }
        _ = wallClock(of: node)
        do {
            try node.start()
        } catch let error as StoreError where error.code == .diskFull && node.isDiskLimited {
            return
        }
        try checkOpened(node)
        for link in links.indices where links[link].nodes.contains(node.index) {
            links[link].attempts = 0
            dialLater(link)
        }
    }

    /// All connections die; time passes in which nothing happens.
    private func sleep(hours: Int64) throws {
        for link in links.indices {
            for side in 0...1 {
                links[link].ends[side]?.inbound = []
                if links[link].ends[side] != nil { try close(EndID(link: link, side: side, epoch: links[link].epoch)) }
            }
        }
        now += hours * 3_600_000
    }

    private func restore(_ node: SimulatedNode, from source: SimulatedNode) throws {
        guard let backup = source.backup else { return }
        let wasRunning = node.isRunning
        // Nobody restores a database in the tenth of a second in which its last commit is not on the disk yet.
        try flush(node, node.generation)
        try crash(node)
        var remaining = backup.known.common
        for other in nodes where other !== node { remaining.join(other.known.common) }
        ledger.lose(beyond: remaining)
        try node.replaceDatabase(by: backup)
        if wasRunning { try start(node) }
    }

    /// Both bring each other up to date over their link, or a connection of their own.
    private func sync(_ a: SimulatedNode, _ b: SimulatedNode) throws {
        guard a !== b, a.isRunning, b.isRunning else { return }
        let pair = [min(a.index, b.index), max(a.index, b.index)]
        let link = links.firstIndex { $0.nodes == pair } ?? links.endIndex
        if link == links.endIndex { links.append(Link(nodes: pair)) }
        let wasCut = links[link].isCut
        links[link].isCut = false
        dialLater(link)
        let end = now + Self.syncMillisecondsMax
        while now < end, a.summary.vector != b.summary.vector { try runEvents(until: now + 10) }
        links[link].isCut = wasCut
        if wasCut { try breakConnection(link) }
    }

    private static let syncMillisecondsMax: Int64 = 120_000
}

extension Step {
    fileprivate var isWait: Bool {
        if case .wait = self { true } else { false }
    }
}
