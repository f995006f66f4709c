import KithCausality
import KithSync
import TestSupport

/// Frames with something in every field: those of the golden vectors, and random ones.
enum FrameSamples {
    static let a = ReplicaID(high: 0xa0a0_a0a0_a0a0_a0a0, low: 0x0101_0101_0101_0101)
    static let b = ReplicaID(high: 0xb0b0_b0b0_b0b0_b0b0, low: 0x0202_0202_0202_0202)
    static let c = ReplicaID(high: 0xc0c0_c0c0_c0c0_c0c0, low: 0x0303_0303_0303_0303)
    static let d = ReplicaID(high: 0xd0d0_d0d0_d0d0_d0d0, low: 0x0404_0404_0404_0404)
    static let time = HybridTimestamp(milliseconds: 1_700_000_000_000)
    static let vector = VersionVector([Dot(replica: a, sequence: 3), Dot(replica: b, sequence: 300)])
    static let heads = [
        Head(dot: Dot(replica: a, sequence: 3), timestamp: time), Head(dot: Dot(replica: b, sequence: 300), timestamp: time.next),
    ]
    static let position = SlicePosition(table: Array("things".utf8), row: RowID(high: 1, low: 2))

    static let hello = Hello(
        versions: .current, replica: a, app: "kith.notes", group: Array("home".utf8), software: "kith 1.0", capabilities: [],
        wallClockMilliseconds: 1_700_000_000_123, clock: time, heads: heads,
        durable: VersionVector([Dot(replica: a, sequence: 2)]), resumption: Resumption(position: position, vector: vector))

    static let pulse = Pulse(
        nonce: 7, wallClockMilliseconds: 1_700_000_000_456, vector: vector, durable: VersionVector([Dot(replica: b, sequence: 1)]))

    static let durablePulse = Pulse(
        nonce: pulse.nonce, wallClockMilliseconds: pulse.wallClockMilliseconds, vector: vector, durable: vector)

    /// Every kind of value, cell and tombstone.
    static let row: RowState = {
        let (first, second) = (Dot(replica: a, sequence: 3), Dot(replica: b, sequence: 300))
        let values: [ColumnValue] = [.null, .integer(-5), .integer(.max), .real(-1.5), .text("é\u{0}"), .blob([0, 255])]
        var row = RowState()
        for (column, value) in values.enumerated() {
            row[column] = .register(RegisterState(writes: [Write(stamp: Stamp(dot: first, timestamp: time), value: value)]))
        }
        row[1] = .register(
            RegisterState(writes: [
                Write(stamp: Stamp(dot: first, timestamp: time), value: .integer(1)),
                Write(stamp: Stamp(dot: second, timestamp: time.next), value: .text("two")),
            ]))
        row[6] = .set(
            SetState(
                elements: [.init(json: Array("\"x\"".utf8), dots: [first, second]), .init(json: Array("1".utf8), dots: [second])].sorted {
                    $0.json.lexicographicallyPrecedes($1.json)
                }, touched: vector))
        row[7] = .counter(CounterState(totals: [.init(dot: first, amount: -7), .init(dot: second, amount: .max)], isBorn: true))
        row.tombstones = [Tombstone(dot: second, seen: VersionVector([first]))]
        row.context = VersionVector([Dot(replica: c, sequence: 9)])
        return row
    }()

