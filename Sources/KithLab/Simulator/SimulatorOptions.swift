import Foundation
import KithStore
import KithTesting

/// What the command line asks for.
package struct SimulatorOptions {
    var schemaPath: String?
    /// SQL that an update of the app runs.
    var updatePath: String?
    var scriptPath: String?
    var nodeCount = 5
    var seedCount: UInt64 = 100
    var firstSeed: UInt64 = 0
    var commitCount = 200
    var faults: [Fault]?
    var faultRates: [Fault: Double] = [:]
    var sets: [String] = []
    var counters: [String] = []
    var texts: [String] = []
    var keys: [String] = []
    var deleteWins: [String] = []
    /// `TABLE=QUERY`.
    var filled: [String] = []
    /// Whether the schema of its own is the one of which journals, lists and undo are judged.
    var judgesHistory = false
    /// Whether sessions say what they know as large stores do.
    var saysHashes = false
    var printsTrace = false
    var printsHashes = false
    var reportsScale = false
    var stopsAtFirst = false
    /// How the program was called, for messages that show how to call it again.
    let command: String

    /// - Parameter command: how the program was called: `kith-sim` or `kith lab sim`.
    /// - Throws: ``LabError`` for options that do not exist, lack their value, or contradict each other.
    package init(_ arguments: some Sequence<String>, of command: String = "kith-sim") throws(LabError) {
        self.command = command
        var arguments = Self.split(arguments)[...]
        var given: [String] = []
        while let name = arguments.popFirst() {
            guard let option = Option(rawValue: name) else {
                throw usage("There is no \(name.hasPrefix("-") ? "option" : "argument") \(name).")
            }
            if option.takesValue {
                guard let value = arguments.popFirst() else { throw usage("\(name) needs a value.") }
                try set(option, value)
            } else {
                set(option)
            }
            if !given.contains(name) { given.append(name) }
        }
        try checkTogether(given)
    }

    /// `--name=value` as two arguments.
    private static func split(_ arguments: some Sequence<String>) -> [String] {
        arguments.flatMap { argument in
            guard argument.hasPrefix("--"), let sign = argument.firstIndex(of: "=") else { return [argument] }
            return [String(argument[..<sign]), String(argument[argument.index(after: sign)...])]
        }
    }

    // MARK: One option

    enum Option: String, CaseIterable {
        case schema = "--schema"
        case update = "--update"
        case history = "--history"
        case hashes = "--hashes"
        case set = "--set"
        case counter = "--counter"
        case text = "--text"
        case key = "--key"
        case deleteWins = "--delete-wins"
        case filled = "--filled"
        case nodes = "--nodes"
        case seeds = "--seeds"
        case first = "--first"
        case ops = "--ops"
        case faults = "--faults"
        case script = "--script"
        case trace = "--trace"
        case hash = "--hash"
        case stop = "--stop"
        case report = "--report"

        var takesValue: Bool {
            switch self {
            case .history, .hashes, .trace, .hash, .stop, .report: false
            default: true
            }
        }
    }

    private mutating func set(_ option: Option) {
        switch option {
        case .history: judgesHistory = true
        case .hashes: saysHashes = true
        case .trace: printsTrace = true
        case .hash: printsHashes = true
        case .stop: stopsAtFirst = true
        default: reportsScale = true
        }
    }

    private mutating func set(_ option: Option, _ value: String) throws(LabError) {
        switch option {
        case .schema: schemaPath = value
        case .update: updatePath = value
        case .script: scriptPath = value
        case .nodes: nodeCount = try number(option, value, upTo: Script.nodesMax)
        case .seeds: seedCount = UInt64(try number(option, value))
        case .first:
            guard let seed = UInt64(value), seed <= Self.seedMax else {
                throw usage("\(option.rawValue) \(value): a number from 0 to \(Self.seedMax) is needed.")
            }
            firstSeed = seed
        case .ops: commitCount = try number(option, value, upTo: KithSimulator.commitsMax)
        case .set: sets.append(value)
        case .counter: counters.append(value)
        case .text: texts.append(value)
        case .key: keys.append(value)
        case .deleteWins: deleteWins.append(value)
        case .filled: filled.append(value)
        case .faults: try setFaults(value)
        case .history, .hashes, .trace, .hash, .stop, .report: break
        }
    }

    private func number(_ option: Option, _ value: String, upTo largest: Int = .max) throws(LabError) -> Int {
        guard let number = Int(value), number > 0, number <= largest else {
            throw usage("\(option.rawValue) \(value): a number from 1 to \(largest) is needed.")
        }
        return number
    }

    /// `crash,clog=0.1`: a fault, and how often it occurs.
    private mutating func setFaults(_ value: String) throws(LabError) {
        (faults, faultRates) = ([], [:])
        if value == "none" { return }
        for word in value.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let fault = Fault(rawValue: String(parts[0])) else {
                throw usage("--faults: there is no fault \"\(parts[0])\". Those there are: \(Self.faultNames); or none alone.")
            }
            faults?.append(fault)
            guard parts.count == 2 else { continue }
            guard let rate = Double(parts[1]), (0...1).contains(rate) else {
                throw usage("--faults \(word): a rate is a number from 0 to 1, such as 0.1 for one transaction of ten.")
            }
            faultRates[fault] = rate
        }
        if faultRates[.garbage] != nil, let other = Fault.allCases.first(where: { $0.confusesGarbage && faultRates[$0] != nil }) {
            throw usage(
                "--faults: \(Fault.garbage.rawValue) and \(other.rawValue) cannot both have a rate, as no run has both. Leave one out.")
        }
    }

    /// So that seeds can be counted from there.
    private static let seedMax = UInt64(Int64.max)
    static let faultNames = Fault.allCases.map(\.rawValue).joined(separator: ", ")

    // MARK: Options together

    /// Those that say what the app's tables are.
    private static let ofSchema: [Option] = [.schema, .update, .set, .counter, .text, .key, .deleteWins, .filled]

    private func checkTogether(_ given: [String]) throws(LabError) {
        func those(_ isMeant: (String) -> Bool) -> String? {
            let names = given.filter(isMeant)
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }
        func others(than allowed: [Option]) -> String? { those { name in !allowed.contains { $0.rawValue == name } } }
        func some(of options: [Option]) -> String? { those { name in options.contains { $0.rawValue == name } } }
        if reportsScale, let others = others(than: [.report]) {
            throw usage("--report has its own schema, nodes and commits: leave out \(others).")
        }
        if scriptPath != nil, let others = others(than: [.script, .trace, .history, .hashes] + Self.ofSchema) {
            throw usage("A script says itself what happens on how many nodes: leave out \(others).")
        }
        if printsTrace, let others = some(of: [.seeds, .hash, .stop]) {
            throw usage("--trace shows one run, that of --first or of a script: leave out \(others).")
        }
        if judgesHistory, let others = some(of: Self.ofSchema) {
            throw usage("--history has a schema of its own: leave out \(others).")
        }
        if schemaPath == nil, let others = some(of: Self.ofSchema) {
            throw usage("\(others) speaks of the tables of --schema, which is not given.")
        }
        if schemaPath != nil, updatePath == nil, faults?.contains(.oldVersion) == true {
            throw usage(
                "--faults \(Fault.oldVersion.rawValue) needs an older version of the app, and an SQL file has one version. "
                    + "Give with \(Option.update.rawValue) what an update runs, or leave it out.")
        }
    }

    private func usage(_ message: String) -> LabError {
        LabError(.usage, "\(message) See `\(command) --help`.")
    }

    // MARK: Again

    /// The command that runs a script with the same schema.
    func commandRepeating(script: String) -> String {
        ShellLine.of(schemaWords + [Option.script.rawValue, script, Option.trace.rawValue])
    }

    /// The command that runs one seed as it is run now.
    func commandRepeating(seed: UInt64) -> String {
        var words = schemaWords
        words += [Option.nodes.rawValue, String(nodeCount), Option.ops.rawValue, String(commitCount)]
        if let faults {
            let names = faults.map { fault in fault.rawValue + (faultRates[fault].map { "=\($0)" } ?? "") }
            words += [Option.faults.rawValue, names.isEmpty ? "none" : names.joined(separator: ",")]
        }
        return ShellLine.of(words + [Option.first.rawValue, String(seed), Option.seeds.rawValue, "1"])
    }

    private var schemaWords: [String] {
        var words = command.split(separator: " ").map(String.init)
        if judgesHistory { words.append(Option.history.rawValue) }
        if saysHashes { words.append(Option.hashes.rawValue) }
        for (option, path) in [(Option.schema, schemaPath), (.update, updatePath)] {
            if let path { words += [option.rawValue, path] }
        }
        for (option, values) in [
            (Option.set, sets), (.counter, counters), (.text, texts), (.key, keys), (.deleteWins, deleteWins), (.filled, filled),
        ] {
            for value in values { words += [option.rawValue, value] }
        }
        return words
    }
}
