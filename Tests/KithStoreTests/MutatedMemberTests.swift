import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

/// Risk: members that send what is nearly a frame end the program, fill its memory, or keep an honest member from its exchange.
///
/// Members, twenty in the long run, send one kind of frame, with a few bytes changed, to one store. After each so many frames an honest member writes a note,
/// and so does the store: each must have the other's at once, in a session that never ends. The long run, with a limit of memory: `KITH_SOAK=1000000` for so many frames of each kind.
@Suite(.serialized) struct MutatedMemberTests {
    enum Kind: CaseIterable {
        case hello, proofs, slice, listing, prelude, acknowledge, want, ping, digest, digestQuestion, digestParts, digestRows, attachment
        case compressed
    }

    private static let memberCount = Soak.count(6, soaking: 20)
    private static let framesBetweenNotes = 40
    /// So many frames a house bears: what can be read of them stays in its store.
    private static let framesOfHouse = 20_000

    @Test(arguments: Kind.allCases) func `members that send mutated frames leave an honest one its exchange`(kind: Kind) throws {
        var random = SplitMix64(seed: Soak.firstSeed)
        var counts = Counts()
        var memory: Int?
        let rounds = Soak.count(120)
        for first in stride(from: 0, to: rounds, by: Self.framesOfHouse) {
            let house = try House(memberCount: Self.memberCount)
            if Soak.isAsked, memory == nil { memory = try Self.residentBytes }
            for round in first..<min(first + Self.framesOfHouse, rounds) {
                try house.members[round % Self.memberCount].send(kind, &random, &counts)
                if round % Self.framesBetweenNotes == 0 { try house.exchangeNotes() }
            }
            try house.exchangeNotes()
            let problems = try house.home.store.verify().problems
            #expect(problems == [])
            guard let memory else { continue }
            let more = try Self.residentBytes - memory
            #expect(more < 50 << 20, "\(more >> 20) MiB")
        }
        #expect(counts.refused > 0 && counts.understood > 0, "\(counts)")
        print(
            "\(kind): \(rounds) frames, \(counts.understood) could be read, \(counts.applied) slices applied, \(counts.refused) sessions ended"
        )
    }

