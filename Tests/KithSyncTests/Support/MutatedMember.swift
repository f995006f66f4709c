import KithCausality
import TestSupport

@testable import KithSync

/// A member that sends frames of one kind with a few bytes changed, and the session that a store has with it.
struct MutatedMember {
    private let authority: ProofAuthority
    private let kind: MutatedSessionTests.Kind
    private let store: ModelStore
    private let slice: Slice
    private(set) var session: PeerSession
    private var outgoing = FrameCompression()
    private var incoming = FrameCompression()
    private var sent = 0
    /// The next frame, as long as the store is at this vector.
    private var known: (bytes: [UInt8], vector: VersionVector, bases: WireBases?)?

    var key: [UInt8] { authority.key }
    var replica: ReplicaID { store.replica }
    var commitCount: UInt64 { store.vector[store.replica] }

    init(_ name: UInt8, _ kind: MutatedSessionTests.Kind) {
        authority = ProofAuthority(name)
        self.kind = kind
        var store = ModelStore(replica: authority.replica())
        let row = RowID(high: UInt64(name), low: 1)
        store.commit(now: 1, [Operation(row: row, change: .insert(x: 1, tags: ["a", "b"], count: 2))])
        store.commit(now: 2, [Operation(row: RowID(high: 1, low: 1), change: .insert(x: 2, tags: [], count: 0))])
        store.commit(now: 3, [Operation(row: row, change: .toggle("c")), Operation(row: RowID(high: 1, low: 1), change: .delete)])
        self.store = store
        slice = store.read(SliceRequest(since: VersionVector())) ?? FrameSamples.slice
        session = PeerSession(PeerSession.Configuration(app: "test", group: [], software: "test"))
    }

    /// Another session, which is not connected yet.
    mutating func begin(_ session: PeerSession) {
        self.session = session
        (outgoing, incoming) = (FrameCompression(), FrameCompression())
    }

    mutating func handle(_ input: PeerSession.Input, now: Instant) -> [PeerSession.Effect] {
        session.handle(input, now: now)
    }

    // MARK: Frames

    /// What it sends, unchanged, before its kind of frame.
    func beginning(_ home: ModelStore) -> [Frame] {
        var hello = self.hello
        if kind.isOfComparison { (hello.heads, hello.durable, hello.resumption) = (home.heads, home.vector, nil) }
        return switch kind {
        case .hello, .hashedHello: []
        case .allHeads, .newestHeads: [.hello(hashedHello)]
        case .restOfHeads: [.hello(hashedHello), .heads(.newest(hello.knowledge))]
        case .proofs: [.hello(hello)]
        case .digest, .digestQuestion, .digestParts, .digestRows: [.hello(hello)]
        default: [.hello(hello), proofs]
        }
    }

    /// What it answers, unchanged, when the store compares, up to where it would send its kind of frame.
    func answers(_ home: ModelStore) -> [Frame] {
        let digest = Frame.digest(StoreDigest(vector: home.vector, rows: DigestSum(count: 1, value: 1)), wantsAnswer: false)
        let part = DigestPart(through: nil, rows: DigestSum(count: 1, value: 1))
        return kind == .digestRows ? [digest, .digestParts(home.vector, DigestRange(), [part])] : [digest]
    }

    /// The bytes of the next frame as they come out of the transport; `nil` if that finds them to be no frame.
    mutating func nextFrame(_ random: inout SplitMix64, store home: ModelStore, bases: WireBases?) -> [UInt8]? {
        sent += 1
        var bytes = encoded(home, bases)
        if kind == .compressed { bytes = outgoing.compress(bytes, isUnderstood: true) }
        for _ in 0..<Int.random(in: 0...4, using: &random) { bytes.damage(&random) }
        return kind == .compressed ? try? incoming.decompress(bytes) : bytes
    }

    private mutating func encoded(_ home: ModelStore, _ bases: WireBases?) -> [UInt8] {
        if kind != .attachment, kind != .differences, let known, known.vector == home.vector, known.bases == bases { return known.bytes }
        var ownBases: WireBases?
        if kind == .differences, let bases { ownBases = WireBases(sender: bases.sender, receiver: bases.receiver, spelledMax: 0) }
        let bytes = FrameCodec.encode(frame(home), ownBases)
        known = (bytes, home.vector, bases)
        return bytes
    }

    private var hello: Hello {
        Hello(
            versions: .current, replica: replica, app: "test", group: [], software: "test",
            capabilities: [.digest, .texts, .attachments, .compression, .household], wallClockMilliseconds: 0, clock: store.summary.clock,
            heads: store.heads, durable: store.vector, resumption: resumption)
    }

    private var hashedHello: Hello {
        var hello = self.hello
        hello.knowledge = Knowledge(heads: [])
        (hello.headsHash, hello.saysMore) = (HeadsHash(of: store.heads), true)
        return hello
    }

