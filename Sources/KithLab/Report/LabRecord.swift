/// What happened in a run, as the report shows it and as `--json` prints it. Times are milliseconds of the run.
public struct LabRecord: Codable, Equatable, Sendable {
    public struct Node: Codable, Equatable, Sendable {
        public var name: String
        public var address: String
        /// What `kith --version` says.
        public var version: String
    }

    /// Something that was done to a node, or to the path between two.
    public struct Mark: Codable, Equatable, Sendable {
        public enum Kind: String, Codable, Sendable {
            case start, stop, kill, pause, resume, cut, heal, part, join, link, clock, fill, free, move, lose, recover
        }

        public var atMilliseconds: Int64
        public var kind: Kind
        public var node: Int
        public var other: Int?
        public var text: String
    }

    public struct Commit: Codable, Equatable, Sendable {
        public var atMilliseconds: Int64
        public var node: Int
        public var sequence: UInt64
        /// The write that made it, by its index.
        public var write: Int?
        public var arrivals: [Arrival]
    }

    public struct Arrival: Codable, Equatable, Sendable {
        public var atMilliseconds: Int64
        public var node: Int
        /// Whether this node had written something that the commit's author did not know.
        public var isMerge: Bool
    }

    public struct Write: Codable, Equatable, Sendable {
        public var index: Int
        public var atMilliseconds: Int64
        public var endedMilliseconds: Int64
        public var node: Int
        public var note: String
        public var kind: String
        public var value: String
        /// `acknowledged`, `unknown`, or why it was refused.
        public var outcome: String
    }

    /// Two nodes, in step with each other or connected, for a while.
    public struct Connection: Codable, Equatable, Sendable {
        public var first: Int
        public var second: Int
        public var fromMilliseconds: Int64
        public var untilMilliseconds: Int64
    }

    public struct Traffic: Codable, Equatable, Sendable {
        public var from: Int
        public var to: Int
        public var bytes: Int
        public var frames: Int
        public var droppedFrames: Int
    }

    public struct Check: Codable, Equatable, Sendable {
        public enum Outcome: String, Codable, Sendable {
            case passed, broken, notChecked
        }

        public var sentence: String
        public var outcome: Outcome
        /// Why it was not checked.
        public var why: String?
    }

    public var name: String
    public var about: String
    public var started: String
    public var lastsMilliseconds: Int64
    public var takesMilliseconds: Int64
    /// When everything worked again and nothing more was written; when all knew the same, if they did.
    public var settledFromMilliseconds: Int64
    public var convergedMilliseconds: Int64?
    public var endedMilliseconds: Int64
    public var nodes: [Node]
    public var marks: [Mark]
    public var commits: [Commit]
    public var writes: [Write]
    public var connections: [Connection]
    public var traffic: [Traffic]
    public var checks: [Check]
    public var findings: [Finding]
    /// What a reader should know, such as programs that were not given.
    public var remarks: [String]

    /// Times to arrive are true to this: so often are the stores looked at.
    public static let lookMilliseconds: Int64 = 30

    public var isPassed: Bool { findings.isEmpty }

    /// Milliseconds from each commit to its arrival at each other node, sorted.
    public var latencies: [Int64] {
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