    /// A row of which a part was found in a table when it was first tracked.
    static let adoptedRow: RowState = {
        let found = Stamp(dot: Dot(replica: a, sequence: 3), timestamp: time, isAdopted: true)
        let edit = Stamp(dot: Dot(replica: b, sequence: 300), timestamp: time.next)
        var row = RowState()
        var register = RegisterState(writes: [Write(stamp: found, value: .text("milk"))])
        register.set(.text("bread"), stamp: edit)
        register.add(Write(stamp: Stamp(dot: Dot(replica: a, sequence: 2), timestamp: time, isAdopted: true), value: .text("salt")))
        row[0] = .register(register)
        var set = SetState(adopting: [Array("\"a\"".utf8), Array("\"b\"".utf8)], dot: found.dot)
        _ = set.set(to: [Array("\"b\"".utf8), Array("\"c\"".utf8)], dot: edit.dot)
        row[1] = .set(set)
        var counter = CounterState(bases: [.init(stamp: found, amount: 10)])
        counter.count(3, dot: edit.dot)
        row[2] = .counter(counter)
        var text = TextState(touched: VersionVector([edit.dot]), present: [edit.dot])
        var document = AdoptedTexts.Document(number: 77, found: found)
        document.noteEdit(edit)
        var written = AdoptedTexts.Document(number: 0, edited: VersionVector([edit.dot]))
        written.dismiss()
        text.adopted = AdoptedTexts(adopters: VersionVector([found.dot]), documents: [written, document])
        var root = TextState.Change(
            stamp: Stamp(dot: Dot(replica: .nobody, sequence: 77), timestamp: .zero), parents: [], steps: [4, 0], inserted: [65, 66])
        root.document = 77
        var change = TextState.Change(stamp: edit, parents: [root.stamp.dot], steps: [2, 4], inserted: [67])
        change.document = 77
        text.changes = [root, change]
        row[3] = .text(text)
        return row
    }()

    /// Two rows with a text each: one that A has written and B has gone on with, and one that B has written anew.
    private static let textSlice: Slice = {
        let (first, second) = (Stamp(dot: Dot(replica: a, sequence: 3), timestamp: time), heads[1])
        let edit = Stamp(dot: second.dot, timestamp: second.timestamp)
        var text = TextState(touched: vector, present: [first.dot])
        text.changes = [
            TextState.Change(stamp: first, parents: [], steps: [8, 0], inserted: Array("Milk".utf8)),
            TextState.Change(stamp: edit, parents: [first.dot], steps: [3, 0, 2, 0, 2, 6], inserted: Array("SY".utf8)),
        ]
        let restart = TextState.Change(
            stamp: edit, parents: [first.dot], replacedScalars: 4, steps: [9, 0, 6, 0], inserted: Array("né".utf8) + [0x21])
        var anew = TextState(touched: vector, present: [edit.dot])
        anew.changes = [restart]
        var slice = Self.slice
        slice.tables[1] = TableSchema(name: Array("things".utf8), columns: [ColumnKey("body", .text)])
        slice.rows = [text, anew].enumerated().map { index, text in
            var state = RowState()
            state[0] = .text(text)
            return RowPart(table: 1, id: RowID(high: 1, low: UInt64(index + 1)), state: state)
        }
        return slice
    }()

    /// The beginning of a row that is too long for one slice.
    private static let preludeSlice: Slice = {
        var slice = textSlice
        var text = TextState(touched: VersionVector([Dot(replica: a, sequence: 3)]))
        text.changes = [
            TextState.Change(
                stamp: Stamp(dot: Dot(replica: a, sequence: 3), timestamp: time), parents: [], steps: [8, 0],
                inserted: Array("Milk".utf8))
        ]
        var state = RowState()
        state[0] = .text(text)
        slice.rows = [RowPart(table: 1, id: RowID(high: 1, low: 2), state: state)]
        slice.rows[0].isPrelude = true
        slice.position = SlicePosition(table: Array("things".utf8), row: RowID(high: 1, low: 1))
        return slice
    }()

    private static let adoptedSlice: Slice = {
        var slice = Self.slice
        slice.tables[1] = TableSchema(
            name: Array("things".utf8),
            columns: [ColumnKey("r", .register), ColumnKey("tags", .set), ColumnKey("count", .counter), ColumnKey("body", .text)])
        slice.rows = [RowPart(table: 1, id: RowID(high: 1, low: 1), state: adoptedRow)]
        return slice
    }()

    static let columns =
        (0..<6).map { ColumnKey("r\($0)", .register) } + [ColumnKey("tags", .set), ColumnKey("count", .counter)]

    static let slice = Slice(
        since: VersionVector([Dot(replica: a, sequence: 1)]), vector: vector, target: heads, clock: time, isFirst: true,
        isLast: false, position: SlicePosition(table: Array("z".utf8), row: RowID(high: 3, low: 4)), rowsRemaining: 1_000,
        tables: [TableSchema(name: Array("empty".utf8), columns: []), TableSchema(name: Array("things".utf8), columns: columns)],
        rows: [
            RowPart(table: 1, id: RowID(high: 1, low: 1), state: RowState(tombstones: row.tombstones)),
            RowPart(table: 1, id: RowID(high: 1, low: 2), state: row),
        ])

