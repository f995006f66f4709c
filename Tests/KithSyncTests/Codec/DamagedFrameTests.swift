import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: bytes from the network crash the node, or make it allocate what it was never sent.
@Suite struct DamagedFrameTests {
    @Test func `every frame comes back from its bytes`() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<300 {
            let frame = FrameSamples.random(using: &random)
            #expect(try FrameCodec.decode(FrameCodec.encode(frame)) == frame)
        }
    }

    @Test(arguments: FrameSamples.golden.map(\.name)) func `a frame cut off at any byte is refused`(name: String) throws {
        let bytes = try #require(GoldenVectorTests.bytes(named: name))
        for length in 0..<bytes.count {
            #expect(throws: WireError.self) { try FrameCodec.decode(Array(bytes.prefix(length))) }
        }
    }

    @Test(arguments: FrameSamples.golden.map(\.name)) func `bytes after the known fields are skipped`(name: String) throws {
        let bytes = try #require(GoldenVectorTests.bytes(named: name))
        #expect(try FrameCodec.decode(bytes + [0, 2, 3]) == FrameCodec.decode(bytes))
    }

    @Test func `bytes after the known fields of a row are skipped`() throws {
        var frame = FrameBuilder()
        frame.rows = [FrameBuilder.Row(state: FrameBuilder.emptyState + [9, 9, 9])]
        guard case .slice(let slice, _)? = try FrameCodec.decode(frame.bytes) else {
            Issue.record("not a slice")
            return
        }
        #expect(slice.rows.map(\.state) == [RowState()])
    }

    @Test func `frames of types from 128 on are ignored, unknown ones below are refused`() throws {
        #expect(try FrameCodec.decode([0x80]) == nil)
        #expect(try FrameCodec.decode([0xff, 1, 2, 3]) == nil)
        for type: UInt8 in [0, 11, 0x7f] {
            #expect(throws: WireError.unsupported("frame type \(type)")) { try FrameCodec.decode([type, 0]) }
        }
    }

    @Test(arguments: 0..<UInt64(Soak.count(30, soaking: 100))) func `a damaged frame is refused or read as another one, and never crashes`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var bytes = FrameCodec.encode(FrameSamples.random(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) { bytes.damage(&random) }
            guard let frame = try? FrameCodec.decode(bytes) else { continue }
            // What was read is within the rules: it can be written, and reads back the same.
            #expect(try FrameCodec.decode(FrameCodec.encode(frame)) == frame)
        }
    }

    @Test func `a count that the bytes cannot hold is refused before anything is allocated`() {
        let huge: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        // Type, no replicas; then the fields up to each count.
        let vector: [UInt8] = [0], clock = [UInt8](repeating: 0, count: 8)
        let prefixes: [[UInt8]] = [
            [2], [2, 0], [2, 0] + vector, [2, 0] + vector + vector,
            [2, 0] + vector + vector + [0] + clock + [3, 0],
            [2, 0] + vector + vector + [0] + clock + [3, 0, 0],
            [2, 0] + vector + vector + [0] + clock + [3, 0, 1, 0],
            [4, 0, 0], [7, 0, 1],
        ]
        for prefix in prefixes {
            #expect(throws: WireError.self) { try FrameCodec.decode(prefix + huge) }
        }
    }

    @Test func `a number past 64 bits is refused`() throws {
        var reader = ByteReader([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02])
        #expect(throws: WireError.malformed("number past 64 bits")) { try reader.varint() }
        var longest = ByteReader([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])
        #expect(try longest.varint() == .max)
    }

    @Test func `signed numbers of every size survive`() throws {
        for value: Int64 in [0, -1, 1, 63, 64, -64, -65, .max, .min] {
            var writer = ByteWriter()
            writer.signed(value)
            var reader = ByteReader(writer.bytes)
            #expect(try reader.signed() == value)
            #expect(reader.isAtEnd)
        }
    }

    @Test func `a number that is none is NULL, as SQLite keeps it`() throws {
        for (number, expected) in [(Double.nan, ColumnValue.null), (-.nan, .null), (.infinity, .real(.infinity)), (-0.5, .real(-0.5))] {
            var writer = ByteWriter()
            writer.value(.real(number))
            var reader = ByteReader(writer.bytes)
            #expect(try reader.value() == expected)
        }
    }
}
