/// What happens to which machines, and when. Read from a file by ``ScenarioReader``; docs/lab.md describes the file.
public struct Scenario: Equatable, Sendable {
    /// More machines than these are refused: each has daemons of its own.
    public static let nodesMax = 12
    /// More steps than these, workloads counted out, are refused.
    public static let stepsMax = 20_000
    /// A larger attachment is refused: the lab makes its bytes anew to compare them.
    public static let attachmentBytesMax = 64_000_000

    public struct Node: Equatable, Sendable {
        public var name: String
        /// The size of its disk; `nil` for that of this machine.
        public var diskBytes: Int?
        /// How far its wall clock is ahead.
        public var clockMilliseconds: Int64 = 0
        /// Which of ``Scenario/binaries`` it runs; `nil` for the kith that runs the lab.
        public var binary: String?
    }

    /// Who hears whom.
    public enum Topology: String, CaseIterable, Sendable {
        /// Everybody everybody.
        case mesh
        /// Everybody the first node, which hears all.
        case star
        /// Each its neighbours in the order of the file.
        case chain
        /// The chain, closed.
        case ring
    }

    /// How machines come to trust each other.
    public enum Trust: String, CaseIterable, Sendable {
        /// Each is told the id of each other one.
        case devices
        /// Each is paired with the first one, while all clocks are right.
        case household
    }

    /// How frames fare between two nodes, in each direction.
    public struct Link: Equatable, Sendable {
        public var delayMilliseconds: Double = 0
        /// Added to the delay: evenly spread between nothing and this.
        public var jitterMilliseconds: Double = 0
        /// How many of a hundred frames vanish.
        public var lossPercent: Double = 0
        /// `nil` for as fast as it goes.
        public var bitsPerSecond: Double?
    }

    public struct Pair: Hashable, Sendable {
        public let first: Int
        public let second: Int

        /// The same pair whichever is named first.
        public init(_ a: Int, _ b: Int) {
            (first, second) = (min(a, b), max(a, b))
        }
    }

    /// Writes at random, the same for the same seed.
    public struct Workload: Equatable, Sendable {
        public var nodes: [Int]
        public var everyMilliseconds: Int64
        public var fromMilliseconds: Int64
        public var untilMilliseconds: Int64
        public var kinds: [Change.Kind]
    }

    /// What a person does to a note.
    public enum Change: Equatable, Sendable {
        case add(title: String)
        case title(String)
        /// A line at the end of the text, written in an editor.
        case line(String)
        case color(String)
        case tag(String)
        case untag(String)
        case delete
        /// A file of so many bytes, which no other one equals.
        case attach(bytes: Int)

        public enum Kind: String, CaseIterable, Sendable {
            case add, title, line, color, tag, untag, delete, attach

            /// What is drawn where a scenario names no kinds.
            static let usual = allCases.filter { $0 != .attach }
        }
    }

    /// What happens to the file of the notes.
    public enum Loss: String, Sendable {
        case emptied, missing
    }

    public enum Action: Equatable, Sendable {
        case write(node: Int, note: String, Change)
        /// Pulls the cable of a node, plugs it in.
        case cut(Int)
        case heal(Int)
        /// Breaks the path between two nodes, mends it.
        case part(Pair)
        case join(Pair)
        case link(Pair, Link)
        case start(Int)
        case stop(Int)
        /// kill -9.
        case kill(Int)
        case pause(Int)
        case resume(Int)
        case clock(Int, milliseconds: Int64)
        /// Another address, and not the one before.
        case move(Int)
        /// Fills the disk of a node, frees it.
        case fill(Int)
        case free(Int)
        /// Takes the notes of a node away, after its orderly end.
        case lose(Int, Loss)
        /// Lets the other nodes refill it.
        case recover(Int)
    }

    public struct Event: Equatable, Sendable {
        public var atMilliseconds: Int64
        public var action: Action
    }

    public var name: String
    public var about: String
    /// How long it lasts in its own time, and how long it takes.
    public var lastsMilliseconds: Int64
    public var takesMilliseconds: Int64
    /// How long the nodes have to agree once everything works again, in real time.
    public var settleMilliseconds: Int64
    public var seed: UInt64
    public var nodes: [Node]
    public var topology: Topology
    /// Every link, and those that differ.
    public var link: Link
    public var links: [Pair: Link]
    public var workloads: [Workload]
    public var events: [Event]
    /// Other programs than the one that runs the lab, by name.
    public var binaries: [String: String]
    public var trust = Trust.devices

    /// Whether the topology has a path between two nodes.
    public func isConnected(_ pair: Pair) -> Bool {
        switch topology {
        case .mesh: true
        case .star: pair.first == 0
        case .chain: pair.second == pair.first + 1
        case .ring: pair.second == pair.first + 1 || pair.first == 0 && pair.second == nodes.count - 1
        }
    }

    /// What a run leaves out because a program was not given, for people.
    var notTried: [String] {
        let missing = Set(nodes.compactMap(\.binary)).filter { (binaries[$0] ?? "").isEmpty }
        return missing.sorted().map { binary in
            let names = nodes.filter { $0.binary == binary }.map(\.name).joined(separator: ", ")
            return
                "Not tried: another version of kith on \(names). \u{201C}\(binary)\u{201D} was not given, so they ran the same kith as the others. Give it with --binary \(binary)=PATH."
        }
    }

    public var pairs: [Pair] {
        nodes.indices.flatMap { a in (a + 1..<max(a + 1, nodes.count)).map { Pair(a, $0) } }
    }
}
