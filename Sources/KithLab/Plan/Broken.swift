/// What does not work after some steps.
struct Broken {
    private var repairsByKey: [String: Scenario.Action] = [:]

    mutating func note(_ action: Scenario.Action) {
        switch action {
        case .cut(let node): repairsByKey["1cable \(node)"] = .heal(node)
        case .heal(let node): repairsByKey["1cable \(node)"] = nil
        case .part(let pair): repairsByKey["2path \(pair.first) \(pair.second)"] = .join(pair)
        case .join(let pair): repairsByKey["2path \(pair.first) \(pair.second)"] = nil
        case .fill(let node): repairsByKey["3disk \(node)"] = .free(node)
        case .free(let node): repairsByKey["3disk \(node)"] = nil
        case .pause(let node): repairsByKey["4node \(node)"] = .resume(node)
        case .kill(let node), .stop(let node): repairsByKey["4node \(node)"] = .start(node)
        case .lose(let node, _):
            repairsByKey["3store \(node)"] = .recover(node)
            repairsByKey["4node \(node)"] = .start(node)
        case .recover(let node): repairsByKey["3store \(node)"] = nil
        case .resume(let node), .start(let node): repairsByKey["4node \(node)"] = nil
        case .write, .link, .clock, .move: break
        }
    }

    var repairs: [Scenario.Action] { repairsByKey.sorted { $0.key < $1.key }.map(\.value) }
}
