import KithCausality
import KithSync
import Testing

/// Risk: a limit is one off, or not checked, and a peer's lie or a user's large row brings the node down.
///
/// Each limit is tested at the limit and one past it.
@Suite struct WireLimitTests {
    private func replicas(_ count: Int) -> [ReplicaID] { (0..<count).map { ReplicaID(high: 1, low: UInt64($0)) } }

    private func vector(_ count: Int) -> VersionVector {
        VersionVector(replicas(count).map { Dot(replica: $0, sequence: UInt64(Int64.max)) })
    }

    @Test func `a vector has at most replicasMax replicas`() throws {
        let limit = WireLimits.replicasMax
        let fits = Frame.acknowledge(Acknowledgement(slices: 0, durable: vector(limit)))
        #expect(try FrameCodec.decode(FrameCodec.encode(fits)) == fits)
        let past = FrameCodec.encode(.acknowledge(Acknowledgement(slices: 0, durable: vector(limit + 1))))
        #expect(throws: WireError.limitExceeded("replicasMax")) { try FrameCodec.decode(past) }
    }

    @Test func `the largest hello that spells out 4,096 replicas fits`() throws {
        let limit = 4_096
        let last = HybridTimestamp(rawValue: HybridTimestamp.limit.rawValue - 1)
        let hello = Hello(
            versions: ProtocolVersions(newest: .max, oldest: .max), replica: ReplicaID(high: 1, low: 0),
            app: String(repeating: "a", count: AppID.bytesMax), group: [UInt8](repeating: 1, count: WireLimits.groupBytesMax),
            software: String(repeating: "k", count: WireLimits.softwareBytesMax), capabilities: Capabilities(rawValue: .max),
            wallClockMilliseconds: .max, clock: last, heads: vector(limit).entries.map { Head(dot: $0, timestamp: last) },
            durable: vector(limit),
            resumption: Resumption(
                position: SlicePosition(table: [UInt8](repeating: 1, count: WireLimits.nameBytesMax), row: RowID(high: .max, low: .max)),
                vector: vector(limit)))
        let bytes = FrameCodec.encode(.hello(hello))
        #expect(bytes.count <= WireLimits.helloBytesMax)
        #expect(try FrameCodec.decode(bytes) == .hello(hello))
    }

    @Test func `a frame has at most frameBytesMax bytes`() throws {
        let goodbye = FrameCodec.encode(.goodbye(code: .shutdown, message: ""))
        let padded = goodbye + [UInt8](repeating: 0, count: WireLimits.frameBytesMax - goodbye.count)
        #expect(try FrameCodec.decode(padded) != nil)
        #expect(throws: WireError.limitExceeded("frameBytesMax")) { try FrameCodec.decode(padded + [0]) }
    }

    @Test func `a group has at most groupBytesMax bytes, the software's name softwareBytesMax`() throws {
        var hello = FrameSamples.hello
        hello.group = [UInt8](repeating: 1, count: WireLimits.groupBytesMax)
        hello.software = String(repeating: "k", count: WireLimits.softwareBytesMax)
        #expect(try FrameCodec.decode(FrameCodec.encode(.hello(hello))) == .hello(hello))
        hello.group.append(1)
        #expect(throws: WireError.limitExceeded("groupBytesMax")) { try FrameCodec.decode(FrameCodec.encode(.hello(hello))) }

        var named = FrameSamples.hello
        named.app = String(repeating: "a", count: AppID.bytesMax)
        #expect(try FrameCodec.decode(FrameCodec.encode(.hello(named))) == .hello(named))
        let app = FrameSamples.hello.app
        let long = FrameCodec.encode(.hello(FrameSamples.hello)).replacing(blob(app), with: blob(app + named.app))
        #expect(throws: WireError.limitExceeded("appBytesMax")) { try FrameCodec.decode(long) }

        // Our own encoder cuts the name; a peer's may not.
        let name = FrameSamples.hello.software
        let longer = name + String(repeating: "k", count: WireLimits.softwareBytesMax + 1 - name.utf8.count)
        let bytes = FrameCodec.encode(.hello(FrameSamples.hello)).replacing(blob(name), with: blob(longer))
        #expect(throws: WireError.limitExceeded("softwareBytesMax")) { try FrameCodec.decode(bytes) }
    }