    private var resumption: Resumption {
        Resumption(position: SlicePosition(table: ModelColumn.table.name, row: RowID(high: 1, low: 1)), vector: store.vector)
    }

    private var proofs: Frame {
        .proofs(store.heads.map { ProofOffer(authority.proof(of: $0, authority.origin()), isToldBefore: false) })
    }

    private func frame(_ home: ModelStore) -> Frame {
        let (own, ofHome) = (store.vector, home.vector)
        let pulse = Pulse(nonce: 1, wallClockMilliseconds: 0, vector: own, durable: own)
        let part = DigestPart(through: nil, rows: DigestSum(count: 1, value: 1))
        return switch kind {
        case .hello: .hello(hello)
        case .hashedHello: .hello(hashedHello)
        case .allHeads: .heads(.all(hello.knowledge))
        case .newestHeads: .heads(.newest(hello.knowledge))
        case .restOfHeads: .heads(.rest([], HeadsHash(of: [])))
        case .proofs: proofs
        case .slice: .slice(slice, alsoSentTo: [replica])
        case .listing: .slice(listing, alsoSentTo: [])
        case .texts: .slice(texts, alsoSentTo: [])
        case .prelude: .slice(prelude, alsoSentTo: [])
        case .compressed: .slice(long, alsoSentTo: [])
        case .acknowledge: .acknowledge(Acknowledgement(slices: 0, durable: own))
        case .want: .want(Want(slices: 0, since: own, resumption: resumption))
        case .ping: .ping(pulse)
        case .pong: .pong(pulse)
        case .differences: sent.isMultiple(of: 2) ? .ping(pulse) : .slice(slice, alsoSentTo: [])
        case .digest: .digest(StoreDigest(vector: ofHome, rows: DigestSum(count: 1, value: 1)), wantsAnswer: true)
        case .digestQuestion: .digestQuestion(ofHome, DigestRange(after: resumption.position), wantsRows: key[0].isMultiple(of: 2))
        case .digestParts: .digestParts(ofHome, DigestRange(), [part])
        case .digestRows: .digestRows(DigestRange(), rows(of: home))
        case .attachment: attachments[sent % attachments.count]
        case .household: .household([UInt8](repeating: 7, count: 99))
        case .goodbye: .goodbye(code: .protocolError, message: "It said hello twice.")
        }
    }

    private var attachments: [Frame] { FrameSamples.golden.map(\.frame).filter { if case .attachment = $0 { true } else { false } } }

    // MARK: Slices

    /// Rows as the store has them, but for one.
    private func rows(of home: ModelStore) -> Slice {
        var slice = home.read(SliceRequest(since: VersionVector())) ?? self.slice
        (slice.isLast, slice.rowsRemaining) = (true, 0)
        slice.rows.removeFirst()
        return slice
    }

    private var listing: Slice {
        var slice = self.slice
        slice.listing = Listing(after: nil, floor: store.vector)
        for index in slice.tables.indices { slice.tables[index].incomplete = [ColumnKey("gone", .set)] }
        slice.rows[0].state.context = store.vector
        return slice
    }

    /// The text of one row, in two changes.
    private var texts: Slice {
        var slice = self.slice
        slice.tables = [TableSchema(name: ModelColumn.table.name, columns: [ColumnKey("body", .text)])]
        let stamps = (1...2).map { Stamp(dot: Dot(replica: replica, sequence: $0), timestamp: HybridTimestamp(rawValue: 1)) }
        var text = TextState(touched: VersionVector([stamps[1].dot]), present: [stamps[0].dot])
        text.changes = [
            TextState.Change(stamp: stamps[0], parents: [], steps: [8, 0], inserted: Array("Milk".utf8)),
            TextState.Change(stamp: stamps[1], parents: [stamps[0].dot], steps: [3, 0, 2, 0, 2, 6], inserted: Array("SY".utf8)),
        ]
        slice.rows = [RowPart(table: 0, id: RowID(high: 1, low: 2), state: RowState())]
        slice.rows[0].state[0] = .text(text)
        slice.position = slice.rows[0].position(in: slice.tables)
        return slice
    }

    private var prelude: Slice {
        var slice = texts
        guard case .text(let whole)? = slice.rows[0].state[0] else { return slice }
        var text = TextState(touched: whole.touched)
        text.changes = whole.changes
        slice.rows[0].state[0] = .text(text)
        (slice.rows[0].isPrelude, slice.isLast) = (true, false)
        slice.position = slice.rows[0].position(in: slice.tables).predecessor
        return slice
    }

    /// One that is worth compressing.
    private var long: Slice {
        var slice = self.slice
        let stamp = Stamp(dot: Dot(replica: replica, sequence: 1), timestamp: HybridTimestamp(rawValue: 1))
        let value = ColumnValue.text(String(repeating: "all the same ", count: 60))
        slice.rows[0].state[ModelColumn.x] = .register(RegisterState(writes: [Write(stamp: stamp, value: value)]))
        return slice
    }
}
