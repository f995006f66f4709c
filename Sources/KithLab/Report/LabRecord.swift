/// What happened in a run, as the report shows it and as `--json` prints it. Times are milliseconds of the run.
struct LabRecord: Codable, Equatable, Sendable {
    struct Node: Codable, Equatable, Sendable {
        var name: String
        var address: String
        /// What `kith --version` says.
        var version: String
    }

    /// Something that was done to a node, or to the path between two.
    struct Mark: Codable, Equatable, Sendable {
        enum Kind: String, Codable, Sendable {
            case start, stop, kill, pause, resume, cut, heal, part, join, link, clock, fill, free, move, lose, recover
        }

        var atMilliseconds: Int64
        var kind: Kind
        var node: Int
        var other: Int?
        var text: String
    }

    struct Commit: Codable, Equatable, Sendable {
        var atMilliseconds: Int64
        var node: Int
        var sequence: UInt64
        /// The write that made it, by its index.
        var write: Int?
        var arrivals: [Arrival]
    }

    struct Arrival: Codable, Equatable, Sendable {
        var atMilliseconds: Int64
        var node: Int
        /// Whether this node had written something that the commit's author did not know.
        var isMerge: Bool
    }

    struct Write: Codable, Equatable, Sendable {
        var index: Int
        var atMilliseconds: Int64
        var endedMilliseconds: Int64
        var node: Int
        var note: String
        var kind: String
        var value: String
        /// `acknowledged`, `unknown`, or why it was refused.
        var outcome: String
    }

    /// Two nodes, in step with each other or connected, for a while.
    struct Connection: Codable, Equatable, Sendable {
        var first: Int
        var second: Int
        var fromMilliseconds: Int64
        var untilMilliseconds: Int64
    }

    struct Traffic: Codable, Equatable, Sendable {
        var from: Int
        var to: Int
        var bytes: Int
        var frames: Int
        var droppedFrames: Int
    }

    struct Check: Codable, Equatable, Sendable {
        enum Outcome: String, Codable, Sendable {
            case passed, broken, notChecked
        }

        var sentence: String
        var outcome: Outcome
        /// Why it was not checked.
        var why: String?
    }

    var name: String
    var about: String
    /// What drew the writes and the lost frames.
    var seed: UInt64
    var started: String
    var lastsMilliseconds: Int64
    var takesMilliseconds: Int64
    /// When everything worked again and nothing more was written; when all knew the same, if they did.
    var settledFromMilliseconds: Int64
    var convergedMilliseconds: Int64?
    var endedMilliseconds: Int64
    var nodes: [Node]
    var marks: [Mark]
    var commits: [Commit]
    var writes: [Write]
    var connections: [Connection]
    var traffic: [Traffic]
    var checks: [Check]
    var findings: [Finding]
    /// What a reader should know, such as programs that were not given.
    var remarks: [String]

    /// Times to arrive are true to this: so often are the stores looked at.
    static let lookMilliseconds: Int64 = 30

    var isPassed: Bool { findings.isEmpty }

    /// Milliseconds from each commit to its arrival at each other node, sorted.
    var latencies: [Int64] {
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
