import KithTransport
import KithTrust
import TestSupport
import Testing

/// The risk: a frame is lost, damaged, out of order, or seen by nobody because the connection closed.
@Suite struct LostFrameTests {
    @Test func `frames of all sizes arrive both ways in order`() async throws {
        let pair = try await Pair()
        var random = SplitMix64(seed: 5)
        let sizes = [1, 2, 3, 4, 5, 200, 4095, 4096, 16_384, 65_531, 65_532, 65_533, 65_536, 1_000_000, 3_000_001]
        let frames = sizes.map { random.bytes($0) }
        for (sender, receiver) in [(pair.alice, pair.bob), (pair.bob, pair.alice)] {
            async let received = receiver.take(frames.count)
            for frame in frames { try await sender.send(frame) }
            #expect(try await received == frames)
        }
        await pair.close()
    }

    @Test func `closing delivers what was sent`() async throws {
        for _ in 0..<20 {
            let pair = try await Pair()
            let frames = (0..<50).map { [UInt8](repeating: UInt8($0), count: 10_000) }
            for frame in frames { try await pair.alice.send(frame) }
            await pair.alice.close()
            #expect(try await pair.bob.allFrames() == frames)
            await pair.close()
        }
    }

    @Test func `closing delivers to a reader who comes late`() async throws {
        let pair = try await Pair()
        let frames = (0..<100).map { [UInt8](repeating: UInt8($0), count: 50_000) }
        async let sent: Void = {
            for frame in frames { try await pair.alice.send(frame) }
            await pair.alice.close()
        }()
        // More is on the way than the reader's queue holds.
        try await waitWhile { pair.bob.traffic.bytesReceived < 500_000 }
        #expect(try await pair.bob.allFrames() == frames)
        try await sent
        await pair.close()
    }

    @Test func `the frames of many senders arrive whole and in each ones order`() async throws {
        let pair = try await Pair()
        async let received = pair.bob.allFrames()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in UInt8(0)..<8 {
                group.addTask {
                    for number in UInt8(0)..<100 {
                        try await pair.alice.send([sender, number] + [UInt8](repeating: sender, count: 20_000))
                    }
                }
            }
            try await group.waitForAll()
        }
        await pair.alice.close()
        let frames = try await received
        #expect(frames.count == 800)
        #expect(frames.allSatisfy { $0.dropFirst(2).allSatisfy { [sender = $0[0]] in $0 == sender } })
        for sender in UInt8(0)..<8 {
            #expect(frames.filter { $0[0] == sender }.map { $0[1] } == Array(0..<100))
        }
        await pair.close()
    }

    @Test func `both sides know who is there`() async throws {
        let pair = try await Pair()
        #expect(pair.alice.isInitiator)
        #expect(!pair.bob.isInitiator)
        #expect(pair.alice.peer != pair.bob.peer)
        #expect(pair.alice.remoteAddress == pair.bob.localAddress)
        #expect(pair.alice.localAddress == pair.bob.remoteAddress)
        #expect(pair.alice.remoteAddress?.host == "127.0.0.1")
        await pair.close()
    }

    @Test func `traffic counts frames with their headers`() async throws {
        let pair = try await Pair()
        for _ in 0..<3 { try await pair.alice.send([1, 2, 3]) }
        await pair.alice.close()
        _ = try await pair.bob.allFrames()
        #expect(pair.alice.traffic.bytesSent == 21)
        #expect(pair.bob.traffic.bytesReceived == 21)
        #expect(pair.bob.traffic.framesReceived == 3)
        await pair.close()
    }

    @Test func `after the end everybody is told`() async throws {
        let pair = try await Pair()
        await pair.alice.close(reason: "done here")
        let error = await #expect(throws: TransportError.self) { try await pair.alice.send([1]) }
        #expect(error?.code == .closed)
        #expect(error?.message.contains("done here") == true)
        #expect(await pair.bob.ending() == nil)
        #expect(await pair.bob.ending() == nil)
        let late = await #expect(throws: TransportError.self) { try await pair.bob.send([1]) }
        #expect(late?.code == .connectionLost)
        await pair.alice.close()
        await pair.close()
    }

    @Test func `an abort ends both sides with an error`() async throws {
        let pair = try await Pair()
        pair.alice.abort(reason: "broken")
        #expect(await pair.alice.ending()?.code == .closed)
        #expect(await pair.bob.ending()?.code == .connectionLost)
        await pair.close()
    }

    @Test func `a connection that nobody uses any more ends`() async throws {
        let (aliceKey, bobKey) = (DeviceKey(), DeviceKey())
        let alice = try Transport(key: aliceKey, admits: { $0 == bobKey.id })
        let bob = try Transport(key: bobKey, admits: { $0 == aliceKey.id })
        let port = try await bob.listen(host: "127.0.0.1", port: 0)
        var abandoned: Connection? = try await alice.dial(host: "127.0.0.1", port: port)
        var incoming = bob.incoming.makeAsyncIterator()
        let connection = try #require(await incoming.next())
        #expect(abandoned?.peer == bobKey.id)
        abandoned = nil
        #expect(await connection.ending()?.code == .connectionLost)
        await bob.close()
    }

    @Test func `a cancelled reader or sender leaves the connection whole`() async throws {
        var configuration = TransportConfiguration()
        configuration.outboundHighWaterBytes = 1
        configuration.inboundHighWaterBytes = 1
        let pair = try await Pair(alice: configuration, bob: configuration)
        let reader = Task { await pair.bob.ending() }
        reader.cancel()
        #expect(await reader.value?.code == .cancelled)

        let block = [UInt8](repeating: 7, count: 1_000_000)
        let sender = Task { () async -> (Int, TransportError.Code?) in
            var sent = 0
            do throws(TransportError) {
                while true {
                    try await pair.alice.send(block)
                    sent += 1
                }
            } catch {
                return (sent, error.code)
            }
        }
        try await waitWhile { pair.alice.unsentBytes == 0 }
        sender.cancel()
        let (sent, code) = await sender.value
        #expect(code == .cancelled)
        async let received = pair.bob.allFrames()
        await pair.alice.close()
        #expect(try await received.count == sent)
        await pair.close()
    }

    @Test func `two readers of one connection are an error and not a crash`() async throws {
        let pair = try await Pair()
        async let first = pair.bob.ending()
        async let second = pair.bob.ending()
        // One of them came second; the other goes on.
        var codes: [TransportError.Code?] = []
        try await pair.alice.send([1])
        await pair.alice.close()
        codes = await [first?.code, second?.code]
        #expect(codes.allSatisfy { $0 == nil || $0 == .concurrentReaders })
        await pair.close()
    }
}
