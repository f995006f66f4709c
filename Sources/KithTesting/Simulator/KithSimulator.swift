import KithStore

/// Runs many nodes of an app in one thread, breaks their network and their machines on purpose, and tells whether
/// anything that a user wrote was lost.
///
///     let simulator = try KithSimulator(schema)
///     let failures = try simulator.failures(seeds: 0..<6)
///     #expect(failures.isEmpty, "\(failures)")
///
/// Each seed is one run: five machines with real stores and real sessions, users who write SQL, and a network that loses
/// connections, splits and heals, all in virtual time. The same seed gives the same run everywhere. A seed that fails is
/// cut down to a short script.
///
/// In a debug build a seed takes about fifteen seconds. Run the many, 300 or 1,000 of them, in release: with `kith lab sim --schema app.sql`, or
/// `swift test -c release`.
public struct KithSimulator: Sendable {
    /// The app's tables, in all of its versions.
    public let schema: SimulatedSchema
    /// Machines of one run, up to ``Script/nodesMax``.
    public var nodeCount = 5
    /// Users' transactions of one run, up to ``commitsMax``.
    public var commitCount = 200
    /// What may go wrong; each seed makes its own choice among them.
    public var faults = Fault.honest
    /// Faults that occur in every run, each before this share of the users' transactions, from 0 to 1: `[.lostConnection: 0.5]` before every
    /// other one. Those without a rate are drawn from ``faults``, as often as a seed says. Where ``Fault/garbage`` has a rate, what confuses it
    /// is left out: clocks, restores and clones.
    public var faultRates: [Fault: Double] = [:]
    /// Whether sessions say what they know as large stores do: the hello its hash, and frames differences. Small ones spell it out.
    public var saysHashes = false
    private let workload: Workload

    /// The most transactions that a seed stands for.
    public static let commitsMax = 1_000_000

    /// - Throws: what the app's migrations throw, a `StoreError` if a table cannot synchronise, and ``SchemaError`` if the schema cannot be judged.
    public init(_ schema: SimulatedSchema) throws {
        self.schema = schema
        workload = try Workload(schema)
    }

    /// The script that a seed stands for.
    ///
    /// - Throws: ``SchemaError`` if a setting is beyond its limits.
    public func script(seed: UInt64) throws(SchemaError) -> Script {
        try checkSettings()
        var generator = ScriptGenerator(seed: seed, nodeCount: nodeCount, workload: workload, faults: faults, rates: faultRates)
        return generator.script(commitCount: commitCount)
    }

    /// Reads a script that is for this schema.
    ///
    /// - Throws: ``ScriptError`` with the line and what is wrong with it, also where it names a table or column that does not synchronise.
    public func script(parsing text: String) throws(ScriptError) -> Script {
        try Script(parsing: text, vocabulary: vocabulary)
    }

    /// Runs a script once. One that names tables or columns that do not synchronise, or a node or number that its text may not have, is not run:
    /// see ``Violation/Rule/wrongScript``.
    public func run(_ script: Script) -> RunReport {
        report(script, keepsTrace: false)
    }

    /// Runs a script once and keeps, for people, a line for each thing that happened.
    public func trace(_ script: Script) -> RunReport {
        report(script, keepsTrace: true)
    }

    /// Runs `seeds` one after the other; each one that fails is shrunk.
    ///
    /// - Parameter failuresMax: after so many failures no more seeds are run.
    /// - Throws: ``SchemaError`` if a setting is beyond its limits.
    public func failures(seeds: some Sequence<UInt64>, failuresMax: Int = 3) throws(SchemaError) -> [Failure] {
        try checkSettings()
        var failures: [Failure] = []
        for seed in seeds {
            let script = try script(seed: seed)
            guard let violation = run(script).violation else { continue }
            let shrunk = Shrinker(simulator: self, violation: violation).shrink(script)
            failures.append(Failure(seed: seed, violation: run(shrunk).violation ?? violation, script: shrunk))
            if failures.count >= failuresMax { break }
        }
        return failures
    }

    private func checkSettings() throws(SchemaError) {
        for (name, value, largest) in [("nodeCount", nodeCount, Script.nodesMax), ("commitCount", commitCount, Self.commitsMax)]
        where !(1...largest).contains(value) {
            throw SchemaError("\(name) is \(value): a number from 1 to \(largest) is needed.")
        }
        for fault in Fault.allCases {
            guard let rate = faultRates[fault], !(0...1).contains(rate) else { continue }
            throw SchemaError(
                "The rate of \(fault.rawValue) is \(rate): a number from 0 to 1 is needed, such as 0.1 for one transaction of ten.")
        }
    }

    private var vocabulary: ScriptVocabulary { ScriptVocabulary(tables: workload.tables) }

    private func report(_ script: Script, keepsTrace: Bool) -> RunReport {
        if let fault = vocabulary.fault(in: script) { return RunReport(notRun: Violation(.wrongScript, fault)) }
        do {
            let simulation = try Simulation(script, workload, keepsTrace: keepsTrace, saysHashes: saysHashes)
            var violation: Violation?
            do {
                try simulation.run()
            } catch let broken as Violation {
                violation = broken
            } catch {
                violation = Violation(.storeFailed, String(describing: error))
            }
            simulation.stop()
            return RunReport(
                violation: violation, traceHash: simulation.trace.hash, trace: simulation.trace.lines,
                statistics: simulation.statistics)
        } catch {
            return RunReport(notRun: Violation(.storeFailed, String(describing: error)))
        }
    }
}

/// What came of one run.
public struct RunReport: Sendable {
    /// The first promise that was broken, if one was.
    public let violation: Violation?
    /// Equal for equal scripts, in every process.
    public let traceHash: UInt64
    /// What happened, if it was asked for.
    public let trace: [String]
    /// How much happened.
    public let statistics: RunStatistics
}

extension RunReport {
    /// Of a run that did not even begin.
    fileprivate init(notRun violation: Violation) {
        self.init(violation: violation, traceHash: 0, trace: [], statistics: RunStatistics())
    }
}
