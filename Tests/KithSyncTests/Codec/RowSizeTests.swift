import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: a sender cuts slices by a size that is less than the rows take, and its peers refuse them for ever.
@Suite struct RowSizeTests {
    /// Makes replicas take the largest numbers a frame may use.
    private static let otherReplicas = ReplicaTable((0..<UInt64(WireLimits.replicasMax)).map { ReplicaID(high: .max, low: $0) })

    private func encodedBytes(_ state: RowState) -> Int {
        var replicas = Self.otherReplicas
        var writer = ByteWriter()
        RowStateCodec.encode(state, shown: .inline, to: &writer, &replicas)
        var whole = ByteWriter()
        whole.count(WireLimits.tablesMax)
        whole.identifier(RowID(high: 0, low: 0))
        whole.blob(writer.bytes)
        return whole.count
    }

    @Test func `the bound is no less than what a row takes`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<300 {
            guard case .slice(let slice, _) = FrameSamples.random(using: &random) else { continue }
            for part in slice.rows { #expect(part.state.sliceBytesBound >= encodedBytes(part.state)) }
        }
        #expect(FrameSamples.row.sliceBytesBound >= encodedBytes(FrameSamples.row))
    }

    @Test func `the bound holds for the largest numbers`() {
        let last = Int64.max
        let dots = (0..<9).map { Dot(replica: ReplicaID(high: .max, low: 4_000 + $0), sequence: UInt64(last)) }
        let vector = VersionVector(dots)
        var row = RowState(context: vector)
        for column in 0..<WireLimits.columnsMax {
            let writes = dots.map {
                Write(stamp: Stamp(dot: $0, timestamp: HybridTimestamp(rawValue: UInt64(column))), value: .integer(.min))
            }
            row.cells.append(.init(column: column, cell: .register(RegisterState(writes: writes))))
        }
        row.cells[0].cell = .counter(CounterState(totals: dots.map { .init(dot: $0, amount: .min) }))
        row.cells[1].cell = .set(SetState(elements: [.init(json: [UInt8](repeating: 0, count: 20_000), dots: dots)], touched: vector))
        row.tombstones = dots.map { Tombstone(dot: $0, seen: vector) }
        #expect(row.sliceBytesBound >= encodedBytes(row))
        #expect(row.exceededLimit == nil)
    }

    @Test func `an ordinary row is not taken for much larger than it is`() {
        let stamp = Stamp(dot: Dot(replica: FrameSamples.a, sequence: 100_000), timestamp: FrameSamples.time)
        var row = RowState()
        for column in 0..<6 {
            row[column] = .register(RegisterState(writes: [Write(stamp: stamp, value: .text(String(repeating: "x", count: 100)))]))
        }
        #expect(row.sliceBytesBound < encodedBytes(row) * 3 / 2)
    }

    private func dots(_ count: Int) -> [Dot] { (1...count).map { Dot(replica: FrameSamples.a, sequence: UInt64($0)) } }

    @Test func `each limit of a row is found at one past it`() {
        func state(_ cell: Cell) -> RowState { RowState(cells: [.init(column: 0, cell: cell)]) }
        func register(_ count: Int, bytes: Int = 0) -> RowState {
            state(
                .register(
                    RegisterState(
                        writes: dots(count).map {
                            Write(stamp: Stamp(dot: $0, timestamp: .zero), value: .blob([UInt8](repeating: 0, count: bytes)))
                        })))
        }
        func set(elements: Int, dots count: Int) -> RowState {
            state(.set(SetState(elements: (0..<elements).map { _ in .init(json: [], dots: dots(count)) }, touched: VersionVector())))
        }
        func deleted(_ count: Int) -> RowState { RowState(tombstones: dots(count).map { Tombstone(dot: $0, seen: VersionVector()) }) }
        func columns(_ count: Int) -> RowState {
            RowState(cells: (0..<count).map { .init(column: $0, cell: .counter(CounterState())) })
        }
        let concurrent = WireLimits.concurrentMax
        for fits in [
            register(concurrent), register(1, bytes: WireLimits.valueBytesMax), set(elements: WireLimits.setElementsMax, dots: 1),
            set(elements: 1, dots: concurrent), deleted(concurrent), columns(WireLimits.columnsMax),
        ] { #expect(fits.exceededLimit == nil) }
        #expect(register(concurrent + 1).exceededLimit == "concurrentMax")
        #expect(register(1, bytes: WireLimits.valueBytesMax + 1).exceededLimit == "valueBytesMax")
        #expect(set(elements: WireLimits.setElementsMax + 1, dots: 1).exceededLimit == "setElementsMax")
        #expect(set(elements: 1, dots: concurrent + 1).exceededLimit == "concurrentMax")
        #expect(deleted(concurrent + 1).exceededLimit == "concurrentMax")
        #expect(columns(WireLimits.columnsMax + 1).exceededLimit == "columnsMax")
        #expect(set(elements: 600, dots: concurrent).exceededLimit == "entriesMax")
    }
}
