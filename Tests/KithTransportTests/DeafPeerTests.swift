import KithSync
import NIOCore
import Synchronization
import Testing

@testable import KithTransport

/// The risk: a peer that does not read, does not speak or speaks too slowly ties up memory, or the connection for ever.
@Suite struct DeafPeerTests {
    @Test func `a peer that never reads ends in a stall and costs no more than the high water mark`() async throws {
        var configuration = TransportConfiguration()
        configuration.stallTimeoutMilliseconds = 300
        let pair = try await Pair(alice: configuration)
        let frame = [UInt8](repeating: 1, count: 100_000)
        var sent = 0
        var highest = 0
        let error = await #expect(throws: TransportError.self) {
            while true {
                try await pair.alice.send(frame)
                sent += frame.count
                highest = max(highest, pair.alice.unsentBytes)
            }
        }
        #expect(error?.code == .stalled)
        #expect(highest <= configuration.outboundHighWaterBytes + frame.count + FrameDecoder.headerBytes)
        #expect(pair.bob.traffic.bytesReceived < sent)
        #expect(await pair.alice.ending()?.code == .stalled)
        await pair.close()
    }

    @Test func `a reader that pauses holds no more than its high water mark`() async throws {
        let pair = try await Pair()
        let sender = Task {
            for _ in 0..<200 { try await pair.alice.send([UInt8](repeating: 1, count: 100_000)) }
            await pair.alice.close()
        }
        let highWater = TransportConfiguration().inboundHighWaterBytes
        try await waitWhile { pair.bob.traffic.bytesReceived < highWater }
        for _ in 0..<50 {
            // One more read of the socket, decrypted at once, may come on top.
            #expect(pair.bob.traffic.bytesReceived < highWater + 1_000_000)
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(try await pair.bob.allFrames().count == 200)
        try await sender.value
        await pair.close()
    }

    @Test func `a send that waits is told when the connection ends`() async throws {
        let pair = try await Pair()
        let sender = Task { () async -> TransportError.Code? in
            do throws(TransportError) {
                while true { try await pair.alice.send([UInt8](repeating: 1, count: 100_000)) }
            } catch {
                return error.code
            }
        }
        try await waitWhile { pair.alice.unsentBytes <= TransportConfiguration().outboundLowWaterBytes }
        pair.bob.abort(reason: "enough")
        #expect(await sender.value == .connectionLost)
        await pair.close()
    }

    @Test func `what is posted for one who does not read has a limit`() throws {
        var configuration = TransportConfiguration()
        configuration.outboundBytesMax = 1000
        let queue = OutboundQueue(configuration: configuration) {}
        let frame = [UInt8](repeating: 1, count: 500 - FrameDecoder.headerBytes)
        try queue.post([UInt8](repeating: 1, count: 499 - FrameDecoder.headerBytes))
        try queue.post(frame)
        #expect(queue.bytes == 999)
        try queue.post(frame)
        let error = #expect(throws: TransportError.self) { try queue.post(frame) }
        #expect(error?.code == .stalled)
        #expect(error?.message.contains("1499 bytes") == true)
        // What waits still goes out, and then there is room again.
        var buffer = ByteBuffer()
        #expect(queue.take(into: &buffer, bytesMax: 600))
        try queue.post(frame)
    }

    @Test func `all connections share a room, and the one that keeps most of it ends when it is full`() throws {
        var configuration = TransportConfiguration()
        configuration.outboundRoom = OutboundRoom(bytesMax: 1_000)
        let ended = Mutex<[String]>([])
        func queue(_ name: String) -> OutboundQueue {
            OutboundQueue(configuration: configuration) {
            } end: { error in
                ended.withLock { $0.append("\(name) \(error.code)") }
            }
        }
        func frame(_ bytes: Int) -> [UInt8] { [UInt8](repeating: 1, count: bytes - FrameDecoder.headerBytes) }
        let (greedy, modest, third) = (queue("greedy"), queue("modest"), queue("third"))
        try greedy.post(frame(600))
        try modest.post(frame(300))
        try third.post(frame(100))
        #expect(configuration.outboundRoom.bytes == 1_000)
        #expect(ended.withLock { $0 }.isEmpty)
        // One byte past it, the one that keeps most is refused when it asks itself, and ends when others ask.
        #expect(throws: TransportError.self) { try greedy.post(frame(5)) }
        try third.post(frame(5))
        #expect(ended.withLock { $0 } == ["greedy stalled"])
        #expect(configuration.outboundRoom.bytes == 405)
        #expect(throws: TransportError.self) { try greedy.post(frame(5)) }
        // What was taken, forgotten, or had no place any more leaves room.
        var buffer = ByteBuffer()
        #expect(modest.take(into: &buffer, bytesMax: 200) && greedy.take(into: &buffer, bytesMax: 100))
        #expect(configuration.outboundRoom.bytes == 205)
        modest.discard()
        #expect(configuration.outboundRoom.bytes == 105)
    }

    @Test func `a connection that is gone takes no room`() throws {
        let configuration = TransportConfiguration()
        do {
            let queue = OutboundQueue(configuration: configuration) {}
            try queue.post([1, 2, 3])
            #expect(configuration.outboundRoom.bytes == 3 + FrameDecoder.headerBytes)
        }
        #expect(configuration.outboundRoom.bytes == 0)
    }

    // MARK: The watch, in a time of its own

    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func at(_ milliseconds: Int64) -> NIODeadline { start + .milliseconds(milliseconds) }

    private func watch(_ change: (inout TransportConfiguration) -> Void = { _ in }) -> ConnectionWatch {
        var configuration = TransportConfiguration()
        change(&configuration)
        return ConnectionWatch(configuration: configuration, now: start)
    }

    @Test func `silence is born up to its limit and not beyond`() {
        var watch = watch()
        #expect(watch.verdict(now: at(299_999)) == nil)
        #expect(watch.verdict(now: at(300_000)) == .idle)
        watch.received(1, isInsideFrame: false, now: at(300_000))
        #expect(watch.verdict(now: at(599_999)) == nil)
        #expect(watch.verdict(now: at(600_000)) == .idle)
    }

    @Test func `silence is not held against a peer that is not read`() {
        var watch = watch()
        watch.paused(true, now: at(1000))
        #expect(watch.verdict(now: at(10_000_000)) == nil)
        watch.paused(false, now: at(10_000_000))
        #expect(watch.verdict(now: at(10_299_999)) == nil)
        #expect(watch.verdict(now: at(10_300_000)) == .idle)
    }

    @Test func `a stall is born up to its limit and not beyond`() {
        var watch = watch()
        watch.writing(now: at(1000))
        watch.writing(now: at(20_000))
        #expect(watch.verdict(now: at(30_999)) == nil)
        #expect(watch.verdict(now: at(31_000)) == .stalled)
        watch.wrote(isEverything: false, now: at(30_000))
        #expect(watch.verdict(now: at(59_999)) == nil)
        #expect(watch.verdict(now: at(60_000)) == .stalled)
        watch.wrote(isEverything: true, now: at(60_000))
        #expect(watch.verdict(now: at(200_000)) == nil)
    }

    @Test func `a frame may be as slow as the minimum and no slower`() {
        for (bytes, verdict) in [(30 * 1024, nil), (30 * 1024 - 1, TransportError.Code.tooSlow)] {
            var watch = watch()
            watch.received(bytes - 5, isInsideFrame: true, now: at(0))
            watch.received(5, isInsideFrame: true, now: at(29_000))
            #expect(watch.verdict(now: at(29_999)) == nil)
            #expect(watch.verdict(now: at(30_000)) == verdict)
        }
    }

    @Test func `the minimum holds in every window of a frame`() {
        var watch = watch()
        watch.received(1 << 20, isInsideFrame: true, now: at(0))
        #expect(watch.verdict(now: at(30_000)) == nil)
        watch.received(100, isInsideFrame: true, now: at(40_000))
        #expect(watch.verdict(now: at(60_000)) == .tooSlow)
    }

    @Test func `a peer with nothing to say is not slow`() {
        var watch = watch()
        watch.received(10, isInsideFrame: true, now: at(0))
        watch.received(10, isInsideFrame: false, now: at(10))
        #expect(watch.verdict(now: at(200_000)) == nil)
    }

    @Test func `verdicts are asked for often enough to matter`() {
        #expect(watch().interval == .seconds(5))
        #expect(watch { $0.stallTimeoutMilliseconds = 100 }.interval == .milliseconds(25))
        #expect(watch { $0.idleTimeoutMilliseconds = 0 }.interval == .milliseconds(1))
    }

    @Test func `a silent peer is dropped from a real connection`() async throws {
        var configuration = TransportConfiguration()
        configuration.idleTimeoutMilliseconds = 100
        let pair = try await Pair(bob: configuration)
        #expect(await pair.bob.ending()?.code == .idle)
        #expect(await pair.alice.ending()?.code == .connectionLost)
        await pair.close()
    }
}
