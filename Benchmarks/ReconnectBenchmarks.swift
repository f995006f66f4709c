import Foundation
import GRDB
import Kith
import KithCausality
import KithSync

/// Two nodes that know nearly the same and meet again.
///
/// The sessions are real ones over real stores; in between lies no network, so that every byte and every message can be
/// counted. What TLS and TCP add is measured apart, by the time until two nodes over loopback are in sync.
enum ReconnectBenchmarks {
    static func measure(rounds: Int, count: Int) throws -> [Line] {
        let (a, b) = (try NotesDatabase(tracked: true), try NotesDatabase(tracked: true))
        guard let first = a.store, let second = b.store else { return [] }
        let notes = Corpus.notes(count)
        try a.insert(notes)
        try first.forEachSlice(since: VersionVector()) { slice in _ = try second.apply(slice) }
        var lines: [Line] = []
        for changes in [0, 1, 100] {
            var times: [Double] = []
            var meeting = Meeting(first, second)
            for round in 0..<rounds {
                try change(a, notes[..<changes], "a \(round)")
                try change(b, notes.suffix(changes), "b \(round)")
                for store in [first, second] { _ = try store.makeDurable() }
                meeting = Meeting(first, second)
                times.append(try seconds { try meeting.run() })
                let vectors = [try first.vector(), try second.vector()]
                precondition(vectors[0] == vectors[1])
            }
            // A changed note is its id and a title; the rest is what the protocol adds.
            let payload = 2 * changes * (16 + "a 0".utf8.count)
            lines.append(
                Line(
                    name: "P7",
                    work: "reconnect, \(changes) of \(count) notes changed on each side: time; bytes both ways; round trips",
                    ours: "\(format(Sample(values: times).median)); \(meeting.bytes) (payload \(payload)); \(meeting.roundTrips)",
                    limit: "", ratio: nil, goal: changes == 0 ? "≤ 1 kB, 1 round trip" : "≤ 20 ms, ≤ 2 kB + payload"))
        }
        return lines
    }

    private static func change(_ database: NotesDatabase, _ notes: some Collection<Corpus.Note>, _ title: String) throws {
        if notes.isEmpty { return }
        try database.pool.write { db in
            let update = try db.cachedStatement(sql: "UPDATE note SET title = ? WHERE id = ?")
            for note in notes { try update.execute(arguments: [title, note.id]) }
        }
    }
}

/// Two sessions, wired to each other.
private final class Meeting {
    private let stores: [SyncedDatabase]
    private var sessions: [PeerSession]
    private var outgoing = [FrameCompression(), FrameCompression()]
    private var incoming = [FrameCompression(), FrameCompression()]
    /// Frames under way to either side.
    private var frames: [[[UInt8]]] = [[], []]
    private(set) var bytes = 0
    /// Pairs of frames that one side cannot send before it has the other's.
    private(set) var roundTrips = 0

    init(_ first: SyncedDatabase, _ second: SyncedDatabase) {
        stores = [first, second]
        var configuration = PeerSession.Configuration(app: "kith.bench", group: Array("home".utf8), software: "kith-bench")
        configuration.capabilities.insert(.compression)
        sessions = stores.map { _ in PeerSession(configuration) }
    }

    /// Until nothing is left to be said.
    func run() throws {
        for side in 0...1 {
            let summary = try stores[side].summary()
            try handle(.connected(summary, durable: summary.vector, wallClockMilliseconds: 1_700_000_000_000), at: side)
        }
        while frames.contains(where: { !$0.isEmpty }) {
            roundTrips += 1
            let arriving = frames
            frames = [[], []]
            for side in 0...1 {
                for bytes in arriving[side] { try handle(.received(incoming[side].decompress(bytes)), at: side) }
            }
        }
        // Each exchange in both directions at once is half a round trip.
        roundTrips = (roundTrips + 1) / 2
    }

    private func handle(_ input: PeerSession.Input, at side: Int) throws {
        var inputs = [input][...]
        while let input = inputs.popFirst() {
            for effect in sessions[side].handle(input, now: Instant(milliseconds: 0)) {
                switch effect {
                case .send(let frame):
                    let sent = outgoing[side].compress(frame, isUnderstood: sessions[side].capabilities.contains(.compression))
                    bytes += sent.count + 4
                    frames[1 - side].append(sent)
                case .readSlice(let request): inputs.append(.sliceRead(try stores[side].slice(request)))
                case .apply(let slice, _): inputs.append(.applied(try stores[side].apply(slice)))
                case .verifyIdentity(let claim): inputs.append(.identity(try stores[side].verifyIdentity(claim)))
                case .close(let reason): throw reason
                default: break
                }
            }
        }
    }
}