    /// One frame of each type, and variants; the names are those of the files in Fixtures/golden.
    static let golden: [(name: String, frame: Frame)] = [
        ("hello", .hello(hello)),
        ("hello-of-a-new-store", .hello(newStore)),
        ("heads-all", .heads(.all(Knowledge(heads: heads)))),
        ("heads-newest", .heads(.newest(hello.knowledge))),
        ("heads-rest", .heads(.rest([heads[1]], HeadsHash(of: [])))),
        ("slice", .slice(slice, alsoSentTo: [b, c])),
        ("slice-with-adopted-row", .slice(adoptedSlice, alsoSentTo: [])),
        ("slice-with-texts", .slice(textSlice, alsoSentTo: [])),
        ("slice-with-prelude", .slice(preludeSlice, alsoSentTo: [])),
        ("slice-without-rows", .slice(emptySlice, alsoSentTo: [])),
        ("slice-with-ending", .slice(sliceWithEnding, alsoSentTo: [])),
        ("proofs", .proofs(proofs)),
        ("acknowledge", .acknowledge(Acknowledgement(slices: 130, durable: vector))),
        ("want", .want(Want(slices: 2, since: vector, resumption: nil))),
        ("want-with-resumption", .want(Want(slices: 2, since: vector, resumption: Resumption(position: position, vector: vector)))),
        ("ping", .ping(pulse)),
        ("ping-of-a-durable-store", .ping(durablePulse)),
        ("pong", .pong(pulse)),
        ("attachment-want-outline", .attachment(.want(AttachmentPiece(photo, chunk: nil)))),
        ("attachment-want-chunk", .attachment(.want(AttachmentPiece(photo, chunk: 300)))),
        ("attachment-outline", .attachment(.outline(photo, outline))),
        ("attachment-chunk", .attachment(.chunk(photo, index: 1, Array("bytes".utf8)))),
        ("attachment-have-not", .attachment(.haveNot(photo))),
        ("attachment-have", .attachment(.have(photo))),
        ("attachment-holdings", .attachment(.holdings(AttachmentHoldings(.only, [photo, film])))),
        ("digest", .digest(StoreDigest(vector: vector, rows: DigestSum(count: 5, value: 0x0123_4567_89ab_cdef)), wantsAnswer: true)),
        ("digest-question", .digestQuestion(vector, DigestRange(after: position), wantsRows: true)),
        ("digest-parts", .digestParts(vector, DigestRange(), parts)),
        ("digest-rows", .digestRows(DigestRange(through: position), slice)),
        ("goodbye", .goodbye(code: .protocolError, message: "It said hello twice.")),
    ]

    /// A hello that says no more of what its sender knows than a hash. Without its end it is a hello, too.
    static let helloWithHash: Hello = {
        var hello = Self.hello
        hello.knowledge = Knowledge(heads: [])
        (hello.headsHash, hello.saysMore) = (HeadsHash(of: heads), true)
        return hello
    }()

    /// What the sender and the receiver of the frames below have said that they know.
    static let bases = WireBases(sender: heads, receiver: [heads[0]])

    /// Frames with differences from that.
    static let differences: [(name: String, frame: Frame)] = {
        let next = Head(dot: Dot(replica: b, sequence: 301), timestamp: time.next.next)
        let further = VersionVector([heads[0].dot, next.dot])
        var slice = Self.emptySlice
        (slice.since, slice.vector, slice.target) = (VersionVector([heads[0].dot]), further, [heads[0], next])
        var pulse = Self.pulse
        (pulse.vector, pulse.durable) = (further, vector)
        return [("ping-with-differences", .ping(pulse)), ("slice-with-differences", .slice(slice, alsoSentTo: []))]
    }()

    /// The attachment 00010203…1f, and an outline of 262,145 bytes whose hashes are 32 times aa and 32 times bb.
    // swift-format-ignore: NeverForceUnwrap
    static let photo = AttachmentID(bytes: Array(0..<32))!
    // swift-format-ignore: NeverForceUnwrap
    private static let film = AttachmentID(bytes: [UInt8](repeating: 0xFF, count: 32))!
    // swift-format-ignore: NeverForceUnwrap
    private static let outline = AttachmentOutline(
        size: 262_145, hashes: [UInt8](repeating: 0xAA, count: 32) + [UInt8](repeating: 0xBB, count: 32))!

