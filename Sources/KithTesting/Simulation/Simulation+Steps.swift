import GRDB
import KithCausality
import KithStore
import KithSync

extension Simulation {
    func perform(_ step: Step) throws {
        if trace.keepsLines, !step.isWait { trace.note(now, "— \(step)") }
        noteFault(of: step)
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
                for node in [a, b] { dialAgain(nodes[node]) }
            }
        case .clog(let from, let to): withDirection(from, to) { link, side in links[link].isClogged[side] = true }
        case .unclog(let from, let to): try withDirection(from, to) { link, side in try unclog(link, side: side) }
        case .slow(let from, let to, let milliseconds):
            withDirection(from, to) { link, side in links[link].delays[side] = milliseconds }
        case .damage(let from, let to):
            withDirection(from, to) { link, side in links[link].damages[side] += 1 }
        case .forge(let from, let to):
            withDirection(from, to) { link, side in links[link].forgeries[side] += 1 }
        case .lie(let from, let to):
            withDirection(from, to) { link, side in links[link].lies[side] += 1 }
        case .lieRecords(let from, let to):
            withDirection(from, to) { link, side in links[link].recordLies[side] += 1 }
        case .update(let node): try update(nodes[node])
        case .collect(let node): try collect(nodes[node])
        case .revoke(let node): try revoke(nodes[node])
        case .sync(let a, let b): try sync(nodes[a], nodes[b])
        case .carryOut(let node, let stick, let target): try carryOut(nodes[node], stick, to: target.map { nodes[$0] })
        case .carryIn(let node, let stick): try carryIn(nodes[node], stick)
        case .loseStick(let stick): sticks.lose(stick)
        case .crash(let node): try crash(nodes[node])
        case .found: break
        case .start(let node), .begin(let node): try start(nodes[node])
        case .nap(let node): try nap(nodes[node])
        case .wake(let node): try wake(nodes[node])
        case .sleep(let hours): try sleep(hours: hours)
        case .setClock(let node, let distance): nodes[node].course.jump(byMilliseconds: distance, at: now)
        case .runClock(let node, let percent): nodes[node].course.run(atPercent: percent, at: now)
        case .fillDisk(let node, let count): nodes[node].limitDisk(toWrites: count)
        case .freeDisk(let node): nodes[node].limitDisk(toWrites: nil)
        case .breakDisk(let node, let count): nodes[node].breakDisk(afterWrites: count)
        case .mendDisk(let node): nodes[node].mendDisk()
        case .losePower(let node, let count):
            nodes[node].planPowerLoss(afterWrites: count)
            if count == 0 { try losePower(nodes[node]) }
        case .backup(let node): try nodes[node].makeBackup()
        case .restore(let node): try restore(nodes[node], from: nodes[node])
        case .revert(let node): try revert(nodes[node])
        case .clone(let from, let to):
            // Who has a disk of a member that was revoked has what is on it.
            if nodes[from].isRevoked { return }
            try nodes[from].makeBackup()
            try restore(nodes[to], from: nodes[from])
        }
    }

    private func withLink(_ a: Int, _ b: Int, _ body: (Int) throws -> Void) rethrows {
        if let link = link(a, b) { try body(link) }
    }

    /// The number of the link between two nodes.
    func link(_ a: Int, _ b: Int) -> Int? {
        links.firstIndex { $0.nodes == [min(a, b), max(a, b)] }
    }

    private func withDirection(_ from: Int, _ to: Int, _ body: (_ link: Int, _ side: Int) throws -> Void) rethrows {
        try withLink(from, to) { link in try body(link, from < to ? 0 : 1) }
    }

    // MARK: Users

    /// The rows that a transaction writes, and of which the node's store keeps nothing but counters: no device has written them, or the store has collected them.
    /// Asked only where a row's new life would otherwise keep columns that the node's version of the app does not know.
    private func rowsWithoutPast(_ operations: [UserOperation], _ node: SimulatedNode) throws -> Set<RowKey> {
        var keys: Set<RowKey> = []
        guard script.removesRows else { return keys }
        for case .write(let write) in operations {
            guard let index = node.tables.firstIndex(where: { $0.name == write.table && $0.isKnown }),
                node.tables[index].columns.contains(where: { !$0.isKnown })
            else { continue }
            let table = node.tables[index]
            let isKept = try node.store?.keepsContents(of: table.id(of: write.row), in: table.name)
            if isKept != true { keys.insert(RowKey(table: index, row: write.row)) }
        }
        return keys
    }

    /// A user's transaction, and what the oracle expects of it.
    private func commit(_ node: SimulatedNode, _ operations: [UserOperation]) throws {
        guard let store = node.store, !node.isAsleep, !mayRepeatItself(node) else { return }
        _ = wallClock(of: node)
        if taint.reachesStores { node.editor.versionsMayBeGone = true }
        let withoutPast = try rowsWithoutPast(operations, node)
        let outcomes: [WriteOutcome]?
        do {
            outcomes = try UserTransaction(
                store: store, database: node.database, tables: node.tables, editor: node.editor, node: node.index,
                isStep: workload.schema.judgesHistory
            ).run(operations)
        } catch let broken as Violation {
            throw broken
        } catch  where excuses(error, node) {
            if node.isWithoutPower { return try losePower(node) }
            return try checkUnchanged(node)
        }
        guard let outcomes else { return try checkUnchanged(node) }
        try checkCommit(operations, outcomes, withoutPast, node)
        try checkLiveQueries(node)
        statistics.commits += 1
        if node.isWithoutPower {
            node.noteMoment()
            return try losePower(node)
        }
        storeMoved(node, isForeign: routing.isForeign())
    }

    /// Both bring each other up to date over their link, or a connection of their own.
    private func sync(_ a: SimulatedNode, _ b: SimulatedNode) throws {
        guard a !== b, a.isAwake, b.isAwake else { return }
        let link = self.link(a.index, b.index) ?? addLink(min(a.index, b.index), max(a.index, b.index))
        if isRefused(link) { return }
        let wasCut = links[link].isCut
        links[link].isCut = false
        for node in [a, b] { dialAgain(node) }
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
