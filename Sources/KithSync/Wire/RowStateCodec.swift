import KithCausality

/// How a row's state stands in bytes: the distinct stamps of its registers, then its cells, then its tombstones.
///
/// A row that one commit wrote whole names its stamp once. See docs/protocol.md, "Row".
package enum RowStateCodec {
    /// Where the value that a register shows is found.
    package enum ShownValues: Sendable {
        /// In the bytes, as on the wire.
        case inline
        /// In the bytes, in a store's own record of a row that the user's table does not have.
        case inRecord
        /// In the user's table, as in a store's own records of visible rows; read back as NULL.
        case inTable
    }

    /// - Parameter isInTable: with `.inTable`, whether the table has a column; others keep what they show in the bytes.
    package static func encode(
        _ row: RowState, shown: ShownValues, isInTable: (Int) -> Bool = { _ in true }, to writer: inout ByteWriter,
        _ replicas: inout ReplicaTable
    ) {
        let stamps = StampTable(row)
        writer.count(stamps.stamps.count)
        for stamp in stamps.stamps { writer.stamp(stamp, &replicas) }
        writer.count(row.cells.count)
        for entry in row.cells {
            writer.count(entry.column)
            switch entry.cell {
            case .register(let state):
                let shown = shown == .inTable && isInTable(entry.column) ? shown : .inline
                encode(state, stamps: stamps, shown: shown, to: &writer)
            case .set(let state): encode(state, to: &writer, &replicas)
            case .counter(let state): encode(state, to: &writer, &replicas)
            case .text(let state):
                TextStateCodec.encode(state, inRecord: shown != .inline, to: &writer, &replicas)
            }
        }
        writer.count(row.tombstones.count)
        for tombstone in row.tombstones {
            writer.dot(tombstone.dot, &replicas)
            writer.vector(tombstone.seen, &replicas)
        }
        writer.vector(row.context, &replicas)
    }

    /// - Parameter kind: the kind of a column; `nil` refuses the column's number.
    package static func decode(
        _ reader: inout ByteReader, shown: ShownValues, _ replicas: ReplicaTable, kind: (Int) -> ColumnKind?
    ) throws(WireError) -> RowState {
        let stampCount = try reader.count(eachBytes: 10, "stamps")
        var stamps: [Stamp] = []
        stamps.reserveCapacity(stampCount)
        for _ in 0..<stampCount { stamps.append(try reader.commit(replicas)) }

        let cellCount = try reader.count(eachBytes: 2, limit: WireLimits.columnsMax, "columnsMax")
        var cells: [RowState.Entry] = []
        cells.reserveCapacity(cellCount)
        for _ in 0..<cellCount {
            let column = try reader.index(below: Int(Int32.max), "column")
            if let last = cells.last, last.column >= column { throw .malformed("columns out of order") }
            guard let kind = kind(column) else { throw .malformed("unknown column number") }
            let cell: Cell =
                switch kind {
                case .register: .register(try register(&reader, stamps: stamps, shown: shown))
                case .set: .set(try set(&reader, replicas))
                case .counter: .counter(try counter(&reader, replicas))
                case .text: .text(try TextStateCodec.decode(&reader, inRecord: shown != .inline, replicas))
                }
            cells.append(RowState.Entry(column: column, cell: cell))
        }

        let tombstoneCount = try reader.count(eachBytes: 3, limit: WireLimits.concurrentMax, "concurrentMax")
        var tombstones: [Tombstone] = []
        for _ in 0..<tombstoneCount {
            let dot = try reader.dot(replicas)
            if let last = tombstones.last, last.dot >= dot { throw .malformed("tombstones out of order") }
            if dot.replica == .nobody { throw .malformed("commit of nobody") }
            tombstones.append(Tombstone(dot: dot, seen: try reader.vector(replicas)))
        }
        return RowState(cells: cells, tombstones: tombstones, context: try reader.vector(replicas))
    }
}

// MARK: - Registers

extension RowStateCodec {
    private static func encode(
        _ state: RegisterState, stamps: StampTable, shown: ShownValues, to writer: inout ByteWriter
    ) {
        writer.count(state.writes.count << 1 | (state.replaced.isEmpty ? 0 : 1))
        let elsewhere = shown == .inTable ? state.shown?.stamp.dot : nil
        for write in state.writes {
            writer.count(stamps.number(of: write.stamp) ?? 0)
            if write.stamp.dot == elsewhere { writer.byte(ValueTag.elsewhere) } else { writer.value(write.value) }
        }
        if !state.replaced.isEmpty { writer.contents(state.replaced) }
    }

    private static func register(
        _ reader: inout ByteReader, stamps: [Stamp], shown: ShownValues
    ) throws(WireError) -> RegisterState {
        let (count, flags) = try reader.count(flagBits: 1, eachBytes: 2, limit: WireLimits.concurrentMax, "concurrentMax")
        var writes: [Write] = []
        writes.reserveCapacity(count)
        for _ in 0..<count {
            let stamp = stamps[try reader.index(below: stamps.count, "stamp")]
            if let last = writes.last, last.stamp.dot >= stamp.dot { throw .malformed("writes out of order") }
            let tag = try reader.byte()
            if let value = try reader.value(tag: tag) {
                writes.append(Write(stamp: stamp, value: value))
            } else if tag == ValueTag.elsewhere, shown == .inTable {
                writes.append(Write(stamp: stamp, value: .null))
            } else {
                throw .malformed("value of unknown type")
            }
        }
        return RegisterState(writes: writes, replaced: flags == 0 ? ContentSet() : try reader.contents())
    }
}

