import Foundation
import KithSync
import KithTesting

/// What a commit costs when ever more machines take part, each of which has written before: frames, bytes and processor time, in
/// a network that works.
struct ScaleReport {
    static let nodeCounts = [3, 8, 16, 32, 64]
    static let commitCount = 20

    let simulator: KithSimulator

    /// A table, one line for each number of machines and each topology.
    func run() throws -> String {
        var lines = [
            "| topology | nodes | frames a commit | bytes a commit | frames a commit and node | bytes a commit and node | processor time a commit and node |",
            "|---|---|---|---|---|---|---|",
        ]
        for topology in [Topology.mesh, .star, .chain] {
            for count in Self.nodeCounts { lines.append(try line(topology, count)) }
        }
        return lines.joined(separator: "\n")
    }

    /// What a run with commits takes beyond one without.
    private func line(_ topology: Topology, _ nodeCount: Int) throws -> String {
        let idle = try measure(topology, nodeCount, commits: 0)
        let busy = try measure(topology, nodeCount, commits: Self.commitCount)
        let commits = Double(Self.commitCount)
        let frames = Double(busy.statistics.frames - idle.statistics.frames) / commits
        let bytes = Double(busy.statistics.bytes - idle.statistics.bytes) / commits
        let milliseconds = (busy.seconds - idle.seconds) * 1_000 / commits / Double(nodeCount)
        func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
        return "| \(topology.rawValue) | \(nodeCount) | \(number(frames, 1)) | \(number(bytes, 0)) | "
            + "\(number(frames / Double(nodeCount), 2)) | \(number(bytes / Double(nodeCount), 0)) | \(number(milliseconds, 2)) ms |"
    }

    private func measure(_ topology: Topology, _ nodeCount: Int, commits: Int) throws -> (statistics: RunStatistics, seconds: Double) {
        var script = Script(seed: 1, nodeCount: nodeCount, steps: [.wait(milliseconds: 5_000)])
        script.conditions.topology = topology
        func commit(_ index: Int, _ title: String) {
            let title = Assignment("title", Literal(.text("\(title) \(index)")))
            script.steps.append(.commit(node: index % nodeCount, [.write(RowWrite(.upsert, "note", index % 5 + 1, [title]))]))
        }
        for node in 0..<nodeCount {
            commit(node, "first")
            script.steps.append(.wait(milliseconds: 1_000))
        }
        for index in 0..<Self.commitCount {
            script.steps.append(.wait(milliseconds: 5_000))
            if index < commits { commit(index, "version") }
        }
        script.steps.append(.wait(milliseconds: 5_000))
        let start = clock()
        let report = simulator.run(script)
        if let violation = report.violation { throw violation }
        return (report.statistics, Double(clock() - start) / Double(CLOCKS_PER_SEC))
    }
}
