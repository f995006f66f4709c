import Foundation
import KithTesting

/// Runs what the options ask for.
package struct SimulatorRun {
    let options: SimulatorOptions
    /// Prints one line for people who look at the results.
    private let output: (String) -> Void
    /// Prints one line on what is going on.
    private let notice: (String) -> Void
    private let ownsProcess: Bool

    /// - Parameters:
    ///   - output: prints a line of the results; standard output.
    ///   - notice: prints a line about the schema, or of a seed that is cut down; standard error.
    ///   - ownsProcess: whether the process does nothing else: it shows on a terminal how far it is, and, if it dies of a trap, in which seed.
    package init(
        _ options: SimulatorOptions, output: @escaping (String) -> Void = { print($0) },
        notice: @escaping (String) -> Void = { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }, ownsProcess: Bool = false
    ) {
        self.options = options
        self.output = output
        self.notice = notice
        self.ownsProcess = ownsProcess
    }

    /// Returns whether every promise was kept.
    ///
    /// - Throws: ``LabError`` for files that cannot be read or are not what they should be: nothing was run then.
    package func run() throws -> Bool {
        if options.reportsScale {
            output(try ScaleReport(simulator: try KithSimulator(.standard)).run())
            return true
        }
        var simulator = try simulator()
        simulator.nodeCount = options.nodeCount
        simulator.commitCount = options.commitCount
        if let faults = options.faults { simulator.faults = faults }
        simulator.faultRates = options.faultRates
        simulator.saysHashes = options.saysHashes
        if let path = options.scriptPath { return show(simulator.trace(try script(path, simulator))) }
        if options.printsTrace { return show(simulator.trace(try simulator.script(seed: options.firstSeed))) }
        return try runSeeds(simulator)
    }

    private func simulator() throws -> KithSimulator {
        guard let path = options.schemaPath else {
            return try KithSimulator(options.judgesHistory ? .history : .standard)
        }
        let file = try SchemaFile(path: path, options: options)
        let simulator = try file.simulator()
        notice(file.summary)
        return simulator
    }

    private func script(_ path: String, _ simulator: KithSimulator) throws(LabError) -> Script {
        let text = try InputFile.read(path)
        do {
            return try simulator.script(parsing: text)
        } catch {
            throw LabError(.data, "\(path):\(error.line): \(error.message)")
        }
    }

    private func show(_ report: RunReport) -> Bool {
        if options.printsTrace { for line in report.trace { output(line) } }
        output(report.violation.map { "Broken: \($0)" } ?? "Every promise was kept.")
        return report.violation == nil
    }

    private func runSeeds(_ simulator: KithSimulator) throws -> Bool {
        let start = Date()
        var seeds: UInt64 = 0
        var broken = 0
        var commits = 0
        var applies = 0
        if ownsProcess { TrapNote.prepare() }
        for seed in options.firstSeed..<options.firstSeed + options.seedCount {
            if ownsProcess {
                TrapNote.set("Seed \(seed) ends the process. Repeat it with: \(options.commandRepeating(seed: seed))")
                progress(seeds)
            }
            let report = simulator.run(try simulator.script(seed: seed))
            seeds += 1
            commits += report.statistics.commits
            applies += report.statistics.applies
            if options.printsHashes {
                output("\(seed) \(String(report.traceHash, radix: 16))")
                fflush(nil)
            }
            guard let violation = report.violation else { continue }
            broken += 1
            if options.stopsAtFirst {
                progress(nil)
                output("Seed \(seed), after \(seeds) seeds: \(violation)")
                return false
            }
            progress(nil)
            // Cutting down may take as long as hundreds of seeds.
            notice("Seed \(seed) breaks a promise. \(violation) Cutting its script down.")
            for failure in try simulator.failures(seeds: [seed]) { output(failure.description(howToRepeat: howToRepeat)) }
        }
        let seconds = Date().timeIntervalSince(start)
        progress(nil)
        output(
            """
            \(seeds) seeds of \(options.nodeCount) nodes, \(commits) commits, \(applies) slices applied, \
            \(String(format: "%.1f", seconds)) s (\(Int(Double(seeds) * 60 / seconds)) a minute): \
            \(broken == 0 ? "every promise was kept." : "\(broken) seeds broke a promise.")
            """)
        return broken == 0
    }

    /// Shows on a terminal how many seeds are done, and takes that away again when there is something else to say.
    private func progress(_ seeds: UInt64?) {
        guard ownsProcess, isatty(STDERR_FILENO) == 1, !options.printsHashes else { return }
        let text = seeds.map { "\($0) of \(options.seedCount) seeds" } ?? ""
        FileHandle.standardError.write(Data("\r\u{1b}[K\(text)".utf8))
    }

    private var howToRepeat: String {
        let file = "failure.script"
        return "Save this script as \(file) and repeat it with: \(options.commandRepeating(script: file))"
    }
}
