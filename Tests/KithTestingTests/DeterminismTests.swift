import Foundation
import KithTesting
import TestSupport
import Testing

/// Risk: a seed that failed once does not fail again, and nobody learns why.
@Suite struct DeterminismTests {
    @Test func `the same seed gives the same trace, and another seed another one`() throws {
        let simulator = try PromiseTests.simulator()
        let seeds = 0..<UInt64(Soak.count(2, soaking: 3))
        let hashes = try seeds.map { try simulator.run(simulator.script(seed: $0)).traceHash }
        let again = try seeds.map { try simulator.run(simulator.script(seed: $0)).traceHash }
        #expect(hashes == again)
        #expect(Set(hashes).count == seeds.count)
    }

    @Test(arguments: [nil, [.forgery, .damage]] as [[Fault]?])
    func `the same seed gives the same trace in another process`(faults: [Fault]?) throws {
        var simulator = try KithSimulator.standard
        if let faults { simulator.faults = faults }
        let (seeds, commits) = (Soak.count(1, soaking: 2), Soak.count(20, soaking: 40))
        simulator.commitCount = commits
        let own = try (0..<UInt64(seeds)).map { seed in
            try "\(seed) \(String(simulator.run(simulator.script(seed: seed)).traceHash, radix: 16))"
        }
        let process = try Self.simulator()
        process.arguments = ["--seeds", "\(seeds)", "--ops", "\(commits)", "--hash"]
        if let faults { process.arguments?.append(contentsOf: ["--faults", faults.map(\.rawValue).joined(separator: ",")]) }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(output.split(separator: "\n").prefix(seeds).map(String.init) == own)
    }

    @Test func `a process that dies of a trap says in which seed`() throws {
        let process = try Self.simulator()
        process.arguments = ["--seeds", "1000000", "--first", "7", "--nodes", "1", "--ops", "1", "--faults", "crash,clog=0.1", "--hash"]
        // Swift's own handler takes a signal that comes from outside for dealt with, and the process would go on.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        // Seed 7 is done, and another one under way.
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        kill(process.processIdentifier, SIGTRAP)
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTRAP)
        let options = "--nodes 1 --ops 1 --faults crash,clog=0.1"
        #expect(said.hasPrefix("Seed ") && said.contains(" ends the process. Repeat it with: kith-sim \(options) --first "), "\(said)")
    }

    /// `kith-sim`, which is built beside the tests.
    private static func simulator() throws -> Process {
        let tool = [Bundle.main.bundleURL, Bundle.module.bundleURL.deletingLastPathComponent()]
            .map { $0.appendingPathComponent("kith-sim") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        let process = Process()
        let executable: URL = try #require(tool, "kith-sim is not beside the tests")
        process.executableURL = executable
        return process
    }

    @Test func `a trace for people changes nothing`() throws {
        var simulator = try PromiseTests.simulator()
        simulator.commitCount = Soak.count(20, soaking: 40)
        let script = try simulator.script(seed: 3)
        let trace = simulator.trace(script)
        #expect(trace.traceHash == simulator.run(script).traceHash)
        #expect(!trace.trace.isEmpty)
    }
}
