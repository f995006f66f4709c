import KithCausality
import KithSync
import Testing

/// Risk: a text's changes are altered on the way, or bytes that no store writes get in.
@Suite struct TextCellTests {
    private static let columns = [ColumnKey("body", .text)]

    private func stamp(_ sequence: UInt64, _ replica: ReplicaID = FrameSamples.a) -> Stamp {
        Stamp(dot: Dot(replica: replica, sequence: sequence), timestamp: FrameSamples.time)
    }

    private func change(_ sequence: UInt64, _ parents: [Dot], replaced: Int? = nil) -> TextState.Change {
        TextState.Change(stamp: stamp(sequence), parents: parents, replacedScalars: replaced, steps: [2, 0], inserted: [65])
    }

    private func row(_ text: TextState) -> RowState {
        RowState(cells: [.init(column: 0, cell: .text(text))])
    }

    private func encoded(_ text: TextState, shown: RowStateCodec.ShownValues = .inline) -> ([UInt8], ReplicaTable) {
        var replicas = ReplicaTable()
        var writer = ByteWriter()
        RowStateCodec.encode(row(text), shown: shown, to: &writer, &replicas)
        return (writer.bytes, replicas)
    }

    private func decoded(
        _ bytes: [UInt8], _ replicas: ReplicaTable, shown: RowStateCodec.ShownValues = .inline
    ) throws(WireError) -> TextState? {
        var reader = ByteReader(bytes)
        let state = try RowStateCodec.decode(&reader, shown: shown, replicas) { _ in .text }
        if case .text(let text)? = state[0] { return text } else { return nil }
    }

    private func refusal(_ text: TextState) -> WireError? {
        let (bytes, replicas) = encoded(text)
        do {
            _ = try decoded(bytes, replicas)
            return nil
        } catch {
            return error
        }
    }

    private var sample: TextState {
        let (one, two) = (stamp(1).dot, stamp(2).dot)
        let other = stamp(3, FrameSamples.b).dot
        return TextState(
            touched: VersionVector([two, other]), present: [two, other].sorted(),
            changes: [
                change(1, []), change(2, [one], replaced: 0),
                TextState.Change(stamp: stamp(3, FrameSamples.b), parents: [one], steps: [3, 0], inserted: []),
            ])
    }

    @Test func `a text cell comes out as it went in, also in records`() throws {
        let (bytes, replicas) = encoded(sample)
        #expect(try decoded(bytes, replicas) == sample)
        #expect(row(sample).sliceBytesBound >= bytes.count)
        for past in [TextState.Past.none, .one(stamp(2)), .kept] {
            for text in [nil, [], Array("text".utf8)] {
                var record = sample
                record.changes = []
                (record.past, record.text) = (past, text)
                let (bytes, replicas) = encoded(record, shown: .inTable)
                #expect(try decoded(bytes, replicas, shown: .inTable) == record)
            }
        }
    }

    @Test func `a record of a change comes out as it went in`() throws {
        for change in sample.changes {
            var replicas = ReplicaTable()
            let bytes = change.record(&replicas)
            #expect(try TextState.Change(record: bytes, replicas) == change)
        }
    }

