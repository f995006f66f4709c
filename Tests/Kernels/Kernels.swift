import KithCausality
import KithStore
import KithSync
import KithText

/// The pieces of work whose instructions are counted: each prepares it first, and then does it in ``counted(_:)``.
enum Kernels {
    static let all: [(name: String, kernel: @Sendable () throws -> Void)] = [
        ("open", open), ("capture", capture), ("sets", sets), ("edit", edit), ("delta", delta), ("apply", apply), ("codec", codec),
        ("walker", walker),
    ]

    /// Inserts of one transaction.
    static func capture() throws {
        let notes = try CountedNotes(1)
        counted { try notes.insert(from: 0, count: 2_000) }
    }

    /// The same with sets that are not in their one form, which they get when the transaction commits.
    static func sets() throws {
        let notes = try CountedNotes(1)
        counted { try notes.insert(from: 0, count: 2_000, tags: #"["work","ideas"]"#) }
    }

    /// Saves of one column, one per transaction.
    static func edit() throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 500)
        // The first round may have work left over from the insertion.
        try notes.retitle(count: 500, "round 0")
        counted { try notes.retitle(count: 500, "round 1") }
    }

    /// Reading what others lack: all, and what the last commit changed.
    static func delta() throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 2_000)
        let since = try notes.store.vector()
        try notes.retitle(count: 10, "again")
        _ = try notes.store.delta(since: since)
        counted {
            check(try notes.store.delta(since: VersionVector()).rows.count == 2_000)
            for _ in 0..<20 { check(try notes.store.delta(since: since).rows.count == 10) }
        }
    }

    /// Merging new rows, and single saves one by one.
    static func apply() throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 1_000)
        let all = try notes.store.delta(since: VersionVector())
        var edits: [Slice] = []
        for number in 0..<100 {
            let since = try notes.store.vector()
            try notes.retitle(count: 1, "edit \(number)")
            edits.append(try notes.store.delta(since: since))
        }
        // The opening is counted by itself.
        let other = try CountedNotes(2)
        counted {
            _ = try other.store.apply(all)
            for edit in edits { _ = try other.store.apply(edit) }
        }
    }

    /// Opening a store on a new database.
    static func open() throws {
        _ = try CountedNotes(1)
        counted { _ = try CountedNotes(2) }
    }

    /// Frames to bytes and back.
    static func codec() throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 1_000)
        let frame = Frame.slice(try notes.store.delta(since: VersionVector()), alsoSentTo: [])
        counted { check(try FrameCodec.decode(FrameCodec.encode(frame)) == frame) }
    }

    /// Texts: two branches that are merged change by change.
    static func walker() throws {
        func dot(_ replica: UInt64, _ sequence: Int) -> Dot {
            Dot(replica: ReplicaID(high: 0, low: replica), sequence: UInt64(sequence))
        }
        let first = TextChange(
            dot: dot(0, 1), parents: [], operations: [.insert(String(repeating: "some text ", count: 500), at: 0)])
        var changes = [first]
        var parents = [first.dot, first.dot]
        for sequence in 1...300 {
            for branch in 0...1 {
                let position = (sequence * 7_919 + branch * 104_729) % 5_000
                let change = TextChange(
                    dot: dot(UInt64(branch + 1), sequence), parents: [parents[branch]], operations: [.insert("abc", at: position)])
                parents[branch] = change.dot
                changes.append(change)
            }
        }
        counted {
            var document = TextDocument()
            _ = try document.merge(changes)
            check(document.text.count == 5_000 + 1_800)
        }
    }

    private static func check(_ isRight: Bool) {
        precondition(isRight, "The work was not done.")
    }
}
