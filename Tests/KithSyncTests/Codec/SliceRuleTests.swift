import KithCausality
import KithSync
import Testing

/// Risk: a slice that breaks a rule reaches the store, which relies on it.
@Suite struct SliceRuleTests {
    private func rows(_ numbers: (table: UInt64, id: UInt64)...) -> [FrameBuilder.Row] {
        numbers.map { FrameBuilder.Row(table: $0.table, id: RowID(high: 0, low: $0.id)) }
    }

    private let twoTables = [TableSchema(name: Array("b".utf8), columns: []), TableSchema(name: Array("a".utf8), columns: [])]

    @Test func `rows stand in the order of table names, then of ids, whatever the order of the tables`() {
        #expect(FrameBuilder(tables: twoTables, rows: rows((1, 1), (1, 2), (0, 1))).refusal == nil)
        for wrong in [rows((0, 1), (1, 1)), rows((1, 2), (1, 1)), rows((1, 1), (1, 1))] {
            #expect(FrameBuilder(tables: twoTables, rows: wrong).refusal == .malformed("rows out of order"))
        }
    }

    @Test func `a row stands in a table of the slice, its cells in that table's columns`() {
        #expect(FrameBuilder(rows: rows((0, 1))).refusal == nil)
        #expect(FrameBuilder(rows: rows((1, 1))).refusal == .malformed("table number out of range"))
        // One stamp (replica 0, sequence 1, time 0), one cell in column 0 or 1 with one write of NULL.
        let stamp: [UInt8] = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        func frame(column: UInt8) -> FrameBuilder {
            FrameBuilder(vector: [(0, 1)], rows: [FrameBuilder.Row(state: stamp + [1, column, 2, 0, 0] + [0, 0])])
        }
        #expect(frame(column: 0).refusal == nil)
        #expect(frame(column: 1).refusal == .malformed("unknown column number"))
    }

    @Test func `what lives in a row its sender knows`() throws {
        let refusal = WireError.malformed("row with a commit that its sender does not know")
        let stamp: [UInt8] = [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]
        // A write, an element, a total, a deletion by the second commit of the first replica.
        let states: [[UInt8]] = [
            stamp + [1, 0, 2, 0, 0] + [0],
            [0, 1, 1] + [1, 0, 2] + [4, 1, 7, 1, 0, 2] + [0],
            [0, 1, 2] + [4, 0, 2, 2] + [0],
            [0, 0] + [1, 0, 2, 0],
        ]
        let columns = [ColumnKey("r", .register), ColumnKey("s", .set), ColumnKey("c", .counter)]
        for state in states {
            func frame(vector: [(UInt64, UInt64)], context: [UInt8]) -> FrameBuilder {
                FrameBuilder(
                    vector: vector, tables: [TableSchema(name: Array("t".utf8), columns: columns)],
                    rows: [FrameBuilder.Row(state: state + context)])
            }
            #expect(frame(vector: [(0, 2)], context: [0]).refusal == nil, "\(state)")
            #expect(frame(vector: [(0, 1), (1, 9)], context: [1, 0, 2]).refusal == nil, "\(state)")
            #expect(frame(vector: [(0, 1), (1, 9)], context: [0]).refusal == refusal, "\(state)")
            #expect(frame(vector: [(0, 1)], context: [1, 1, 2]).refusal == refusal, "\(state)")
        }
    }

    @Test func `a value that says it stands elsewhere is refused`() {
        let stamp: [UInt8] = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        let frame = FrameBuilder(rows: [FrameBuilder.Row(state: stamp + [1, 0, 2, 0, 5] + [0, 0])])
        #expect(frame.refusal == .malformed("value of unknown type"))
    }

    @Test func `what a row lists is sorted and named once`() {
        let columns = [ColumnKey("r", .register), ColumnKey("s", .set), ColumnKey("c", .counter)]
        let stamp: [UInt8] = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        for (state, refusal) in [
            (stamp + [1, 0, 4, 0, 0, 0, 0] + [0, 0], "writes out of order"),
            ([0, 1, 1] + [1, 0, 1] + [8, 1, 7, 1, 0, 1, 1, 7, 1, 0, 1] + [0, 0], "set elements out of order"),
            ([0, 1, 1] + [1, 0, 1] + [4, 1, 7, 2, 0, 1, 0, 1] + [0, 0], "dots out of order"),
            ([0, 1, 1] + [1, 0, 1] + [4, 1, 7, 1, 0, 2] + [0, 0], "set element without its commit"),
            ([0, 1, 2] + [8, 0, 1, 0, 0, 2, 0] + [0, 0], "totals out of order"),
            ([0, 1, 2] + [2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1] + [0, 0], "adopted value that is none"),
            ([0, 1, 1] + [0, 1, 0, 1, 1, 7] + [0, 0], "adopted elements without their commit"),
            (stamp + [1, 0, 3, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9] + [0, 0], "contents out of order"),
            ([0, 2, 0, 0, 0, 0] + [0, 0], "columns out of order"),
            ([0, 0] + [2, 0, 1, 0, 0, 1, 0] + [0], "tombstones out of order"),
        ] as [([UInt8], String)] {
            let frame = FrameBuilder(tables: [TableSchema(name: [1], columns: columns)], rows: [FrameBuilder.Row(state: state)])
            #expect(frame.refusal == .malformed(refusal))
        }
    }

