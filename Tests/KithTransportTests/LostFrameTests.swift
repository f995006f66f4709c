import KithTransport
import KithTrust
import Testing

/// The risk: a frame is lost, damaged, out of order, or seen by nobody because the connection closed.
@Suite struct LostFrameTests {
    @Test func framesOfAllSizesArriveBothWaysInOrder() async throws {
        let pair = try await Pair()
        var random = SplitMix64(seed: 5)
        let sizes = [1, 2, 3, 4, 5, 200, 4095, 4096, 16_383, 16_384, 16_385, 65_531, 65_532, 65_533, 65_536, 1_000_000, 3_000_001]
        let frames = sizes.map { random.bytes($0) }
        async let atBob = pair.bob.allFrames()
        async let atAlice = pair.alice.allFrames()
        for frame in frames { try await pair.alice.send(frame) }
        for frame in frames.reversed() { try await pair.bob.send(frame) }
        await pair.alice.close()
        #expect(try await atBob == frames)
        _ = try await atAlice
        await pair.close()
    }
}
