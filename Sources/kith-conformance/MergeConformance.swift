import Foundation
import KithStore
import KithSync

/// Plays merge scenarios through the real store and prints a JSON array of answers in order.
enum MergeConformance {
    static func run(path: String) throws {
        let data = path == "-" ? FileHandle.standardInput.readDataToEndOfFile() : try Data(contentsOf: URL(fileURLWithPath: path))
        let scenarios = try JSONDecoder().decode([MergeScenario].self, from: data)
        let answers = try scenarios.map(play)
        let output = try JSONSerialization.data(withJSONObject: answers, options: [.sortedKeys])
        FileHandle.standardOutput.write(output + Data("\n".utf8))
    }

    /// The answer of every replica of `scenario`.
    static func play(_ scenario: MergeScenario) throws -> [String: Any] {
        let policy: DeletePolicy
        switch scenario.deletePolicy {
        case "updateWins": policy = .updateWins
        case "deleteWins": policy = .deleteWins
        default: throw Failure("unknown delete policy \(scenario.deletePolicy)")
        }
        var replicas: [String: MergeReplica] = [:]
        for name in scenario.replicas {
            // One that adopts has no table before.
            let adopts = scenario.steps.contains { $0.adopt == name }
            replicas[name] = try MergeReplica(
                name: name, deletePolicy: policy, path: nil, hasTexts: scenario.name.hasPrefix("adopt-text-"), hasTable: !adopts)
        }
        func replica(_ name: String) throws -> MergeReplica {
            guard let replica = replicas[name] else { throw Failure("unknown replica \(name) in \(scenario.name)") }
            return replica
        }
        for step in scenario.steps {
            if let name = step.adopt {
                try replica(name).adopt(step.rows ?? [:], now: step.now ?? 0)
            } else if let name = step.migrate {
                try replica(name).migrate(step.ops ?? [], now: step.now ?? 0)
            } else if let author = step.commit {
                try replica(author).commit(step.ops ?? [], now: step.now ?? 0)
            } else if let pair = step.sync, pair.count == 2 {
                try replica(pair[1]).receive(from: try replica(pair[0]))
            } else {
                throw Failure("a step of \(scenario.name) is of no known kind")
            }
        }
        return try replicas.mapValues { try $0.answer(names: scenario.replicas) }
    }
}

/// What is wrong with the input.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