// MARK: - Sets and counters

extension RowStateCodec {
    private static func encode(_ state: SetState, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.vector(state.touched, &replicas)
        let (isAdopted, hasRemoved) = (!state.adopters.isEmpty, !state.removed.isEmpty)
        writer.count(state.elements.count << 2 | (isAdopted ? SetFlag.adopted : 0) | (hasRemoved ? SetFlag.removed : 0))
        for element in state.elements {
            writer.blob(element.json)
            writer.count(element.dots.count)
            for dot in element.dots { writer.dot(dot, &replicas) }
        }
        if isAdopted {
            writer.vector(state.adopters, &replicas)
            writer.count(state.adopted.count)
            for json in state.adopted { writer.blob(json) }
        }
        if hasRemoved { writer.contents(state.removed) }
    }

    private enum SetFlag {
        static let adopted = 1
        static let removed = 2
    }

    private enum CounterFlag {
        static let isBorn = 1
        static let adopted = 2
    }

    private static func set(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> SetState {
        let touched = try reader.vector(replicas)
        let (count, flags) = try reader.count(flagBits: 2, eachBytes: 4, limit: WireLimits.setElementsMax, "setElementsMax")
        var elements: [SetState.Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            let json = try reader.blob(limit: WireLimits.valueBytesMax, "valueBytesMax")
            if let last = elements.last, !last.json.lexicographicallyPrecedes(json) {
                throw .malformed("set elements out of order")
            }
            let dotCount = try reader.count(eachBytes: 2, limit: WireLimits.concurrentMax, "concurrentMax")
            var dots: [Dot] = []
            for _ in 0..<dotCount {
                let dot = try reader.dot(replicas)
                if let last = dots.last, last >= dot { throw .malformed("dots out of order") }
                dots.append(dot)
            }
            guard !dots.isEmpty, dots.allSatisfy(touched.covers) else { throw .malformed("set element without its commit") }
            elements.append(SetState.Element(json: json, dots: dots))
        }
        var state = SetState(elements: elements, touched: touched)
        if flags & UInt64(SetFlag.adopted) != 0 { try adopted(&reader, replicas, into: &state) }
        if flags & UInt64(SetFlag.removed) != 0 { state.removed = try reader.contents() }
        return state
    }

    private static func adopted(_ reader: inout ByteReader, _ replicas: ReplicaTable, into state: inout SetState) throws(WireError) {
        state.adopters = try reader.vector(replicas)
        let count = try reader.count(limit: WireLimits.setElementsMax, "setElementsMax")
        for _ in 0..<count {
            let json = try reader.blob(limit: WireLimits.valueBytesMax, "valueBytesMax")
            if let last = state.adopted.last, !last.lexicographicallyPrecedes(json) { throw .malformed("set elements out of order") }
            state.adopted.append(json)
        }
        if state.adopters.isEmpty { throw .malformed("adopted elements without their commit") }
    }

    private static func encode(_ state: CounterState, to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        let isAdopted = !state.bases.isEmpty || !state.replaced.isEmpty
        writer.count(
            state.totals.count << 2 | (state.isBorn ? CounterFlag.isBorn : 0) | (isAdopted ? CounterFlag.adopted : 0))
        for total in state.totals {
            writer.dot(total.dot, &replicas)
            writer.signed(total.amount)
        }
        guard isAdopted else { return }
        writer.count(state.bases.count)
        for base in state.bases {
            writer.stamp(base.stamp, &replicas)
            writer.signed(base.amount)
        }
        writer.contents(state.replaced)
    }

    private static func counter(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> CounterState {
        let (count, flags) = try reader.count(flagBits: 2, eachBytes: 3, limit: WireLimits.replicasMax, "replicasMax")
        var totals: [CounterState.Total] = []
        for _ in 0..<count {
            let dot = try reader.dot(replicas)
            if let last = totals.last, last.dot.replica >= dot.replica { throw .malformed("totals out of order") }
            if dot.replica == .nobody { throw .malformed("commit of nobody") }
            totals.append(CounterState.Total(dot: dot, amount: try reader.signed()))
        }
        var state = CounterState(totals: totals, isBorn: flags & UInt64(CounterFlag.isBorn) != 0)
        if flags & UInt64(CounterFlag.adopted) != 0 {
            state.bases = try bases(&reader, replicas)
            state.replaced = try reader.contents()
        }
        return state
    }

    private static func bases(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> [CounterState.Base] {
        let count = try reader.count(eachBytes: 11, limit: WireLimits.replicasMax, "replicasMax")
        var bases: [CounterState.Base] = []
        for _ in 0..<count {
            let stamp = try reader.commit(replicas)
            if let last = bases.last, last.stamp.dot >= stamp.dot { throw .malformed("adopted values out of order") }
            guard stamp.isAdopted else { throw .malformed("adopted value that is none") }
            bases.append(CounterState.Base(stamp: stamp, amount: try reader.signed()))
        }
        return bases
    }
}