    private static var residentBytes: Int {
        get throws {
            let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return (fields.dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
        }
    }

    fileprivate struct Counts {
        var understood = 0
        var refused = 0
        var applied = 0
    }

    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0, body TEXT)
        """
    private static let table = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"])

    fileprivate static func store(_ device: UInt8, _ backend: Backend = .memory) throws -> TestStore {
        let store = try TestStore(backend, sql: sql, tables: [table])
        _ = try store.store.bind(to: TestDevice(device))
        return store
    }

    /// A store, an honest member that is connected with it, and others.
    private final class House {
        let home: TestStore
        private let honest: TestStore
        private let line: SessionPair
        let members: [Member]
        private var noteCount: UInt64 = 0

        init(memberCount: Int) throws {
            home = try store(1, .queue)
            honest = try store(2)
            line = try SessionPair(home.store, honest.store, areProven: true)
            members = try (0..<memberCount).map { [home] in try Member(UInt8($0 + 3), home) }
        }

        /// Each writes a note, and has the other's.
        func exchangeNotes() throws {
            noteCount += 1
            for (writer, reader, number) in [(honest, home, 2 * noteCount), (home, honest, 2 * noteCount + 1)] {
                let id = RowID(high: 77, low: number)
                try writer.execute("INSERT INTO note (id, title) VALUES (?, 'honest')", [Data(id.bytes)])
                try line.hear()
                #expect(try reader.row(id)?["title"] == "honest", "\(number)")
            }
            #expect(line.closings.isEmpty)
        }
    }

    /// A member, and the session that the store has with it.
    private final class Member {
        private let device: UInt8
        private let home: TestStore
        private let own: TestStore
        private var session: PeerSession
        private var outgoing = FrameCompression()
        private var incoming = FrameCompression()

        init(_ device: UInt8, _ home: TestStore) throws {
            (self.device, self.home) = (device, home)
            own = try store(device)
            try own.execute(
                "INSERT INTO note (id, title, tags, views, body) VALUES (?, 'a', '[\"x\"]', 3, printf('%0600d', 1)), (?, 'b', '[]', 0, 'two')",
                [Data(RowID(high: 1, low: UInt64(device)).bytes), Data(RowID(high: 1, low: 1).bytes)])
            try own.execute("UPDATE note SET body = body || ' and more', title = 'c'")
            try own.execute("DELETE FROM note WHERE tags = '[]'")
            session = PeerSession(PeerSession.Configuration(app: "test", group: [], software: "test"))
            try open()
        }

        func send(_ kind: Kind, _ random: inout SplitMix64, _ counts: inout Counts) throws {
            var bytes = try encoded(kind)
            if kind == .compressed { bytes = outgoing.compress(bytes, isUnderstood: true) }
            for _ in 0..<Int.random(in: 0...4, using: &random) { bytes.damage(&random) }
            if kind == .compressed {
                guard let plain = try? incoming.decompress(bytes) else {
                    counts.refused += 1
                    return try open()
                }
                bytes = plain
            }
            if (try? FrameCodec.decode(bytes)) != nil { counts.understood += 1 }
            if kind == .hello { session = try newSession() }
            if try !handle([.received(bytes)], &counts) {
                counts.refused += 1
                try open()
            }
        }

        private func newSession() throws -> PeerSession {
            var configuration = PeerSession.Configuration(app: "test", group: [], software: "test")
            configuration.capabilities = [.digest, .texts, .attachments, .compression]
            configuration.proofs = home.store.proofBook
            configuration.peerDevice = [device]
            (outgoing, incoming) = (FrameCompression(), FrameCompression())
            var session = PeerSession(configuration)
            let summary = try home.store.summary()
            let connected = PeerSession.Input.connected(
                summary, durable: summary.vector, ahead: try home.store.ahead(), wallClockMilliseconds: 0)
            _ = session.handle(connected, now: Instant(milliseconds: 0))
            return session
        }

        private func open() throws {
            session = try newSession()
            var counts = Counts()
            for kind in [Kind.hello, .proofs] { _ = try handle([.received(try encoded(kind))], &counts) }
        }

        /// - Returns: whether the session goes on.
        private func handle(_ inputs: [PeerSession.Input], _ counts: inout Counts) throws -> Bool {
            var inputs = inputs
            while !inputs.isEmpty {
                for effect in session.handle(inputs.removeFirst(), now: Instant(milliseconds: 0)) {
                    switch effect {
                    case .readSlice(let request): inputs.append(.sliceRead(try home.store.slice(request)))
                    case .apply(let slice, _):
                        inputs.append(answer { .applied(try home.store.apply(slice, from: [device])) })
                        counts.applied += 1
                    case .digest(let task): inputs.append(answer { .digest(try home.store.perform(task)) })
                    case .verifyIdentity(let claim): inputs.append(.identity(try home.store.verifyIdentity(claim)))
                    case .renewIdentity: Issue.record("The store becomes another one.")
                    case .close: return false
                    case .send, .peer, .attachment, .household: break
                    }
                }
            }
            return true
        }

        private func answer(_ body: () throws -> PeerSession.Input) -> PeerSession.Input {
            do {
                return try body()
            } catch let error as StoreError where error.code == .sliceRejected {
                return .close(CloseReason(.protocolError, error.message))
            } catch {
                Issue.record("\(error)")
                return .storeFailed("\(error)")
            }
        }

        // MARK: Frames

        private var known: [Kind: [UInt8]] = [:]

        private func encoded(_ kind: Kind) throws -> [UInt8] {
            if let bytes = known[kind] { return bytes }
            let bytes = FrameCodec.encode(try frame(kind))
            // What the store knows goes on; the member writes nothing more.
            if kind != .digestQuestion { known[kind] = bytes }
            return bytes
        }

        private func frame(_ kind: Kind) throws -> Frame {
            let summary = try own.store.summary()
            let position = SlicePosition(table: Array("note".utf8), row: RowID(high: 1, low: 1))
            let resumption = Resumption(position: position, vector: summary.vector)
            switch kind {
            case .hello:
                return .hello(
                    Hello(
                        versions: .current, replica: summary.replica, app: "test", group: [], software: "test",
                        capabilities: [.digest, .texts, .attachments, .compression], wallClockMilliseconds: 0, clock: summary.clock,
                        heads: summary.heads, durable: summary.vector, resumption: resumption))
            case .proofs:
                let book = try #require(own.store.proofBook)
                return .proofs(try summary.vector.entries.map { ProofOffer(try book.proof(of: $0), isToldBefore: false) })
            case .slice, .compressed: return .slice(try own.store.delta(since: VersionVector()), alsoSentTo: [summary.replica])
            case .listing:
                var slice = try own.store.delta(since: VersionVector())
                slice.listing = Listing(after: nil, floor: summary.vector)
                for index in slice.tables.indices { slice.tables[index].incomplete = [ColumnKey("gone", .set)] }
                slice.rows[0].state.context = summary.vector
                return .slice(slice, alsoSentTo: [])
            case .prelude:
                var slice = try own.store.delta(since: VersionVector())
                slice.isLast = false
                slice.rows = Array(slice.rows.filter(\.state.tombstones.isEmpty).prefix(1))
                (slice.rows[0].isPrelude, slice.rows[0].isCut) = (true, true)
                slice.rows[0].state.cells = slice.rows[0].state.cells.compactMap { entry in
                    guard case .text(let text) = entry.cell else { return nil }
                    var prelude = TextState(touched: text.touched)
                    prelude.changes = text.changes
                    return RowState.Entry(column: entry.column, cell: .text(prelude))
                }
                slice.position = slice.rows[0].position(in: slice.tables).predecessor
                return .slice(slice, alsoSentTo: [])
            case .acknowledge: return .acknowledge(Acknowledgement(slices: 0, durable: summary.vector))
            case .want: return .want(Want(slices: 0, since: summary.vector, resumption: resumption))
            case .ping:
                return .ping(Pulse(nonce: 1, wallClockMilliseconds: 0, vector: summary.vector, durable: summary.vector))
            case .digest:
                return .digest(StoreDigest(vector: summary.vector, rows: DigestSum(count: 1, value: 1)), wantsAnswer: true)
            case .digestQuestion:
                return .digestQuestion(try home.store.vector(), DigestRange(after: position), wantsRows: device.isMultiple(of: 2))
            case .digestParts:
                return .digestParts(summary.vector, DigestRange(), [DigestPart(through: nil, rows: DigestSum(count: 1, value: 1))])
            case .digestRows: return .digestRows(DigestRange(), try own.store.delta(since: VersionVector()))
            case .attachment:
                let id = try #require(AttachmentID(bytes: [UInt8](repeating: device, count: 32)))
                return .attachment(.holdings(AttachmentHoldings(.only, [id])))
            }
        }
    }
}
