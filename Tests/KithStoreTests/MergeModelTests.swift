import Foundation
import TestSupport
import Testing

@testable import kith_conformance

@Suite("The store merges otherwise than the model says")
struct MergeModelTests {
    /// - Parameter step: of how many scenarios one is judged, but for a long run, which judges all.
    @Test(arguments: [("random", 120, 20), ("adoption", 60, 10)])
    func `the vectors of the specification get the model's answer`(file: String, count: Int, step: Int) throws {
        let url = try #require(Bundle.module.url(forResource: file, withExtension: "json", subdirectory: "Fixtures"))
        let data = try Data(contentsOf: url)
        let scenarios = try JSONDecoder().decode([MergeScenario].self, from: data)
        let expected = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(scenarios.count == count)
        let judged = stride(from: 0, to: count, by: Soak.isAsked ? 1 : step)
        try compare(judged.map { scenarios[$0] }, judged.map { expected[$0] })
    }

    private func compare(_ scenarios: [MergeScenario], _ expected: [[String: Any]]) throws {
        func canonical(_ object: Any) throws -> String {
            String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
        }
        for (scenario, expectation) in zip(scenarios, expected) {
            let answer = try MergeConformance.play(scenario)
            #expect(try canonical(answer) == canonical(try #require(expectation["expect"])), "\(scenario.name)")
        }
    }

    /// Histories of adopted rows, made anew by the model.
    private static let freshCount = Soak.count(2, soaking: 2_000)
    private static let freshBatchCount = 2

    @Test(arguments: 0..<freshBatchCount)
    func `fresh histories with rows that were there before get the model's answer`(batch: Int) throws {
        let model = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Specification/adoption_model.py")
        let size = Self.freshCount / Self.freshBatchCount
        let first = Self.firstSeed % 1_000_000 + UInt64(batch * size)
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", "-B", model.path, "fresh", "\(first)", "\(size)"]
        let output = Pipe()
        python.standardOutput = output
        try python.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        python.waitUntilExit()
        try #require(python.terminationStatus == 0, "the model does not run; it needs python3")
        let scenarios = try JSONDecoder().decode([MergeScenario].self, from: data)
        #expect(!scenarios.isEmpty)
        try compare(scenarios, try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]]))
    }

    private static let historyCount = Soak.count(5, soaking: 5_000)
    private static let firstSeed = Soak.firstSeed
    private static let batchCount = 5

    @Test(arguments: 0..<batchCount)
    func `random histories with catch-ups cut at every row agree with the model at every step`(batch: Int) throws {
        let size = Self.historyCount / Self.batchCount
        var alternatives = 0
        for index in 0..<size {
            let seed = Self.firstSeed &+ UInt64(batch * size + index)
            let history = try History(seed: seed)
            try history.run(steps: [15, 30, 45][Int(seed % 3)], cutChance: [0.3, 0.6, 0.9][Int(seed / 3 % 3)])
            alternatives += history.alternativeCount
        }
        #expect(alternatives > 0)
    }
}