    @Test func `a table is named once, and a column once in its table`() {
        let table = TableSchema(name: [1], columns: [])
        #expect(FrameBuilder(tables: [table, table]).refusal == .malformed("table named twice"))
        let twice = [ColumnKey("x", .register), ColumnKey("x", .register)]
        #expect(FrameBuilder(tables: [TableSchema(name: [1], columns: twice)]).refusal == .malformed("column named twice"))
        let otherKind = [ColumnKey("x", .register), ColumnKey("x", .set)]
        #expect(FrameBuilder(tables: [TableSchema(name: [1], columns: otherKind)]).refusal == nil)
    }

    @Test func `a replica is named once`() {
        #expect(FrameBuilder(replicas: [FrameSamples.a, FrameSamples.a]).refusal == .malformed("replica named twice"))
    }

    @Test func `a vector is sorted by replica`() {
        #expect(FrameBuilder(vector: [(0, 1), (1, 1)]).refusal == nil)
        #expect(FrameBuilder(vector: [(1, 1), (0, 1)]).refusal == .malformed("vector out of order"))
        #expect(FrameBuilder(vector: [(0, 1), (0, 1)]).refusal == .malformed("vector out of order"))
        #expect(FrameBuilder(vector: [(2, 1)]).refusal == .malformed("replica number out of range"))
    }

    @Test func `a sender promises no more than it knows`() {
        #expect(FrameBuilder(vector: [(0, 2)], target: [(0, 2, .zero)]).refusal == nil)
        #expect(FrameBuilder(vector: [(0, 2)], target: [(0, 3, .zero)]).refusal == .malformed("target past the sender's vector"))
        #expect(
            FrameBuilder(vector: [(0, 1), (1, 1)], target: [(1, 1, .zero), (0, 1, .zero)]).refusal
                == .malformed("heads out of order"))
    }

    @Test func `the position is not before the last row`() {
        func position(_ id: UInt64) -> [UInt8] {
            var writer = ByteWriter()
            writer.byte(2)
            writer.blob(Array("t".utf8))
            writer.identifier(RowID(high: 0, low: id))
            return writer.bytes
        }
        #expect(FrameBuilder(rows: rows((0, 5)), position: position(5)).refusal == nil)
        #expect(FrameBuilder(rows: rows((0, 5)), position: position(4)).refusal == .malformed("position before the last row"))
        #expect(FrameBuilder(rows: rows((0, 5)), position: [0]).refusal == .malformed("position"))
        #expect(FrameBuilder(position: [1]).refusal == .malformed("position"))
        #expect(FrameBuilder(position: [3]).refusal == .malformed("position"))
    }

    @Test func `each table says which of its columns are incomplete, if the flag is there, and none twice`() throws {
        var frame = FrameBuilder(tables: twoTables)
        frame.flags |= 8
        #expect(frame.refusal == .truncated)
        frame.ending = [0]
        #expect(frame.refusal == .truncated)
        frame.ending = [0, 1, 4, 1, 0x78]
        #expect(frame.refusal == .unsupported("kind of column"))
        frame.ending = [0, 2, 1, 1, 0x78, 1, 1, 0x78]
        #expect(frame.refusal == .malformed("column named twice"))
        frame.ending = [0, 2, 1, 1, 0x78, 0, 1, 0x78]
        guard case .slice(let slice, _) = try FrameCodec.decode(frame.bytes) else { throw WireError.malformed("frame") }
        #expect(slice.tables.map(\.incomplete) == [[], [ColumnKey("x", .set), ColumnKey("x", .register)]])
        frame.flags &= ~8
        guard case .slice(let ignorant, _) = try FrameCodec.decode(frame.bytes) else { throw WireError.malformed("frame") }
        #expect(ignorant.tables == twoTables)
    }

    @Test func `a column of an unknown kind is refused`() {
        let bytes = FrameBuilder(tables: [TableSchema(name: Array("t".utf8), columns: [ColumnKey("x", .text)])]).bytes
        let changed = bytes.replacing([1, 0x74, 1, 3, 1, 0x78] as [UInt8], with: [1, 0x74, 1, 4, 1, 0x78])
        #expect(throws: WireError.unsupported("kind of column")) { try FrameCodec.decode(changed) }
    }
}
