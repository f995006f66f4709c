import Foundation
import KithTesting

/// Runs what the options ask for.
public struct SimulatorRun {
    let options: SimulatorOptions

    public init(_ options: SimulatorOptions) {
        self.options = options
    }

    /// Returns whether every promise was kept.
    public func run() throws -> Bool {
        var simulator = try KithSimulator(try schema())
        simulator.nodeCount = options.nodeCount
        simulator.commitCount = options.commitCount
        if options.reportsScale {
            print(try ScaleReport(simulator: try KithSimulator(.standard)).run())
            return true
        }
        if let faults = options.faults { simulator.faults = faults }
        if let path = options.scriptPath {
            return show(simulator.trace(try Script(parsing: try String(contentsOfFile: path, encoding: .utf8))))
        }
        if options.printsTrace { return show(simulator.trace(simulator.script(seed: options.firstSeed))) }
        return runSeeds(simulator)
    }

    private func schema() throws -> SimulatedSchema {
        guard let path = options.schemaPath else { return .standard }
        return try SchemaFile(sql: try String(contentsOfFile: path, encoding: .utf8), options: options).schema()
    }

    private func show(_ report: RunReport) -> Bool {
        if options.printsTrace { for line in report.trace { print(line) } }
        print(report.violation.map { "Broken: \($0)" } ?? "Every promise was kept.")
        return report.violation == nil
    }

    private func runSeeds(_ simulator: KithSimulator) -> Bool {
        let start = Date()
        var seeds = 0
        var broken = 0
        var commits = 0
        var applies = 0
        for seed in options.firstSeed..<options.firstSeed + options.seedCount {
            let report = simulator.run(simulator.script(seed: seed))
            seeds += 1
            commits += report.statistics.commits
            applies += report.statistics.applies
            if options.printsHashes { print(seed, String(report.traceHash, radix: 16)) }
            guard let violation = report.violation else { continue }
            broken += 1
            if options.stopsAtFirst {
                print("Seed \(seed), after \(seeds) seeds: \(violation)")
                return false
            }
            for failure in simulator.failures(seeds: [seed]) { print(failure) }
        }
        let seconds = Date().timeIntervalSince(start)
        print(
            """
            \(seeds) seeds of \(options.nodeCount) nodes, \(commits) commits, \(applies) slices applied, \
            \(String(format: "%.1f", seconds)) s (\(Int(Double(seeds) * 60 / seconds)) a minute): \
            \(broken == 0 ? "every promise was kept." : "\(broken) seeds broke a promise.")
            """)
        return broken == 0
    }
}
