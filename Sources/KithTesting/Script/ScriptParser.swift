extension Script {
    /// Reads a script. Lines are settings, then steps; `#` begins a comment.
    ///
    /// - Throws: ``ScriptError`` with the line and what is wrong with it.
    public init(parsing text: String) throws(ScriptError) {
        try self.init(parsing: text, vocabulary: nil)
    }

    /// - Parameter vocabulary: what statements may name; anything if `nil`.
    init(parsing text: String, vocabulary: ScriptVocabulary?) throws(ScriptError) {
        self.init(seed: 0, nodeCount: 2, steps: [])
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }).enumerated() {
            var parser = ScriptLine(line: index + 1, vocabulary: vocabulary, rest: line)
            try parser.read(into: &self)
        }
    }
}

/// Reads one line of a script.
private struct ScriptLine {
    let line: Int
    let vocabulary: ScriptVocabulary?
    var rest: Substring

    mutating func read(into script: inout Script) throws(ScriptError) {
        skipSpaces()
        guard let first = rest.first, first != "#" else { return }
        let word = String(rest.prefix { !$0.isWhitespace && $0 != ":" })
        rest = rest.dropFirst(word.count)
        if rest.first == ":" {
            rest.removeFirst()
            let node = try node(named: word, script)
            let operations = try operations()
            if let fault = vocabulary?.fault(in: operations) { throw error(fault) }
            script.steps.append(.commit(node: node, operations))
        } else if try !readSetting(word, into: &script) {
            script.steps.append(try step(word, script))
        }
        skipSpaces()
        if !rest.isEmpty, rest.first != "#" { throw error("\(rest) is too much.") }
    }