    @Test func `bytes cut anywhere or with any bit turned never trap`() {
        let (bytes, replicas) = encoded(sample)
        for length in bytes.indices {
            #expect(throws: WireError.self) { try decoded(Array(bytes[..<length]), replicas) }
        }
        for position in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[position] ^= 1 << UInt8(bit)
                _ = try? decoded(damaged, replicas)
            }
        }
    }

    @Test func `changes and marks must be of commits that touched the cell`() {
        var text = sample
        text.present = [stamp(9).dot]
        #expect(refusal(text) == .malformed("text without its commit"))
        text = sample
        text.changes.append(change(9, []))
        #expect(refusal(text) == .malformed("text change without its commit"))
        text = sample
        text.changes[0].parents = [text.changes[0].stamp.dot]
        #expect(refusal(text) == .malformed("text change that is its own parent"))
        text = sample
        text.changes[1].parents = [stamp(2, FrameSamples.b).dot, stamp(1).dot].sorted().reversed()
        #expect(refusal(text) == .malformed("dots out of order"))
    }

    @Test func `a change has at most as many parents as a text can have current versions`() {
        let limit = WireLimits.textParentsMax
        for (count, expected) in [(limit, nil), (limit + 1, WireError.limitExceeded("textParentsMax"))] {
            let dots = (1...count).map { stamp(UInt64($0)).dot }
            let touched = VersionVector([stamp(UInt64(count + 1)).dot])
            let parents = TextState(touched: touched, changes: [change(UInt64(count + 1), dots)])
            #expect(refusal(parents) == expected)
            #expect(row(parents).exceededLimit == (expected == nil ? nil : "textParentsMax"))
        }
    }

    @Test func `a cell has at most concurrentMax marks`() {
        let limit = WireLimits.concurrentMax
        for (count, expected) in [(limit, nil), (limit + 1, WireError.limitExceeded("concurrentMax"))] {
            let dots = (1...count).map { stamp(UInt64($0)).dot }
            let touched = VersionVector([stamp(UInt64(count + 1)).dot])
            let marks = TextState(touched: touched, present: dots)
            #expect(refusal(marks) == expected)
            #expect(row(marks).exceededLimit == (expected == nil ? nil : "concurrentMax"))
        }
    }

    @Test func `a text has at most textChangesMax changes in a slice`() {
        let one = change(1, [])
        let full = TextState(
            touched: VersionVector([one.stamp.dot]), changes: [TextState.Change](repeating: one, count: WireLimits.textChangesMax))
        #expect(refusal(full) == nil)
        #expect(row(full).exceededLimit == nil)
        var more = full
        more.changes.append(one)
        #expect(refusal(more) == .limitExceeded("textChangesMax"))
        #expect(row(more).exceededLimit == "textChangesMax")
    }

    @Test func `the rows of a slice have at most textChangesMax changes of texts together`() throws {
        let one = change(1, [])
        let half = TextState(
            touched: VersionVector([one.stamp.dot]), changes: [TextState.Change](repeating: one, count: WireLimits.textChangesMax / 2))
        for extra in 0...1 {
            var other = half
            other.changes += [TextState.Change](repeating: one, count: extra)
            let rows = [half, other].enumerated().map { number, text in
                RowPart(table: 0, id: RowID(high: 0, low: UInt64(number)), state: RowState(cells: [.init(column: 0, cell: .text(text))]))
            }
            let slice = Slice(
                since: VersionVector(), vector: VersionVector([one.stamp.dot]),
                target: [Head(dot: one.stamp.dot, timestamp: one.stamp.timestamp)],
                clock: one.stamp.timestamp, isFirst: true, isLast: true, position: nil, rowsRemaining: 0,
                tables: [TableSchema(name: Array("page".utf8), columns: [ColumnKey("body", .text)])], rows: rows)
            let bytes = FrameCodec.encode(.slice(slice, alsoSentTo: []))
            if extra == 0 {
                #expect(throws: Never.self) { try FrameCodec.decode(bytes) }
            } else {
                #expect(throws: WireError.limitExceeded("textChangesMax")) { try FrameCodec.decode(bytes) }
            }
        }
    }

    @Test func `merging texts commutes, associates, and twice is once`() {
        func part(_ sequence: UInt64, _ replica: ReplicaID) -> RowState {
            let stamp = stamp(sequence, replica)
            return row(
                TextState(
                    touched: VersionVector([stamp.dot]), present: [stamp.dot],
                    changes: [TextState.Change(stamp: stamp, parents: [], steps: [2, 0], inserted: [65])]))
        }
        func merged(_ parts: [RowState]) -> TextState? {
            var row = RowState()
            var vector = VersionVector()
            for part in parts {
                let theirs = VersionVector(part.cellDots)
                row.merge(part, knowing: vector, theirs: theirs)
                vector.join(theirs)
            }
            guard case .text(var text)? = row[0] else { return nil }
            text.changes.sort { $0.stamp.dot < $1.stamp.dot }
            return text
        }
        let (a, b) = (part(1, FrameSamples.a), part(1, FrameSamples.b))
        #expect(merged([a, b]) == merged([b, a]))
        #expect(merged([a, b, a]) == merged([a, b]))
        #expect(merged([a, b])?.present.count == 2)
        // A NULL that has seen one of two texts takes away that one only.
        let null = row(TextState(touched: VersionVector([stamp(2).dot]), present: []))
        var state = RowState()
        state.merge(a, knowing: VersionVector(), theirs: VersionVector(a.cellDots))
        state.merge(b, knowing: VersionVector(a.cellDots), theirs: VersionVector(b.cellDots))
        state.merge(null, knowing: VersionVector(state.cellDots), theirs: VersionVector([stamp(2).dot]))
        if case .text(let text)? = state[0] { #expect(text.present == b.cellDots) }
    }
}
