import KithSync
import KithTrust
import NIOCore
import TestSupport
import Testing

@testable import KithTransport

/// The risk: bytes from a peer crash the reader, or make it allocate what they promise.
@Suite struct HostileFrameTests {
    private func stream(_ frames: [[UInt8]]) -> [UInt8] {
        frames.flatMap { frame in withUnsafeBytes(of: UInt32(frame.count).bigEndian, Array.init) + frame }
    }

    /// Feeds `bytes` in pieces; returns the frames and the step that ended it.
    private func decode(_ bytes: [UInt8], pieces: () -> Int, limit: Int = 1 << 20) -> ([[UInt8]], FrameDecoder.Step) {
        var decoder = FrameDecoder()
        var frames: [[UInt8]] = []
        var rest = bytes[...]
        var step = FrameDecoder.Step.needsMore
        while !rest.isEmpty {
            var input = ByteBuffer(bytes: rest.prefix(pieces()))
            rest = rest.dropFirst(input.readableBytes)
            while true {
                step = decoder.next(from: &input, limit: limit)
                guard case .frame(let frame) = step else { break }
                frames.append(frame)
            }
            if step != .needsMore { break }
        }
        return (frames, step)
    }

    @Test func `frames are the same however the stream is cut`() {
        var random = SplitMix64(seed: 21)
        for _ in 0..<200 {
            let frames = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                random.bytes(Int.random(in: 1...300, using: &random))
            }
            let (decoded, step) = decode(stream(frames), pieces: { Int.random(in: 1...70, using: &random) })
            #expect(decoded == frames)
            #expect(step == .needsMore)
        }
    }

    @Test func `a frame is read at the limit and refused beyond`() {
        for (length, fits) in [(4096, true), (4097, false)] {
            let frame = [UInt8](repeating: 1, count: length)
            let (frames, step) = decode(stream([frame]), pieces: { 1000 }, limit: 4096)
            #expect(frames == (fits ? [frame] : []))
            #expect(step == (fits ? .needsMore : .overLimit(length)))
        }
    }

    @Test(arguments: [0x0000_1001, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
    func `a length over the limit is refused from its four bytes alone`(length: UInt32) {
        var decoder = FrameDecoder()
        var input = ByteBuffer(integer: length)
        #expect(decoder.next(from: &input, limit: 4096) == .overLimit(Int(length)))
        // Asking again changes nothing; a higher limit does.
        #expect(decoder.next(from: &input, limit: 4096) == .overLimit(Int(length)))
        #expect(decoder.next(from: &input, limit: Int(length)) == .needsMore)
    }

    @Test func `memory follows the bytes that came and not the length promised`() {
        var decoders = [FrameDecoder](repeating: FrameDecoder(), count: 10_000)
        // 10,000 peers promise 16 MiB each: 160 GB, if anybody believed them.
        for index in decoders.indices {
            var input = ByteBuffer(integer: UInt32(16 << 20))
            input.writeInteger(UInt8(1))
            #expect(decoders[index].next(from: &input, limit: 16 << 20) == .needsMore)
            #expect(decoders[index].reservedBytes <= 2 * FrameDecoder.reservedBytesMax)
        }
    }

    @Test func `an empty frame is refused`() {
        #expect(decode([0, 0, 0, 0], pieces: { 4 }).1 == .empty)
    }

    @Test func `a frame that is cut off is never delivered`() {
        let frame = [UInt8](repeating: 3, count: 100)
        for count in 1..<104 {
            let (frames, step) = decode(Array(stream([frame]).prefix(count)), pieces: { 7 })
            #expect(frames.isEmpty)
            #expect(step == .needsMore)
        }
    }

    @Test func `ten thousand malformed streams crash nothing`() {
        var random = SplitMix64(seed: 22)
        for round in 0..<10_000 {
            var bytes = stream((0..<3).map { _ in random.bytes(Int.random(in: 1...50, using: &random)) })
            switch round % 4 {
            case 0: bytes = random.bytes(Int.random(in: 0...200, using: &random))
            case 1: bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            case 2: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            default: bytes.insert(contentsOf: random.bytes(3), at: Int.random(in: 0...bytes.count, using: &random))
            }
            let (frames, _) = decode(bytes, pieces: { Int.random(in: 1...40, using: &random) }, limit: 1000)
            #expect(frames.allSatisfy { (1...1000).contains($0.count) })
            #expect(frames.reduce(0) { $0 + $1.count + 4 } <= bytes.count)
        }
    }

    // MARK: Over a connection

    @Test func `before the hello a frame is read at the limit and refused beyond`() async throws {
        for extra in [0, 1] {
            let pair = try await Pair(raisesFrameLimits: false)
            let limit = TransportConfiguration().initialFrameBytesMax
            try await pair.alice.send([UInt8](repeating: 1, count: limit + extra))
            var frames = pair.bob.frames.makeAsyncIterator()
            if extra == 0 {
                #expect(try await frames.next()?.count == limit)
            } else {
                let error = await #expect(throws: TransportError.self) { try await frames.next() }
                #expect(error?.code == .frameTooLarge)
                #expect(await pair.alice.ending()?.code == .connectionLost)
            }
            await pair.close()
        }
    }

    @Test func `a long frame right behind the hello waits until the limit is raised`() async throws {
        for _ in 0..<20 {
            let pair = try await Pair(raisesFrameLimits: false)
            let long = [UInt8](repeating: 2, count: 100_000)
            for frame in [[1], long, [3]] { try await pair.alice.send(frame) }
            async let closed: Void = pair.alice.close()
            var frames = pair.bob.frames.makeAsyncIterator()
            #expect(try await frames.next() == [1])
            pair.bob.raiseFrameLimit(to: 100_000)
            #expect(try await frames.next() == long)
            #expect(try await frames.next() == [3])
            #expect(try await frames.next() == nil)
            await closed
            await pair.close()
        }
    }

    @Test func `a long frame behind the hello is refused if the limit is not raised`() async throws {
        var configuration = TransportConfiguration()
        configuration.closeTimeoutMilliseconds = 50
        for closes in [true, false] {
            let pair = try await Pair(alice: configuration, raisesFrameLimits: false)
            for frame in [[1], [UInt8](repeating: 2, count: 100_000)] { try await pair.alice.send(frame) }
            // In the first case the frame has come as a whole when it is judged.
            if closes { await pair.alice.close() }
            var frames = pair.bob.frames.makeAsyncIterator()
            #expect(try await frames.next() == [1])
            let error = await #expect(throws: TransportError.self) { try await frames.next() }
            #expect(error?.code == .frameTooLarge)
            await pair.close()
        }
    }

    @Test func `the greatest limit cannot be raised`() async throws {
        var small = TransportConfiguration()
        small.frameBytesMax = 50_000
        for (length, code) in [(50_000, nil), (50_001, TransportError.Code.frameTooLarge)] {
            let pair = try await Pair(bob: small)
            try await pair.alice.send([UInt8](repeating: 1, count: length))
            await pair.alice.close()
            #expect(await pair.bob.ending()?.code == code)
            await pair.close()
        }
    }

    @Test func `frames that cannot be sent are refused at once`() async throws {
        var small = TransportConfiguration()
        small.frameBytesMax = 50_000
        let pair = try await Pair(alice: small)
        for (length, code) in [(0, TransportError.Code.emptyFrame), (50_001, .frameTooLarge)] {
            let error = await #expect(throws: TransportError.self) {
                try await pair.alice.send([UInt8](repeating: 1, count: length))
            }
            #expect(error?.code == code)
        }
        try await pair.alice.send([UInt8](repeating: 1, count: 50_000))
        await pair.alice.close()
        #expect(try await pair.bob.allFrames().map(\.count) == [50_000])
        await pair.close()
    }

    @Test(arguments: [
        ([0, 0, 0, 0], TransportError.Code.emptyFrame), ([0xFF, 0xFF, 0xFF, 0xFF], .frameTooLarge),
        ([0x01, 0x00, 0x00, 0x01], .frameTooLarge), ([0, 0, 0, 9, 1, 2], .truncatedFrame), ([0, 0], .truncatedFrame),
    ])
    func `a trusted peer that sends nonsense is dropped with a reason`(bytes: [UInt8], code: TransportError.Code) async throws {
        let (own, friend) = (DeviceKey(), DeviceKey())
        let transport = try Transport(key: own, admits: { $0 == friend.id })
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        var peer = try TLSPeer(key: friend)
        peer.greeting = [0, 0, 0, 1, 7] + bytes
        peer.closesAfterGreeting = true
        async let answer = peer.dial(port: port)
        var incoming = transport.incoming.makeAsyncIterator()
        let connection = try #require(await incoming.next())
        connection.raiseFrameLimit(to: .max)
        var frames = connection.frames.makeAsyncIterator()
        #expect(try await frames.next() == [7])
        let error = await #expect(throws: TransportError.self) { try await frames.next() }
        #expect(error?.code == code)
        #expect(try await answer.isEmpty)
        await transport.close()
    }
}
