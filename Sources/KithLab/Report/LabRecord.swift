/// What happened in a run, as the report shows it and as `--json` prints it. Times are milliseconds of the run.
package struct LabRecord: Codable, Equatable, Sendable {
    package struct Node: Codable, Equatable, Sendable {
        package var name: String
        package var address: String
        /// What `kith --version` says.
        package var version: String
    }

    /// Something that was done to a node, or to the path between two.
    package struct Mark: Codable, Equatable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case start, stop, kill, pause, resume, cut, heal, part, join, link, clock, fill, free, move, lose, recover
        }

        package var atMilliseconds: Int64
        package var kind: Kind
        package var node: Int
        package var other: Int?
        package var text: String
    }

    package struct Commit: Codable, Equatable, Sendable {
        package var atMilliseconds: Int64
        package var node: Int
        package var sequence: UInt64
        /// The write that made it, by its index.
        package var write: Int?
        package var arrivals: [Arrival]
    }

    package struct Arrival: Codable, Equatable, Sendable {
        package var atMilliseconds: Int64
        package var node: Int
        /// Whether this node had written something that the commit's author did not know.
        package var isMerge: Bool
    }

    package struct Write: Codable, Equatable, Sendable {
        package var index: Int
        package var atMilliseconds: Int64
        package var endedMilliseconds: Int64
        package var node: Int
        package var note: String
        package var kind: String
        package var value: String
        /// `acknowledged`, `unknown`, or why it was refused.
        package var outcome: String
    }

    /// Two nodes, in step with each other or connected, for a while.
    package struct Connection: Codable, Equatable, Sendable {
        package var first: Int
        package var second: Int
        package var fromMilliseconds: Int64
        package var untilMilliseconds: Int64
    }

    package struct Traffic: Codable, Equatable, Sendable {
        package var from: Int
        package var to: Int
        package var bytes: Int
        package var frames: Int
        package var droppedFrames: Int
    }

    package struct Check: Codable, Equatable, Sendable {
        package enum Outcome: String, Codable, Sendable {
            case passed, broken, notChecked
        }

        package var sentence: String
        package var outcome: Outcome
        /// Why it was not checked.
        package var why: String?
    }

    package var name: String
    package var about: String
    package var started: String
    package var lastsMilliseconds: Int64
    package var takesMilliseconds: Int64
    /// When everything worked again and nothing more was written; when all knew the same, if they did.
    package var settledFromMilliseconds: Int64
    package var convergedMilliseconds: Int64?
    package var endedMilliseconds: Int64
    package var nodes: [Node]
    package var marks: [Mark]
    package var commits: [Commit]
    package var writes: [Write]
    package var connections: [Connection]
    package var traffic: [Traffic]
    package var checks: [Check]
    package var findings: [Finding]
    /// What a reader should know, such as programs that were not given.
    package var remarks: [String]

    /// Times to arrive are true to this: so often are the stores looked at.
    package static let lookMilliseconds: Int64 = 30

    package var isPassed: Bool { findings.isEmpty }

    /// Milliseconds from each commit to its arrival at each other node, sorted.
    package var latencies: [Int64] {
        commits.flatMap { commit in commit.arrivals.map { max(0, $0.atMilliseconds - commit.atMilliseconds) } }.sorted()
    }

    /// How long it lasted, for people.
    var duration: String {
        let lasts = Quantity.span(Double(lastsMilliseconds))
        return lastsMilliseconds == takesMilliseconds ? lasts : "\(lasts) in \(Quantity.span(Double(takesMilliseconds)))"
    }

    /// A time to arrive, for people.
    static func latency(_ milliseconds: Int64) -> String {
        milliseconds < lookMilliseconds ? "\(lookMilliseconds) ms" : Quantity.span(Double(milliseconds))
    }
}
