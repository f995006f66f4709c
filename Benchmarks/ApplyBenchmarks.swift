import Foundation
import GRDB
import Kith
import KithCausality
import KithSync
import Synchronization

/// What merging costs the store that merges.
enum ApplyBenchmarks {
    /// Applies a delta of one-column updates of every note, and counts what plain SQLite does for the same updates.
    static func updates(rounds: Int, count: Int) throws -> [Line] {
        let notes = Corpus.notes(count)
        var ours: [Double] = []
        var limit: [Double] = []
        for _ in 0..<rounds {
            let plain = try NotesDatabase(tracked: false)
            try plain.insert(notes)
            limit.append(
                try seconds {
                    try plain.pool.write { db in
                        let update = try db.cachedStatement(sql: "UPDATE note SET color = ? WHERE id = ?")
                        for note in notes { try update.execute(arguments: [note.color + 1, note.id]) }
                    }
                })
            let (a, b) = (try NotesDatabase(tracked: true), try NotesDatabase(tracked: true))
            guard let from = a.store, let to = b.store else { continue }
            try updatedCopy(of: a, notes, in: b)
            var total = 0.0
            try from.forEachSlice(since: try to.vector()) { slice in total += try seconds { _ = try to.apply(slice) } }
            ours.append(total)
        }
        let ratio = Sample(values: zip(ours, limit).map { $0 / $1 }).median
        func rate(_ seconds: [Double]) -> String { "\(Int(Double(count) / Sample(values: seconds).median)) a second" }
        return [
            Line(
                name: "P8", work: "apply \(count) remote one-column updates", ours: rate(ours), limit: rate(limit), ratio: ratio,
                goal: "≥ 100,000 a second")
        ]
    }

    /// How long a local save waits while updates of every note are applied.
    static func savesMeanwhile(count: Int) throws -> [Line] {
        let notes = Corpus.notes(count)
        let (a, b) = (try NotesDatabase(tracked: true), try NotesDatabase(tracked: true))
        guard let from = a.store, let to = b.store else { return [] }
        try updatedCopy(of: a, notes, in: b)
        let isDone = Atomic(false)
        let waits = Mutex<[Double]>([])
        let (pool, saved) = (b.pool, notes[0].id)
        let saver = Thread {
            while !isDone.load(ordering: .acquiring) {
                let wait = try? seconds {
                    try pool.write { try $0.execute(sql: "UPDATE note SET title = 'saved' WHERE id = ?", arguments: [saved]) }
                }
                if let wait { waits.withLock { $0.append(wait) } }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
        saver.start()
        try from.forEachSlice(since: try to.vector()) { slice in _ = try to.apply(slice) }
        isDone.store(true, ordering: .releasing)
        let sample = Sample(values: waits.withLock(\.self))
        return [
            Line(
                name: "P8", work: "a local save meanwhile, p99 of \(sample.values.count)", ours: format(sample.quantile(0.99)), limit: "",
                ratio: nil, goal: "≤ 20 ms")
        ]
    }

    /// Gives both databases the notes, and the first one a newer value in one column of each.
    private static func updatedCopy(of a: NotesDatabase, _ notes: [Corpus.Note], in b: NotesDatabase) throws {
        guard let from = a.store, let to = b.store else { return }
        try a.insert(notes)
        try from.forEachSlice(since: VersionVector()) { slice in _ = try to.apply(slice) }
        try a.pool.write { try $0.execute(sql: "UPDATE note SET color = color + 1") }
    }
}

extension SyncedDatabase {
    /// Reads a delta slice by slice, as a session does.
    func forEachSlice(since: VersionVector, _ body: (Slice) throws -> Void) throws {
        var request = SliceRequest(since: since)
        while true {
            let slice = try slice(request)
            try body(slice)
            if slice.isLast { return }
            request = SliceRequest(since: since, after: slice.position, target: request.target ?? slice.target)
        }
    }
}
