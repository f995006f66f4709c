import Foundation
import KithTesting
import Testing

/// Risk: a seed that failed once does not fail again, and nobody learns why.
@Suite struct DeterminismTests {
    @Test func `the same seed gives the same trace, and another seed another one`() throws {
        let simulator = try PromiseTests.simulator()
        let hashes = (0..<8 as Range<UInt64>).map { simulator.run(simulator.script(seed: $0)).traceHash }
        let again = (0..<8 as Range<UInt64>).map { simulator.run(simulator.script(seed: $0)).traceHash }
        #expect(hashes == again)
        #expect(Set(hashes).count == 8)
    }

    @Test func `the same seed gives the same trace in another process`() throws {
        var simulator = try KithSimulator(.standard)
        simulator.commitCount = 40
        let own = (0..<20 as Range<UInt64>).map { seed in
            "\(seed) \(String(simulator.run(simulator.script(seed: seed)).traceHash, radix: 16))"
        }
        let tool: URL = try #require(Self.simulatorTools.first, "kith-sim is not beside the tests")
        let process = Process()
        process.executableURL = tool
        process.arguments = ["--seeds", "20", "--ops", "40", "--hash"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(output.split(separator: "\n").prefix(20).map(String.init) == own)
    }

    /// `kith-sim`, which is built beside the tests.
    private static var simulatorTools: [URL] {
        [Bundle.main.bundleURL, Bundle.module.bundleURL.deletingLastPathComponent()]
            .map { $0.appendingPathComponent("kith-sim") }
            .filter { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    @Test func `a trace for people changes nothing`() throws {
        let simulator = try PromiseTests.simulator()
        let script = simulator.script(seed: 3)
        let trace = simulator.trace(script)
        #expect(trace.traceHash == simulator.run(script).traceHash)
        #expect(!trace.trace.isEmpty)
    }
}
