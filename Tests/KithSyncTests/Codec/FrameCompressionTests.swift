import KithCausality
import KithSync
import TestSupport
import Testing

@Suite("A compressed frame comes back as another one, takes the memory of a large one, or crashes who gets it")
struct FrameCompressionTests {
    private let limit = WireLimits.compressionBytesMax

    /// What a member of a group of `count` says when it has heard of one commit more.
    private func acknowledgement(_ number: UInt64, of count: UInt64) -> [UInt8] {
        let durable = VersionVector(
            (1...count).map { Dot(replica: ReplicaID(high: $0 &* 0x9E37_79B9_7F4A_7C15, low: $0), sequence: 1 + (number + $0) / count) })
        return FrameCodec.encode(.acknowledge(Acknowledgement(slices: number, durable: durable)))
    }

    private func frame(ofType type: UInt8 = 7, bytes count: Int) -> [UInt8] {
        [type] + [UInt8](repeating: 1, count: count - 1)
    }

    /// What `compressed` is sent as by somebody who follows no rule.
    private func forged(count: UInt64, _ deflated: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(0xB0)
        writer.varint(count)
        writer.raw(deflated)
        return writer.bytes
    }

    @Test(arguments: 0..<20) func `all kinds of frames come back, in the order in which they were sent`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var (sender, receiver) = (FrameCompression(), FrameCompression())
        var (plain, sent) = (0, 0)
        for number in 0..<200 {
            let frame =
                switch random.next() % 4 {
                case 0: acknowledgement(UInt64(number), of: 64)
                case 1: frame(ofType: random.next() % 2 == 0 ? 2 : 0x9A, bytes: Int.random(in: 1...2 * limit, using: &random))
                default: FrameCodec.encode(FrameSamples.random(using: &random))
                }
            let bytes = sender.compress(frame, isUnderstood: number > 10)
            #expect(number > 10 || bytes == frame)
            #expect(bytes.count <= frame.count)
            #expect(try receiver.decompress(bytes) == frame)
            plain += frame.count
            sent += bytes.count
        }
        #expect(sent < plain)
    }

    @Test func `what has not changed of a vector costs little`() {
        var sender = FrameCompression()
        let sizes = (0..<100).map { sender.compress(acknowledgement($0, of: 64), isUnderstood: true).count }
        #expect(sizes[0] > 500)
        #expect(sizes.dropFirst().allSatisfy { $0 < 64 }, "\(sizes)")
    }

    @Test func `a frame of the largest size is compressed, one past it travels as it is, and so does a small one`() throws {
        for (count, isCompressed) in [
            (limit, true), (limit + 1, false), (WireLimits.compressionBytesMin, true), (WireLimits.compressionBytesMin - 1, false),
        ] {
            var (sender, receiver) = (FrameCompression(), FrameCompression())
            let bytes = sender.compress(frame(bytes: count), isUnderstood: true)
            #expect((bytes.first == 0xB0) == isCompressed)
            #expect(try receiver.decompress(bytes) == frame(bytes: count))
        }
    }

    @Test func `what promises more than a frame may have, or gives another one than it promised, is refused`() throws {
        var sender = FrameCompression()
        let good = sender.compress(frame(bytes: 1_000), isUnderstood: true)
        let deflated = Array(good.dropFirst(3))
        #expect(try decompress(forged(count: 1_000, deflated)) == frame(bytes: 1_000))
        #expect(throws: WireError.limitExceeded("compressionBytesMax")) { try decompress(forged(count: UInt64(limit) + 1, deflated)) }
        #expect(throws: WireError.limitExceeded("compressionBytesMax")) { try decompress(forged(count: .max, deflated)) }
        for count: UInt64 in [0, 1, 999, 1_001, UInt64(limit)] {
            #expect(throws: WireError.malformed("compressed frame")) { try decompress(forged(count: count, deflated)) }
        }
        #expect(throws: WireError.malformed("compressed frame")) { try decompress(forged(count: 1_000, deflated + [0])) }
        for length in 0..<good.count {
            #expect(throws: WireError.self) { try decompress(length == 0 ? [0xB0] : Array(good.prefix(length))) }
        }
    }

    @Test(arguments: [0xB0, 0x9A, 0xA0] as [UInt8]) func `a compressed frame holds none of another kind`(type: UInt8) throws {
        // Behind a compressed frame that differs in the type alone.
        var (sender, receiver) = (FrameCompression(), FrameCompression())
        _ = try receiver.decompress(sender.compress(frame(bytes: 600), isUnderstood: true))
        let stored: [UInt8] = [1, 88, 2, 167, 253] + frame(ofType: type, bytes: 600)
        #expect(throws: WireError.malformed("compressed frame of another kind")) { try receiver.decompress(forged(count: 600, stored)) }
        let allowed: [UInt8] = [1, 88, 2, 167, 253] + frame(ofType: 144, bytes: 600)
        #expect(try decompress(forged(count: 600, allowed)) == frame(ofType: 144, bytes: 600))
    }

    @Test(arguments: 0..<50) func `damaged bytes are refused or give another frame of the size promised`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var (sender, receiver) = (FrameCompression(), FrameCompression())
        for number in 0..<50 {
            var bytes = sender.compress(acknowledgement(UInt64(number), of: 64), isUnderstood: true)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            let frame = try? receiver.decompress(bytes)
            #expect((frame ?? []).count <= max(limit, bytes.count))
        }
    }

    private func decompress(_ bytes: [UInt8]) throws -> [UInt8] {
        var receiver = FrameCompression()
        return try receiver.decompress(bytes)
    }
}
