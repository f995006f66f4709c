extension Script: CustomStringConvertible {
    /// The script as text, which ``init(parsing:)`` reads back.
    public var description: String {
        let header = """
            seed \(seed)
            nodes \(nodeCount)
            topology \(conditions.topology.rawValue)
            latency \(conditions.latencyMilliseconds.lowerBound) \(conditions.latencyMilliseconds.upperBound)
            store \(conditions.storeMilliseconds.lowerBound) \(conditions.storeMilliseconds.upperBound)
            bandwidth \(conditions.bytesPerSecond)
            slice \(conditions.sliceRowsMax)

            """
        let old = oldNodes.isEmpty ? "" : "old \(oldNodes.sorted().map(nodeName).joined(separator: " "))\n"
        return header + old + steps.map { "\($0)\n" }.joined()
    }
}

/// The name of a node: A, B, …, Z, then N26, N27, …
func nodeName(_ index: Int) -> String {
    index >= 0 && index < 26 ? String(UnicodeScalar(UInt8(65 + index))) : "N\(index)"
}

/// The name of a table or column as scripts have it: in double quotes if it would not be read as one word.
func scriptName(_ name: String) -> String {
    let isWord = !name.isEmpty && !name.contains { $0.isWhitespace || "\";=#".contains($0) }
    return isWord ? name : quoted(name)
}

extension Step: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wait(let milliseconds): "wait \(milliseconds)"
        case .commit(let node, let operations):
            "\(nodeName(node)): " + operations.map(\.description).joined(separator: "; ")
        case .drop(let a, let b): "drop \(nodeName(a)) \(nodeName(b))"
        case .cut(let a, let b): "cut \(nodeName(a)) \(nodeName(b))"
        case .join(let a, let b): "join \(nodeName(a)) \(nodeName(b))"
        case .clog(let a, let b): "clog \(nodeName(a)) \(nodeName(b))"
        case .unclog(let a, let b): "unclog \(nodeName(a)) \(nodeName(b))"
        case .sync(let a, let b): "sync \(nodeName(a)) \(nodeName(b))"
        case .slow(let a, let b, let milliseconds): "slow \(nodeName(a)) \(nodeName(b)) \(milliseconds)"
        case .crash(let node): "crash \(nodeName(node))"
        case .losePower(let node, let count): "power \(nodeName(node)) \(count)"
        case .start(let node): "start \(nodeName(node))"
        case .nap(let node): "nap \(nodeName(node))"
        case .wake(let node): "wake \(nodeName(node))"
        case .sleep(let hours): "sleep \(hours)"
        case .setClock(let node, let milliseconds): "clock \(nodeName(node)) \(milliseconds)"
        case .runClock(let node, let percent): "speed \(nodeName(node)) \(percent)"
        case .fillDisk(let node, let count): "fill \(nodeName(node)) \(count)"
        case .freeDisk(let node): "free \(nodeName(node))"
        case .breakDisk(let node, let count): "break \(nodeName(node)) \(count)"
        case .mendDisk(let node): "mend \(nodeName(node))"
        case .backup(let node): "backup \(nodeName(node))"
        case .restore(let node): "restore \(nodeName(node))"
        case .revert(let node): "revert \(nodeName(node))"
        case .clone(let a, let b): "clone \(nodeName(a)) \(nodeName(b))"
        case .found(let node, let row): "found \(nodeName(node)) " + row.description.dropFirst(row.verb.rawValue.count + 1)
        case .begin(let node): "begin \(nodeName(node))"
        case .update(let node): "update \(nodeName(node))"
        case .collect(let node): "collect \(nodeName(node))"
        case .revoke(let node): "revoke \(nodeName(node))"
        case .carryOut(let node, let stick, let target): "carry-out \(nodeName(node)) \(stick)" + (target.map { " \(nodeName($0))" } ?? "")
        case .carryIn(let node, let stick): "carry-in \(nodeName(node)) \(stick)"
        case .loseStick(let stick): "lose-stick \(stick)"
        case .forge(let a, let b): "forge \(nodeName(a)) \(nodeName(b))"
        case .lie(let a, let b): "lie \(nodeName(a)) \(nodeName(b))"
        case .lieRecords(let a, let b): "lie-records \(nodeName(a)) \(nodeName(b))"
        case .damage(let a, let b): "damage \(nodeName(a)) \(nodeName(b))"
        }
    }
}

extension UserOperation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .write(let write): write.description
        case .pair(let pair): pair.description
        case .savepoint: "savepoint"
        case .undo: "undo"
        case .rollback: "rollback"
        }
    }
}

extension RowPair: CustomStringConvertible {
    public var description: String {
        "\(verb.rawValue) \(scriptName(table)) \(scriptName(column))\(verb == .move ? " \(amount)" : "") \(first) \(second)"
    }
}

extension RowWrite: CustomStringConvertible {
    public var description: String {
        let values = assignments.map { "\(scriptName($0.column))=\($0.value)" }
        return (["\(verb.rawValue) \(scriptName(table)) \(row)"] + values).joined(separator: " ")
    }
}
