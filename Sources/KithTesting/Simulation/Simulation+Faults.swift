/// Counts what went wrong that was to go wrong.
extension Simulation {
    func note(_ fault: Fault) {
        statistics.faults[fault, default: 0] += 1
    }

    /// A step is a fault by itself, if it befalls what works.
    func noteFault(of step: Step) {
        switch step {
        case .drop(let a, let b): if let link = link(a, b), !links[link].isDown { note(.lostConnection) }
        case .cut(let a, let b): if let link = link(a, b), !links[link].isCut { note(.partition) }
        case .clog(let a, let b): if let link = link(a, b), !links[link].isDown { note(.clog) }
        case .slow(let a, let b, let milliseconds): if milliseconds > 0, link(a, b) != nil { note(.slowLink) }
        case .crash(let node): if nodes[node].isRunning { note(.crash) }
        case .nap(let node): if nodes[node].isAwake { note(.nap) }
        case .sleep: note(.absence)
        case .setClock: note(.wrongClock)
        case .runClock(_, let percent): if percent != 100 { note(.driftingClock) }
        default: break
        }
    }

    /// Whether the node's disk is such that `error` is no fault of the store.
    func excuses(_ error: any Error, _ node: SimulatedNode) -> Bool {
        guard let fault = node.cause(of: error) else { return false }
        if fault != .powerLoss { note(fault) }
        return true
    }
}