    @Test func `a reason has at most reasonBytesMax bytes, and ours is cut between characters`() throws {
        let limit = WireLimits.reasonBytesMax
        let long = "x" + String(repeating: "é", count: limit)
        #expect(
            try FrameCodec.decode(FrameCodec.encode(.goodbye(code: .shutdown, message: long)))
                == .goodbye(code: .shutdown, message: "x" + String(repeating: "é", count: (limit - 1) / 2)))
        func goodbye(_ count: Int) -> [UInt8] { [7, 0, 1] + blob(String(repeating: "k", count: count)) }
        #expect(throws: Never.self) { try FrameCodec.decode(goodbye(limit)) }
        #expect(throws: WireError.limitExceeded("reasonBytesMax")) { try FrameCodec.decode(goodbye(limit + 1)) }
    }

    private func blob(_ text: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.blob(Array(text.utf8))
        return writer.bytes
    }

    // MARK: Slices

    private func tables(_ count: Int) -> [TableSchema] {
        (0..<count).map { TableSchema(name: Array("t\($0)".utf8), columns: []) }
    }

    @Test func `a slice has at most tablesMax tables`() {
        #expect(FrameBuilder(tables: tables(WireLimits.tablesMax)).refusal == nil)
        #expect(FrameBuilder(tables: tables(WireLimits.tablesMax + 1)).refusal == .limitExceeded("tablesMax"))
    }

    @Test func `a table has at most columnsMax columns`() {
        func frame(_ count: Int) -> FrameBuilder {
            FrameBuilder(tables: [TableSchema(name: [1], columns: (0..<count).map { ColumnKey("c\($0)", .register) })])
        }
        #expect(frame(WireLimits.columnsMax).refusal == nil)
        #expect(frame(WireLimits.columnsMax + 1).refusal == .limitExceeded("columnsMax"))
    }

    /// A frame that names columns of its only table at the end as incomplete.
    private func frame(incomplete columns: [ColumnKey]) -> FrameBuilder {
        var writer = ByteWriter()
        writer.count(columns.count)
        for column in columns {
            writer.byte(column.kind.rawValue)
            writer.blob(column.name)
        }
        var frame = FrameBuilder()
        frame.flags |= 8
        frame.ending = writer.bytes
        return frame
    }

    @Test func `a table has at most columnsMax incomplete columns, whose names have at most nameBytesMax bytes`() {
        func columns(_ count: Int) -> [ColumnKey] { (0..<count).map { ColumnKey("c\($0)", .register) } }
        #expect(frame(incomplete: columns(WireLimits.columnsMax)).refusal == nil)
        #expect(frame(incomplete: columns(WireLimits.columnsMax + 1)).refusal == .limitExceeded("columnsMax"))
        func name(_ count: Int) -> [ColumnKey] { [ColumnKey(name: [UInt8](repeating: 1, count: count), kind: .set)] }
        #expect(frame(incomplete: name(WireLimits.nameBytesMax)).refusal == nil)
        #expect(frame(incomplete: name(WireLimits.nameBytesMax + 1)).refusal == .limitExceeded("nameBytesMax"))
    }

    @Test func `a name has at most nameBytesMax bytes`() {
        func frame(table: Int, column: Int) -> FrameBuilder {
            let name = [UInt8](repeating: 1, count: column)
            return FrameBuilder(tables: [
                TableSchema(name: [UInt8](repeating: 1, count: table), columns: [ColumnKey(name: name, kind: .set)])
            ])
        }
        let limit = WireLimits.nameBytesMax
        #expect(frame(table: limit, column: limit).refusal == nil)
        #expect(frame(table: limit + 1, column: 1).refusal == .limitExceeded("nameBytesMax"))
        #expect(frame(table: 1, column: limit + 1).refusal == .limitExceeded("nameBytesMax"))
        func position(_ count: Int) -> FrameBuilder {
            var writer = ByteWriter()
            writer.byte(2)
            writer.blob([UInt8](repeating: 1, count: count))
            writer.identifier(RowID(high: 0, low: 0))
            return FrameBuilder(position: writer.bytes)
        }
        #expect(position(limit).refusal == nil)
        #expect(position(limit + 1).refusal == .limitExceeded("nameBytesMax"))
    }

    @Test func `a slice has at most sliceRowsMax rows`() {
        func frame(_ count: Int) -> FrameBuilder {
            FrameBuilder(rows: (0..<count).map { FrameBuilder.Row(id: RowID(high: 0, low: UInt64($0))) })
        }
        #expect(frame(WireLimits.sliceRowsMax).refusal == nil)
        #expect(frame(WireLimits.sliceRowsMax + 1).refusal == .limitExceeded("sliceRowsMax"))
    }

    @Test func `several rows take at most twice sliceBytesMax, one row may take more`() {
        // 22 bytes: the number of the table, the id, the length of a state of 4 MiB as 4 bytes, and one byte of the next row's.
        func row(_ number: UInt64, bytes: Int) -> FrameBuilder.Row {
            let padding = [UInt8](repeating: 0, count: bytes - 1 - 16 - 4 - FrameBuilder.emptyState.count)
            return FrameBuilder.Row(id: RowID(high: 0, low: number), state: FrameBuilder.emptyState + padding)
        }
        let limit = 2 * WireLimits.sliceBytesMax
        #expect(FrameBuilder(rows: [row(0, bytes: limit / 2), row(1, bytes: limit / 2)]).refusal == nil)
        #expect(
            FrameBuilder(rows: [row(0, bytes: limit / 2), row(1, bytes: limit / 2 + 1)]).refusal
                == .limitExceeded("sliceBytesMax"))
        #expect(FrameBuilder(rows: [row(0, bytes: limit + 1)]).refusal == nil)
    }

    @Test func `a slice names at most neighboursMax neighbours`() {
        #expect(FrameBuilder(alsoSentTo: [UInt64](repeating: 0, count: WireLimits.neighboursMax)).refusal == nil)
        #expect(
            FrameBuilder(alsoSentTo: [UInt64](repeating: 0, count: WireLimits.neighboursMax + 1)).refusal
                == .limitExceeded("neighboursMax"))
    }

    // MARK: Rows

    private func refusal(_ state: RowState, columns: [ColumnKey]) -> WireError? {
        var replicas = ReplicaTable(FrameSamples.hello.heads.map(\.dot.replica))
        var writer = ByteWriter()
        RowStateCodec.encode(state, shown: .inline, to: &writer, &replicas)
        return FrameBuilder(
            replicas: replicas.ids, vector: replicas.ids.indices.map { (UInt64($0), 1 << 40) },
            tables: [TableSchema(name: [1], columns: columns)], rows: [FrameBuilder.Row(state: writer.bytes)]
        ).refusal
    }

    private func dots(_ count: Int) -> [Dot] { (1...count).map { Dot(replica: FrameSamples.a, sequence: UInt64($0)) } }

    @Test func `a register has at most concurrentMax writes, a row as many tombstones, an element as many dots`() {
        let limit = WireLimits.concurrentMax
        for (count, expected) in [(limit, nil), (limit + 1, WireError.limitExceeded("concurrentMax"))] {
            let writes = dots(count).map { Write(stamp: Stamp(dot: $0, timestamp: .zero), value: .null) }
            let register = RowState(cells: [.init(column: 0, cell: .register(RegisterState(writes: writes)))])
            #expect(refusal(register, columns: [ColumnKey("x", .register)]) == expected)
            let deleted = RowState(tombstones: dots(count).map { Tombstone(dot: $0, seen: VersionVector()) })
            #expect(refusal(deleted, columns: []) == expected)
            let set = SetState(elements: [.init(json: [1], dots: dots(count))], touched: VersionVector(dots(count)))
            #expect(refusal(RowState(cells: [.init(column: 0, cell: .set(set))]), columns: [ColumnKey("s", .set)]) == expected)
        }
    }

    @Test func `a range of rows has at most digestPartsMax parts`() throws {
        func frame(_ count: Int) -> [UInt8] {
            FrameCodec.encode(
                .digestParts(
                    VersionVector(), DigestRange(), [DigestPart](repeating: DigestPart(through: nil, rows: DigestSum()), count: count)))
        }
        #expect(try FrameCodec.decode(frame(WireLimits.digestPartsMax)) != nil)
        #expect(throws: WireError.limitExceeded("digestPartsMax")) { try FrameCodec.decode(frame(WireLimits.digestPartsMax + 1)) }
    }

    @Test func `a set has at most setElementsMax elements`() {
        func set(_ count: Int) -> RowState {
            let elements = (0..<count).map { number in
                SetState.Element(json: (0..<3).map { UInt8(truncatingIfNeeded: number >> (16 - 8 * $0)) }, dots: dots(1))
            }
            return RowState(cells: [.init(column: 0, cell: .set(SetState(elements: elements, touched: VersionVector(dots(1)))))])
        }
        #expect(refusal(set(WireLimits.setElementsMax), columns: [ColumnKey("s", .set)]) == nil)
        #expect(refusal(set(WireLimits.setElementsMax + 1), columns: [ColumnKey("s", .set)]) == .limitExceeded("setElementsMax"))
    }

    @Test func `a value has at most valueBytesMax bytes`() throws {
        func value(_ count: Int, tag: UInt8) -> ByteReader {
            var writer = ByteWriter(reservingCapacity: count + 6)
            writer.byte(tag)
            writer.blob([UInt8](repeating: 7, count: count))
            return ByteReader(writer.bytes)
        }
        for tag: UInt8 in [3, 4] {
            var fits = value(WireLimits.valueBytesMax, tag: tag)
            #expect(throws: Never.self) { try fits.value() }
            var past = value(WireLimits.valueBytesMax + 1, tag: tag)
            #expect(throws: WireError.limitExceeded("valueBytesMax")) { try past.value() }
        }
    }

    @Test func `a row with one value of the largest size fits a frame`() throws {
        let value = ColumnValue.blob([UInt8](repeating: 7, count: WireLimits.valueBytesMax))
        var slice = FrameSamples.slice
        slice.rows = [RowPart(table: 1, id: RowID(high: 0, low: 0), state: FrameSamples.row)]
        slice.rows[0].state[0] = .register(RegisterState(writes: [Write(stamp: Stamp(dot: dots(1)[0], timestamp: .zero), value: value)]))
        let bytes = FrameCodec.encode(.slice(slice, alsoSentTo: []))
        #expect(bytes.count <= WireLimits.frameBytesMax)
        #expect(try FrameCodec.decode(bytes) == .slice(slice, alsoSentTo: []))
    }

    @Test func `the lists of one frame have at most entriesMax entries together`() {
        // One row whose cells all have as many writes as may be, of NULL, but for the last one, which fills up to the limit.
        let stamps = WireLimits.concurrentMax
        let columns = (WireLimits.entriesMax - stamps) / (stamps + 2) + 1
        let others = 2 + 1 + 1 + columns + 1 + stamps + columns
        let writes = WireLimits.entriesMax - others
        var state = ByteWriter()
        state.count(stamps)
        for dot in dots(stamps) {
            state.byte(0)
            state.varint(dot.sequence)
            state.fixed64(0)
        }
        state.count(columns)
        for column in 0..<columns {
            let count = min(stamps, writes - column * stamps)
            state.count(column)
            state.count(count << 1)
            for number in 0..<count {
                state.count(number)
                state.byte(0)
            }
        }
        state.raw([0, 0])
        var frame = FrameBuilder(
            vector: [(0, 1 << 40)], tables: [TableSchema(name: [1], columns: (0..<columns).map { ColumnKey("c\($0)", .register) })],
            rows: [FrameBuilder.Row(state: state.bytes)])
        #expect(frame.refusal == nil)
        frame.alsoSentTo = [0]
        #expect(frame.refusal == .limitExceeded("entriesMax"))
    }

    // MARK: Ranges

    @Test func `a timestamp at the year 2200 is refused, one before is not`() {
        let limit = HybridTimestamp.limit
        let last = HybridTimestamp(rawValue: limit.rawValue - 1)
        #expect(FrameBuilder(clock: last).refusal == nil)
        #expect(FrameBuilder(clock: limit).refusal == .malformed("timestamp beyond the year 2200"))
        #expect(FrameBuilder(vector: [(0, 1)], target: [(0, 1, last)]).refusal == nil)
        #expect(FrameBuilder(vector: [(0, 1)], target: [(0, 1, limit)]).refusal == .malformed("timestamp beyond the year 2200"))
    }

    @Test func `a sequence is 1 to 2⁶³ − 1`() {
        let refusal = WireError.malformed("sequence out of range")
        #expect(FrameBuilder(vector: [(0, 1)]).refusal == nil)
        #expect(FrameBuilder(vector: [(0, 1 << 63 - 1)]).refusal == nil)
        #expect(FrameBuilder(vector: [(0, 0)]).refusal == refusal)
        #expect(FrameBuilder(vector: [(0, 1 << 63)]).refusal == refusal)
    }
}

extension FrameBuilder {
    init(
        replicas: [ReplicaID]? = nil, vector: [(UInt64, UInt64)] = [], target: [(UInt64, UInt64, HybridTimestamp)] = [],
        clock: HybridTimestamp = .zero, tables: [TableSchema]? = nil, rows: [Row] = [], position: [UInt8]? = nil,
        alsoSentTo: [UInt64] = []
    ) {
        self.init()
        self.replicas = replicas ?? self.replicas
        self.vector = vector
        self.target = target
        self.clock = clock
        self.tables = tables ?? self.tables
        self.rows = rows
        self.position = position
        self.alsoSentTo = alsoSentTo
    }
}
