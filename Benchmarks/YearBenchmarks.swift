import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync

/// A store that knows as many replica ids as a household of five devices spends in ten years, and its four sessions.
///
/// In processes of their own: memory is counted.
struct YearBenchmarks {
    private static let deviceCount: UInt8 = 5
    private static let peerCount: UInt64 = 4
    private static let commitCount = 3_000

    private let replicaCount: Int
    private let folder: URL

    struct Report: Codable {
        var secondsPerCommit = 0.0
        var anonymousKiB = 0
        var meetingSeconds = 0.0
    }

    /// `nil` if this process was not started by ``measure(rounds:)``.
    init?(arguments: [String]) {
        guard arguments.count == 4, arguments[1] == "years", let count = Int(arguments[2]) else { return nil }
        replicaCount = count
        folder = URL(filePath: arguments[3])
    }

    static func measure(rounds: Int) throws -> [Line] {
        func reports(_ count: Int) throws -> [Report] {
            let folder = FileManager.default.temporaryDirectory.appending(path: "kith-years-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            // The first one makes the store.
            return try (0...rounds).map { _ in try BenchProcess<Report>(["years", String(count), folder.path]).finish() }.dropFirst().map(
                \.self)
        }
        let (few, many) = (try reports(10), try reports(10_000))
        func median(_ reports: [Report], _ value: (Report) -> Double) -> Double { Sample(values: reports.map(value)).median }
        let commits = [few, many].map { median($0, \.secondsPerCommit) }
        let memory = [few, many].map { median($0) { Double($0.anonymousKiB) / 1_024 } }
        let meetings = [few, many].map { median($0, \.meetingSeconds) }
        return [
            Line(
                name: "P16", work: "a commit in a store with 10,000 replica ids, against 10, processor time", ours: format(commits[1]),
                limit: format(commits[0]), ratio: commits[1] / commits[0], goal: "≤ 1.1"),
            Line(
                name: "P16", work: "memory of the same with four sessions", ours: String(format: "%.1f MiB", memory[1]),
                limit: String(format: "%.1f MiB", memory[0]), ratio: nil, goal: "≤ 8 MiB more"),
            Line(
                name: "P16", work: "the same meets a store that knows the same, processor time", ours: format(meetings[1]),
                limit: format(meetings[0]), ratio: nil, goal: "–"),
        ]
    }

    func run() throws {
        let isNew = !FileManager.default.fileExists(atPath: folder.path)
        let database = try NotesDatabase(tracked: true, in: folder)
        guard let store = database.store else { return }
        _ = try store.bind(to: Household(device: 1))
        var report = Report()
        defer { print((try? JSONEncoder().encode(report)).map { String(decoding: $0, as: UTF8.self) } ?? "") }
        if isNew {
            try learn(store)
            return try database.insert(Corpus.notes(100))
        }
        let sessions = try (0..<Self.peerCount).map { number in
            var session: PeerSession?
            report.meetingSeconds = try processorSeconds { session = try Self.meet(store, number) }
            return session
        }
        report.anonymousKiB = ProcessFigures.anonymousKiB
        let notes = Corpus.notes(100)
        report.secondsPerCommit =
            try processorSeconds {
                for number in 0..<Self.commitCount {
                    try database.pool.write { db in
                        try db.cachedStatement(sql: "UPDATE note SET title = ? WHERE id = ?")
                            .execute(arguments: ["title \(number)", notes[number % notes.count].id])
                    }
                }
            } / Double(Self.commitCount)
        withExtendedLifetime(sessions) {}
    }

    /// Commits of as many replicas, with their proofs.
    private func learn(_ store: SyncedDatabase) throws {
        var offers: [ProofOffer] = []
        for number in 0..<UInt64(replicaCount) {
            let household = Household(device: UInt8(number % UInt64(Self.deviceCount)) + 1)
            let nonce: [UInt8] = [0] + withUnsafeBytes(of: number.bigEndian, Array.init) + [UInt8](repeating: 0, count: 7)
            let origin = HeadProof.Origin(key: household.key, nonce: nonce)
            guard let replica = household.replica(of: origin) else { continue }
            let time = HybridTimestamp(milliseconds: 1_380_000_000_000 + Int64(number) * 31_000_000)
            let head = Head(dot: Dot(replica: replica, sequence: 1 + number * 37 % 500), timestamp: time)
            offers.append(ProofOffer(head: head, origin: origin, signature: [UInt8](repeating: 0, count: HeadProof.signatureBytes)))
        }
        offers.sort { $0.head.dot < $1.head.dot }
        try store.proofBook?.take(offers)
        let heads = offers.map(\.head)
        let slice = Slice(
            since: VersionVector(), vector: VersionVector(heads.map(\.dot)), target: heads, clock: heads.map(\.timestamp).max() ?? .zero,
            isFirst: true, isLast: true, position: nil, rowsRemaining: 0, tables: [], rows: [])
        guard case .applied = try store.apply(slice) else { fatalError("The store refuses a slice.") }
    }

    /// A session with a peer that knows the same.
    private static func meet(_ store: SyncedDatabase, _ number: UInt64) throws -> PeerSession {
        var configuration = PeerSession.Configuration(app: "kith.notes", group: [], software: "kith-bench")
        configuration.proofs = store.proofBook
        var session = PeerSession(configuration)
        let connected = PeerSession.Input.connected(try store.summary(), durable: try store.vector(), wallClockMilliseconds: 0)
        for effect in session.handle(connected, now: Instant(milliseconds: 0)) {
            guard case .send(let bytes) = effect, case .hello(var hello) = try FrameCodec.decode(bytes) else { continue }
            hello.replica = ReplicaID(high: number, low: 1)
            _ = session.handle(.received(FrameCodec.encode(.hello(hello))), now: Instant(milliseconds: 0))
        }
        guard session.peer != nil else { fatalError("The session is not open.") }
        return session
    }

    /// Devices whose signatures are believed as they are.
    private struct Household: ReplicaAuthority {
        let key: [UInt8]

        init(device: UInt8) {
            key = [UInt8](repeating: device, count: HeadProof.Origin.keyBytes)
        }

        func replica(of origin: HeadProof.Origin) -> ReplicaID? { origin.replica }
        func device(of key: [UInt8]) -> [UInt8]? { Array(key.prefix(1)) }
        func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]? { [UInt8](repeating: 0, count: HeadProof.signatureBytes) }
        func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool { true }
        func isOwn(_ key: [UInt8]) -> Bool { key == self.key }
        func isMember(_ key: [UInt8]) -> Bool { true }
        func roundsEnded(of key: [UInt8]) -> Int { 0 }
        var householdRecords: (digest: [UInt8], messages: [[UInt8]])? { nil }
    }
}
