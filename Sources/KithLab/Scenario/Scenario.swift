/// What happens to which machines, and when. Read from a file by ``ScenarioReader``; docs/lab.md describes the file.
package struct Scenario: Equatable, Sendable {
    /// More machines than these are refused: each has daemons of its own.
    package static let nodesMax = 12
    /// More steps than these, workloads counted out, are refused.
    static let stepsMax = 20_000
    /// A larger attachment is refused: the lab makes its bytes anew to compare them.
    static let attachmentBytesMax = 64_000_000
    /// On a smaller disk a node cannot start.
    static let diskBytesMin = 1_000_000

    package struct Node: Equatable, Sendable {
        package var name: String
        /// The size of its disk; `nil` for that of this machine.
        var diskBytes: Int?
        /// How far its wall clock is ahead.
        var clockMilliseconds: Int64 = 0
        /// Which of ``Scenario/binaries`` it runs; `nil` for the kith that runs the lab.
        package var binary: String?
    }

    /// Who hears whom.
    package enum Topology: String, CaseIterable, Sendable {
        /// Everybody everybody.
        case mesh
        /// Everybody the first node, which hears all.
        case star
        /// Each its neighbours in the order of the file.
        case chain
        /// The chain, closed.
        case ring

        /// Whether there is a path between two nodes.
        func connects(_ pair: Pair, nodeCount: Int) -> Bool {
            switch self {
            case .mesh: true
            case .star: pair.first == 0
            case .chain: pair.second == pair.first + 1
            case .ring: pair.second == pair.first + 1 || pair.first == 0 && pair.second == nodeCount - 1
            }
        }
    }

    /// How machines come to trust each other.
    package enum Trust: String, CaseIterable, Sendable {
        /// Each is told the id of each other one.
        case devices
        /// Each is paired with the first one, while all clocks are right.
        case household
    }

    /// How frames fare between two nodes, in each direction.
    package struct Link: Equatable, Sendable {
        package var delayMilliseconds: Double = 0
        /// Added to the delay: evenly spread between nothing and this.
        var jitterMilliseconds: Double = 0
        /// How many of a hundred frames vanish.
        var lossPercent: Double = 0
        /// `nil` for as fast as it goes.
        var bitsPerSecond: Double?
    }

    package struct Pair: Hashable, Sendable {
        package let first: Int
        package let second: Int

        /// The same pair whichever is named first.
        package init(_ a: Int, _ b: Int) {
            (first, second) = (min(a, b), max(a, b))
        }
    }

    /// Writes at random, the same for the same seed.
    package struct Workload: Equatable, Sendable {
        package var nodes: [Int]
        var everyMilliseconds: Int64
        var fromMilliseconds: Int64
        var untilMilliseconds: Int64
        package var kinds: [Change.Kind]
    }

    /// What a person does to a note.
    package enum Change: Equatable, Sendable {
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

        package enum Kind: String, CaseIterable, Sendable {
            case add, title, line, color, tag, untag, delete, attach

            /// What is drawn where a scenario names no kinds.
            static let usual = allCases.filter { $0 != .attach }
        }
    }

    /// What happens to the file of the notes.
    package enum Loss: String, Sendable {
        case emptied, missing
    }

    package enum Action: Equatable, Sendable {
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

    package struct Event: Equatable, Sendable {
        package var atMilliseconds: Int64
        package var action: Action
    }

    package var name: String
    package var about: String
    /// How long it lasts in its own time, and how long it takes.
    var lastsMilliseconds: Int64
    var takesMilliseconds: Int64
    /// How long the nodes have to agree once everything works again, in real time.
    var settleMilliseconds: Int64
    package var seed: UInt64
    package var nodes: [Node]
    package var topology: Topology
    /// Every link, and those that differ.
    package var link: Link
    package var links: [Pair: Link]
    var workloads: [Workload]
    package var events: [Event]
    /// Other programs than the one that runs the lab, by name.
    package var binaries: [String: String]
    package var trust = Trust.devices

    /// Whether the topology has a path between two nodes.
    package func isConnected(_ pair: Pair) -> Bool {
        topology.connects(pair, nodeCount: nodes.count)
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

    package var pairs: [Pair] {
        nodes.indices.flatMap { a in (a + 1..<max(a + 1, nodes.count)).map { Pair(a, $0) } }
    }
}