    /// Of A by a key that is known, of B by its own, of C by somebody else's, and of D by somebody else's, whose device is known.
    private static let proofs: [ProofOffer] = {
        let key = [UInt8](repeating: 0xDD, count: 33)
        let own = HeadProof.Origin(key: key, nonce: Array(0..<16))
        let origins = [nil, own, HeadProof.Origin(key: key, nonce: nil), own]
        let all = heads + [(c, 9), (d, 1)].map { Head(dot: Dot(replica: $0, sequence: $1), timestamp: time) }
        return zip(all, origins).map { head, origin in
            let voucher = head.dot.replica == d ? [UInt8](repeating: 0xCC, count: 33) : nil
            return ProofOffer(head: head, origin: origin, voucher: voucher, signature: [UInt8](repeating: 0xEE, count: 64))
        }
    }()

    private static let newStore = Hello(
        versions: ProtocolVersions(newest: 1, oldest: 1), replica: c, app: "", group: [], software: "", capabilities: [],
        wallClockMilliseconds: 0, clock: .zero, heads: [], durable: VersionVector(), resumption: nil)

    private static let parts = [
        DigestPart(through: position, rows: DigestSum(count: 1, value: 7)),
        DigestPart(through: nil, rows: DigestSum(count: 4, value: .max)),
    ]

    private static let emptySlice = Slice(
        since: VersionVector(), vector: vector, target: heads, clock: time, isFirst: true, isLast: true, position: nil,
        rowsRemaining: 0, tables: [], rows: [])

    private static let sliceWithEnding: Slice = {
        var slice = emptySlice
        let incomplete = [ColumnKey("gone", .set), ColumnKey("r0", .register)]
        slice.tables = [
            TableSchema(name: Array("empty".utf8), columns: []),
            TableSchema(name: Array("things".utf8), columns: [], incomplete: incomplete),
        ]
        slice.listing = Listing(after: position, floor: VersionVector([Dot(replica: a, sequence: 2)]))
        return slice
    }()

    // MARK: Random frames

    static func random(using random: inout SplitMix64) -> Frame {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .hello(hello)
        case 1: .acknowledge(Acknowledgement(slices: random.next(), durable: randomVector(&random)))
        case 2:
            .want(
                Want(
                    slices: random.next(), since: randomVector(&random),
                    resumption: Resumption(position: position, vector: randomVector(&random))))
        case 3:
            .ping(
                Pulse(
                    nonce: random.next(), wallClockMilliseconds: .random(in: 0...Int64.max, using: &random), vector: randomVector(&random),
                    durable: randomVector(&random)))
        case 4: .goodbye(code: .shutdown, message: "bye")
        case 5:
            Bool.random(using: &random)
                ? .digestParts(randomVector(&random), DigestRange(after: position), parts)
                : .digestRows(DigestRange(), randomSlice(&random))
        default: .slice(randomSlice(&random), alsoSentTo: [b])
        }
    }

    private static func randomVector(_ random: inout SplitMix64) -> VersionVector {
        VersionVector(
            (0..<Int.random(in: 0...5, using: &random)).map { _ in
                Dot(
                    replica: ReplicaID(high: .random(in: 0...3, using: &random), low: 0), sequence: .random(in: 1...1 << 40, using: &random)
                )
            })
    }

    /// A slice of a store with a random history.
    private static func randomSlice(_ random: inout SplitMix64) -> Slice {
        var stores = (1...3).map { ModelStore(replica: ReplicaID(high: $0, low: 0)) }
        for step in 0..<12 {
            let index = Int.random(in: 0..<3, using: &random)
            let store = stores[index]
            stores[index].commit(now: UInt64(step), Operation.random(rowCount: 6, isVisible: store.isVisible, using: &random))
            stores[index].pull(from: stores[(index + 1) % 3], slices: .random(in: 0...2, using: &random))
        }
        return stores[0].read(SliceRequest(since: VersionVector())) ?? emptySlice
    }
}
