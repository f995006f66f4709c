/// Cuts a failing script down, as long as it breaks the same promise.
///
/// Drops ever smaller runs of steps (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002),
/// then nodes, statements and values of the conditions.
struct Shrinker {
    let simulator: KithSimulator
    /// What is to be broken: the same rule, and of what the app states the same.
    let violation: Violation
    /// Runs that may be spent.
    var runsMax = 600

    func shrink(_ script: Script) -> Script {
        var search = Search(simulator: simulator, violation: violation, runsLeft: runsMax, best: script)
        var last: Script?
        while last != search.best, search.runsLeft > 0 {
            last = search.best
            search.dropSteps()
            search.dropNodes()
            search.dropOperations()
            search.calm()
        }
        return search.best
    }

    private struct Search {
        let simulator: KithSimulator
        let violation: Violation
        var runsLeft: Int
        var best: Script

        /// Takes `candidate` for the best if it still fails.
        mutating func attempt(_ candidate: Script) -> Bool {
            guard runsLeft > 0, candidate != best else { return false }
            runsLeft -= 1
            let broken = simulator.run(candidate).violation
            guard broken?.rule == violation.rule, broken?.invariant == violation.invariant else { return false }
            best = candidate
            return true
        }

        mutating func dropSteps() {
            var size = max(1, best.steps.count / 2)
            while true {
                var start = 0
                while start < best.steps.count {
                    var candidate = best
                    candidate.steps.removeSubrange(start..<min(start + size, candidate.steps.count))
                    if !attempt(candidate) { start += size }
                }
                if size == 1 { return }
                size /= 2
            }
        }

        /// Without the last node, and what it did.
        mutating func dropNodes() {
            for node in stride(from: best.nodeCount - 1, through: 0, by: -1) where best.nodeCount > 1 {
                var candidate = best
                candidate.nodeCount -= 1
                candidate.oldNodes = Set(best.oldNodes.subtracting([node]).map { $0 > node ? $0 - 1 : $0 })
                candidate.steps = candidate.steps.compactMap { $0.without(node: node) }
                _ = attempt(candidate)
            }
        }

        mutating func dropOperations() {
            for (index, step) in best.steps.enumerated() {
                guard case .commit(let node, let operations) = step else { continue }
                var kept = operations
                // A transaction may have hundreds.
                var size = kept.count / 2
                while size > 0 {
                    var start = 0
                    while start < kept.count, kept.count > size {
                        var fewer = kept
                        fewer.removeSubrange(start..<min(start + size, kept.count))
                        var candidate = best
                        candidate.steps[index] = .commit(node: node, fewer)
                        if attempt(candidate) { kept = fewer } else { start += size }
                    }
                    size /= 2
                }
            }
        }

        mutating func calm() {
            var candidate = best
            candidate.conditions = NetworkConditions()
            if attempt(candidate) { return }
            for simplify in [
                { $0.topology = .mesh }, { $0.sliceRowsMax = 2_000 }, { $0.bytesPerSecond = 10_000_000 },
                { $0.latencyMilliseconds = 1...1 }, { $0.storeMilliseconds = 0...0 },
            ] as [(inout NetworkConditions) -> Void] {
                var candidate = best
                simplify(&candidate.conditions)
                _ = attempt(candidate)
            }
        }
    }
}

extension Step {
    /// The step in a world without `node`, where later nodes have moved up; `nil` if it was about that node.
    fileprivate func without(node gone: Int) -> Step? {
        func moved(_ node: Int) -> Int { node > gone ? node - 1 : node }
        if nodes.contains(gone) { return nil }
        return switch self {
        case .wait, .sleep, .loseStick: self
        case .commit(let node, let operations): .commit(node: moved(node), operations)
        case .drop(let a, let b): .drop(moved(a), moved(b))
        case .cut(let a, let b): .cut(moved(a), moved(b))
        case .join(let a, let b): .join(moved(a), moved(b))
        case .clog(let a, let b): .clog(from: moved(a), to: moved(b))
        case .unclog(let a, let b): .unclog(from: moved(a), to: moved(b))
        case .sync(let a, let b): .sync(moved(a), moved(b))
        case .slow(let a, let b, let milliseconds): .slow(from: moved(a), to: moved(b), milliseconds: milliseconds)
        case .crash(let node): .crash(moved(node))
        case .losePower(let node, let count): .losePower(node: moved(node), afterWrites: count)
        case .start(let node): .start(moved(node))
        case .nap(let node): .nap(moved(node))
        case .wake(let node): .wake(moved(node))
        case .setClock(let node, let distance): .setClock(node: moved(node), byMilliseconds: distance)
        case .runClock(let node, let percent): .runClock(node: moved(node), percent: percent)
        case .fillDisk(let node, let count): .fillDisk(node: moved(node), afterWrites: count)
        case .freeDisk(let node): .freeDisk(node: moved(node))
        case .breakDisk(let node, let count): .breakDisk(node: moved(node), afterWrites: count)
        case .mendDisk(let node): .mendDisk(moved(node))
        case .backup(let node): .backup(moved(node))
        case .restore(let node): .restore(moved(node))
        case .revert(let node): .revert(moved(node))
        case .clone(let a, let b): .clone(from: moved(a), to: moved(b))
        case .found(let node, let row): .found(node: moved(node), row)
        case .begin(let node): .begin(moved(node))
        case .update(let node): .update(moved(node))
        case .collect(let node): .collect(moved(node))
        case .revoke(let node): .revoke(moved(node))
        case .carryOut(let node, let stick, let target): .carryOut(node: moved(node), stick: stick, to: target.map(moved))
        case .carryIn(let node, let stick): .carryIn(node: moved(node), stick: stick)
        case .forge(let a, let b): .forge(from: moved(a), to: moved(b))
        case .lie(let a, let b): .lie(from: moved(a), to: moved(b))
        case .lieRecords(let a, let b): .lieRecords(from: moved(a), to: moved(b))
        case .damage(let a, let b): .damage(from: moved(a), to: moved(b))
        }
    }

    /// The nodes that the step is about.
    private var nodes: [Int] {
        switch self {
        case .wait, .sleep, .loseStick: []
        case .commit(let node, _), .crash(let node), .start(let node), .nap(let node), .wake(let node), .setClock(let node, _),
            .runClock(let node, _),
            .fillDisk(let node, _), .freeDisk(let node), .breakDisk(let node, _), .mendDisk(let node), .losePower(let node, _),
            .backup(let node), .restore(let node), .revert(let node), .found(let node, _), .begin(let node), .update(let node),
            .collect(let node),
            .revoke(let node), .carryOut(let node, _, nil), .carryIn(let node, _):
            [node]
        case .carryOut(let node, _, let target?): [node, target]
        case .drop(let a, let b), .cut(let a, let b), .join(let a, let b), .clog(let a, let b), .unclog(let a, let b),
            .slow(let a, let b, _), .sync(let a, let b), .clone(let a, let b), .forge(let a, let b), .lie(let a, let b),
            .lieRecords(let a, let b), .damage(let a, let b):
            [a, b]
        }
    }
}
