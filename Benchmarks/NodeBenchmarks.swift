import Dispatch
import Foundation
import GRDB
import Kith
import Synchronization

/// Whole nodes over loopback TLS.
enum NodeBenchmarks {
    static func firstSync(rounds: Int, notes: [Corpus.Note], name: String, goal: String) async throws -> Line {
        var ours: [Double] = []
        var limit: [Double] = []
        for _ in 0..<rounds {
            let plain = try NotesDatabase(tracked: false)
            limit.append(try kith_bench.seconds { try plain.insert(notes) })
            ours.append(try await seconds(toSync: notes))
        }
        let ratio = Sample(values: zip(ours, limit).map { $0 / $1 }).median
        return Line(
            name: name, work: "first sync of \(notes.count) notes", ours: format(Sample(values: ours).median),
            limit: format(Sample(values: limit).median), ratio: ratio, goal: goal)
    }

    /// From the moment two nodes are connected until all notes of the one are on the disk of the other.
    static func seconds(toSync notes: [Corpus.Note]) async throws -> Double {
        let (a, b) = (try BenchNode(), try BenchNode())
        try a.notes.insert(notes)
        try await a.connect(b)
        while b.node.status.peers.first?.state != .connected { try await Task.sleep(for: .milliseconds(1)) }
        let start = ContinuousClock.now
        while b.node.status.state != .upToDate { try await Task.sleep(for: .milliseconds(2)) }
        _ = try b.store.makeDurable()
        let seconds = start.duration(to: .now) / .seconds(1)
        let arrived = try b.count()
        precondition(arrived == notes.count)
        await b.stop()
        await a.stop()
        return seconds
    }

    /// From the commit on one node until an observation on the other has the value.
    static func latency(commits: Int, perSecond: Double) async throws -> [Line] {
        let (a, b) = (try BenchNode(), try BenchNode())
        try a.notes.insert(Corpus.notes(1))
        try await a.connect(b)
        while try b.count() == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let seen = Mutex<(title: String, waiter: CheckedContinuation<Void, Never>?)>(("", nil))
        // What GRDB advises for a region that does not change. An observation of another kind reads on the connection that writes,
        // and switches it to reading by a pragma after which SQLite prepares all its statements anew.
        let observation = ValueObservation.trackingConstantRegion { try String.fetchOne($0, sql: "SELECT title FROM note") ?? "" }
        let cancellable = observation.start(
            in: b.notes.pool, scheduling: .async(onQueue: DispatchQueue(label: "bench.observer")), onError: { _ in }
        ) { title in
            seen.withLock { state in
                state.title = title
                state.waiter?.resume()
                state.waiter = nil
            }
        }
        defer { cancellable.cancel() }
        var values: [Double] = []
        for index in 0..<commits {
            try await Task.sleep(for: .seconds(1 / perSecond))
            let title = "title \(index)"
            let start = ContinuousClock.now
            try await a.notes.pool.write { db in
                try db.cachedStatement(sql: "UPDATE note SET title = ?").execute(arguments: [title])
            }
            while seen.withLock({ $0.title }) != title {
                await withCheckedContinuation { continuation in
                    let isThere = seen.withLock { state in
                        if state.title == title { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isThere { continuation.resume() }
                }
            }
            values.append(start.duration(to: .now) / .seconds(1))
        }
        await b.stop()
        await a.stop()
        let sample = Sample(values: values)
        let work = "commit on A to observation on B, \(Int(perSecond)) a second"
        return [
            Line(name: "P6", work: "\(work), p50", ours: format(sample.median), limit: "", ratio: nil, goal: "≤ 0.7 ms"),
            Line(name: "P6", work: "\(work), p99", ours: format(sample.quantile(0.99)), limit: "", ratio: nil, goal: "≤ 3 ms"),
        ]
    }
}
