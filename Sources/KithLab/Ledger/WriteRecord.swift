import KithCausality

/// A write that the lab made through a node, and what is known of it from outside.
struct WriteRecord: Sendable {
    enum Outcome: Sendable, Equatable {
        /// The command said that it is done.
        case acknowledged
        /// The command said that it is not done, and why.
        case refused(String)
        /// The command was killed: it may or may not be done.
        case unknown
    }

    /// Its place in the plan's writes.
    let index: Int
    let node: Int
    /// The name of the note in the scenario.
    let note: String
    let change: Scenario.Change
    /// Run time.
    var startedMilliseconds: Int64
    var endedMilliseconds: Int64
    var outcome: Outcome
    /// The commit, if it can be told.
    var dot: Dot?
    /// Whether both looks tell that the node's store has no new commit.
    var madeNoCommit = false
    /// What the field showed right before the write; `nil` where that is not one value.
    var shownBefore: String?
    /// What the node knew right before and right after the write, the write itself included.
    var before: VersionVector
    var after: VersionVector

    init(index: Int, node: Int, note: String, change: Scenario.Change, startedMilliseconds: Int64) {
        self.index = index
        self.node = node
        self.note = note
        self.change = change
        self.startedMilliseconds = startedMilliseconds
        endedMilliseconds = startedMilliseconds
        outcome = .unknown
        before = VersionVector()
        after = VersionVector()
    }

    /// Whether nothing else arrived between the look before and the look after, so that what the author saw is known exactly.
    var isExact: Bool {
        guard let dot, outcome == .acknowledged, before[dot.replica] + 1 == dot.sequence else { return false }
        return after.entries.allSatisfy { $0.replica == dot.replica || before.covers($0) }
    }

    /// Whether the command rightly found that there is nothing to change: the value was there, or the tag was not.
    var changedNothing: Bool {
        outcome == .acknowledged && madeNoCommit && (shownBefore == value || change.kind == .untag)
    }

    /// The cell it writes.
    var cell: Cell? {
        switch change {
        case .add, .title: Cell(note: note, field: .title)
        case .color: Cell(note: note, field: .color)
        default: nil
        }
    }

    struct Cell: Hashable {
        let note: String
        let field: Field
    }

    enum Field: String, Sendable {
        case title, color, body
    }

    /// What the file that a write attaches is called.
    static func fileName(_ index: Int) -> String { "file-\(index)" }

    /// The value it writes, for people.
    var value: String {
        switch change {
        case .add(let text), .title(let text), .line(let text), .color(let text), .tag(let text), .untag(let text): text
        case .attach: Self.fileName(index)
        case .delete: ""
        }
    }
}
