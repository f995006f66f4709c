import KithCausality
import KithStore
import KithSync
import KithText

/// The pieces of work whose instructions are counted.
enum Kernels {
    /// Inserts of one transaction.
    static func capture(_ rounds: Int) throws {
        let notes = try CountedNotes(1)
        for round in 0..<rounds { try notes.insert(from: round * 2_000, count: 2_000) }
    }

    /// The same with sets that are not in their one form, which they get when the transaction commits.
    static func sets(_ rounds: Int) throws {
        let notes = try CountedNotes(1)
        for round in 0..<rounds { try notes.insert(from: round * 2_000, count: 2_000, tags: #"["work","ideas"]"#) }
    }

    /// Saves of one column, one per transaction.
    static func edit(_ rounds: Int) throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 500)
        // The first round may have work left over from the insertion.
        for round in 0...rounds { try notes.retitle(count: 500, "round \(round)") }
    }

    /// Reading what others lack: all, and what the last commit changed.
    static func delta(_ rounds: Int) throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 2_000)
        let since = try notes.store.vector()
        try notes.retitle(count: 10, "again")
        _ = try notes.store.delta(since: since)
        for _ in 0..<rounds {
            check(try notes.store.delta(since: VersionVector()).rows.count == 2_000)
            for _ in 0..<20 { check(try notes.store.delta(since: since).rows.count == 10) }
        }
    }

    /// Merging new rows, and single saves one by one.
    static func apply(_ rounds: Int) throws {
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
        for other in try (0..<max(rounds, 1)).map({ try CountedNotes(UInt64(2 + $0)) }).prefix(rounds) {
            _ = try other.store.apply(all)
            for edit in edits { _ = try other.store.apply(edit) }
        }
    }

    /// Opening a store on a new database.
    static func open(_ rounds: Int) throws {
        for round in 0...rounds { _ = try CountedNotes(UInt64(1 + round)) }
    }

    /// Frames to bytes and back.
    static func codec(_ rounds: Int) throws {
        let notes = try CountedNotes(1)
        try notes.insert(from: 0, count: 1_000)
        let frame = Frame.slice(try notes.store.delta(since: VersionVector()), alsoSentTo: [])
        for _ in 0..<rounds { check(try FrameCodec.decode(FrameCodec.encode(frame)) == frame) }
    }

    /// Texts: two branches that are merged change by change.
    static func walker(_ rounds: Int) throws {
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
        for _ in 0..<rounds {
            var document = TextDocument()
            _ = try document.merge(changes)
            check(document.text.count == 5_000 + 1_800)
        }
    }

    private static func check(_ isRight: Bool) {
        precondition(isRight, "The work was not done.")
    }
}
