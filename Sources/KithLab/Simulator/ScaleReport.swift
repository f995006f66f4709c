import Foundation
import KithSync
import KithTesting

/// What a commit costs when ever more machines take part, each of which has written before: frames, bytes and processor time, in
/// a network that works.
struct ScaleReport {
    static let nodeCounts = [3, 8, 16, 32, 64]

    let simulator: KithSimulator
    /// Those that are counted.
    var commitCount = 20

    /// What one commit costs all machines together.
    struct Cost {
        let nodeCount: Int
        let frames: Double
        let bytes: Double
        let processorMilliseconds: Double

        var framesPerNode: Double { frames / Double(nodeCount) }
        var bytesPerNode: Double { bytes / Double(nodeCount) }
    }

    /// A table, one line for each number of machines and each topology.
    func run() throws -> String {
        var lines = [
            "| topology | nodes | frames a commit | bytes a commit | frames a commit and node | bytes a commit and node | processor time a commit and node |",
            "|---|---|---|---|---|---|---|",
        ]
        for topology in [Topology.mesh, .star, .chain] {
            for count in Self.nodeCounts { lines.append(line(topology, try cost(topology, nodeCount: count))) }
        }
        return lines.joined(separator: "\n")
    }

    /// What a run with commits takes beyond one without.
    func cost(_ topology: Topology, nodeCount: Int) throws -> Cost {
        let idle = try measure(topology, nodeCount, commits: 0)
        let busy = try measure(topology, nodeCount, commits: commitCount)
        let commits = Double(commitCount)
        return Cost(
            nodeCount: nodeCount, frames: Double(busy.statistics.frames - idle.statistics.frames) / commits,
            bytes: Double(busy.statistics.bytes - idle.statistics.bytes) / commits,
            processorMilliseconds: (busy.seconds - idle.seconds) * 1_000 / commits)
    }

    private func line(_ topology: Topology, _ cost: Cost) -> String {
        func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
        return "| \(topology.rawValue) | \(cost.nodeCount) | \(number(cost.frames, 1)) | \(number(cost.bytes, 0)) | "
            + "\(number(cost.framesPerNode, 2)) | \(number(cost.bytesPerNode, 0)) | "
            + "\(number(cost.processorMilliseconds / Double(cost.nodeCount), 2)) ms |"
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
        for index in 0..<commitCount {
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