    private mutating func readSetting(_ word: String, into script: inout Script) throws(ScriptError) -> Bool {
        switch word {
        case "seed":
            guard let seed = UInt64(nextWord()) else { throw error("a seed is a number.") }
            script.seed = seed
        case "nodes": script.nodeCount = try integer(in: 1...Script.nodesMax)
        case "old":
            repeat {
                script.oldNodes.insert(try node(script))
                skipSpaces()
            } while !rest.isEmpty && rest.first != "#"
        case "topology":
            guard let topology = Topology(rawValue: nextWord()) else {
                throw error("a topology is one of \(Topology.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            script.conditions.topology = topology
        case "latency": script.conditions.latencyMilliseconds = try range()
        case "store": script.conditions.storeMilliseconds = try range()
        case "bandwidth": script.conditions.bytesPerSecond = try integer(in: 1...1 << 40)
        case "slice": script.conditions.sliceRowsMax = try integer(in: 1...1 << 20)
        default: return false
        }
        // A step before it may be of a node that there is not.
        if !script.steps.isEmpty { throw error("\(word) is a setting, which stands before all steps.") }
        return true
    }

    private mutating func step(_ word: String, _ script: Script) throws(ScriptError) -> Step {
        switch word {
        case "wait": .wait(milliseconds: Int64(try integer(in: 0...1 << 40)))
        case "drop": .drop(try node(script), try node(script))
        case "cut": .cut(try node(script), try node(script))
        case "join": .join(try node(script), try node(script))
        case "clog": .clog(from: try node(script), to: try node(script))
        case "unclog": .unclog(from: try node(script), to: try node(script))
        case "sync": .sync(try node(script), try node(script))
        case "slow": .slow(from: try node(script), to: try node(script), milliseconds: Int64(try integer(in: 0...1 << 30)))
        case "crash": .crash(try node(script))
        case "power": .losePower(node: try node(script), afterWrites: try integer(in: 0...1 << 20))
        case "start": .start(try node(script))
        case "nap": .nap(try node(script))
        case "wake": .wake(try node(script))
        case "sleep": .sleep(hours: Int64(try integer(in: 0...1 << 20)))
        case "clock": .setClock(node: try node(script), byMilliseconds: Int64(try integer(in: -1 << 50...1 << 50)))
        case "speed": .runClock(node: try node(script), percent: try integer(in: 0...100_000))
        case "fill": .fillDisk(node: try node(script), afterWrites: try integer(in: 0...1 << 20))
        case "free": .freeDisk(node: try node(script))
        case "break": .breakDisk(node: try node(script), afterWrites: try integer(in: 0...1 << 20))
        case "mend": .mendDisk(try node(script))
        case "backup": .backup(try node(script))
        case "restore": .restore(try node(script))
        case "revert": .revert(try node(script))
        case "clone": .clone(from: try node(script), to: try node(script))
        case "found": .found(node: try node(script), try foundRow())
        case "begin": .begin(try node(script))
        case "update": .update(try node(script))
        case "collect": .collect(try node(script))
        case "revoke": .revoke(try node(script))
        case "carry-out":
            .carryOut(node: try node(script), stick: try integer(in: 0...Script.sticksMax), to: try optionalNode(script))
        case "carry-in": .carryIn(node: try node(script), stick: try integer(in: 0...Script.sticksMax))
        case "lose-stick": .loseStick(try integer(in: 0...Script.sticksMax))
        case "forge": .forge(from: try node(script), to: try node(script))
        case "lie": .lie(from: try node(script), to: try node(script))
        case "lie-records": .lieRecords(from: try node(script), to: try node(script))
        case "damage": .damage(from: try node(script), to: try node(script))
        default: throw error("\(word) is no step.")
        }
    }

    // MARK: Transactions

    private mutating func operations() throws(ScriptError) -> [UserOperation] {
        var operations: [UserOperation] = []
        repeat {
            if rest.first == ";" { rest.removeFirst() }
            let word = nextWord()
            switch word {
            case "savepoint": operations.append(.savepoint)
            case "undo": operations.append(.undo)
            case "rollback": operations.append(.rollback)
            default:
                if let verb = RowPair.Verb(rawValue: word) {
                    operations.append(.pair(try pair(verb)))
                } else if let verb = RowWrite.Verb(rawValue: word) {
                    operations.append(.write(try write(verb)))
                } else {
                    throw error("\(word) is no statement.")
                }
            }
            skipSpaces()
        } while rest.first == ";"
        return operations
    }

    private mutating func write(_ verb: RowWrite.Verb) throws(ScriptError) -> RowWrite {
        let table = try nextName()
        var write = RowWrite(verb, table, try integer(in: 1...1 << 40))
        skipSpaces()
        while let first = rest.first, first != ";", first != "#" {
            let column = try nextName(upTo: "=")
            let hasSign = rest.popFirst() == "="
            guard hasSign, let value = Literal(parsing: &rest) else { throw error("column \(column) has no value that can be read.") }
            write.assignments.append(Assignment(column, value))
            skipSpaces()
        }
        return write
    }

    private mutating func foundRow() throws(ScriptError) -> RowWrite {
        let row = try write(.insert)
        if let fault = vocabulary?.fault(in: [.write(row)]) { throw error(fault) }
        return row
    }

    private mutating func pair(_ verb: RowPair.Verb) throws(ScriptError) -> RowPair {
        let (table, column) = (try nextName(), try nextName())
        let amount = verb == .move ? try integer(in: -1 << 40...1 << 40) : 0
        let places = verb == .relink ? 1...Ring.size : 1...1 << 40
        return RowPair(
            verb: verb, table: table, column: column, amount: amount, first: try integer(in: places), second: try integer(in: places))
    }

    // MARK: Words

    private mutating func skipSpaces() {
        rest = rest.drop { $0.isWhitespace }
    }

    private mutating func nextWord() -> String {
        skipSpaces()
        let word = rest.prefix { !$0.isWhitespace && $0 != ";" }
        rest = rest[word.endIndex...]
        return String(word)
    }

    /// The name of a table or column, in double quotes if it has odd characters.
    private mutating func nextName(upTo end: Character? = nil) throws(ScriptError) -> String {
        skipSpaces()
        if rest.first != "\"" {
            guard let end else { return nextWord() }
            let name = String(rest.prefix { $0 != end })
            rest = rest.dropFirst(name.count)
            return name
        }
        rest.removeFirst()
        var name = ""
        while let index = rest.firstIndex(of: "\"") {
            name += rest[..<index]
            rest = rest[rest.index(after: index)...]
            if rest.first != "\"" { return name }
            name += "\""
            rest.removeFirst()
        }
        throw error("a name has no closing quote.")
    }

    private mutating func integer(in range: ClosedRange<Int>) throws(ScriptError) -> Int {
        let word = nextWord()
        guard let number = Int(word), range.contains(number) else {
            throw error("\"\(word)\" should be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private mutating func range() throws(ScriptError) -> ClosedRange<Int64> {
        let low = try integer(in: 0...1 << 40)
        return Int64(low)...Int64(try integer(in: low...1 << 40))
    }

    private mutating func node(_ script: Script) throws(ScriptError) -> Int {
        try node(named: nextWord(), script)
    }

    private mutating func optionalNode(_ script: Script) throws(ScriptError) -> Int? {
        skipSpaces()
        return rest.isEmpty || rest.first == "#" ? nil : try node(script)
    }

    private func node(named name: String, _ script: Script) throws(ScriptError) -> Int {
        guard let index = (0..<script.nodeCount).first(where: { nodeName($0) == name }) else {
            throw error("there is no node \"\(name)\"; the last of \(script.nodeCount) is \(nodeName(script.nodeCount - 1)).")
        }
        return index
    }

    private func error(_ message: String) -> ScriptError {
        ScriptError(line: line, message: message)
    }
}
