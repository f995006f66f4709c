import KithSync
import NIOCore
import NIOSSL
import NIOTLS

/// The event loop's end of a connection: bytes to frames, frames to bytes, and the watch over both.
final class FrameHandler: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// What the tasks of a connection ask of its event loop.
    enum Event: Sendable {
        case resumeReading
        case write
        /// End in order, once everything is written.
        case close
        /// End now.
        case abort(TransportError)
    }

    /// Most bytes in one write: the grain in which progress is seen.
    private static let writeBytesMax = 64 * 1024

    private let inbound: InboundQueue
    private let outbound: OutboundQueue
    private let traffic: TrafficCounter
    private let configuration: TransportConfiguration
    private var decoder = FrameDecoder()
    private var undecoded = ByteBuffer()
    private var watch: ConnectionWatch
    private var isPaused = false
    /// Whether a read was asked for while reading was paused.
    private var wantsRead = false
    private var writesInFlight = 0
    private var isClosing = false
    /// Whether the end of the bytes is an orderly end.
    private var isTLSFinished: Bool
    private var isWriting = false
    private var failure: TransportError?
    private var nextVerdict: Scheduled<Void>?

    init(
        inbound: InboundQueue, outbound: OutboundQueue, traffic: TrafficCounter, saysGoodbye: Bool = true,
        configuration: TransportConfiguration
    ) {
        isTLSFinished = !saysGoodbye
        self.inbound = inbound
        self.outbound = outbound
        self.traffic = traffic
        self.configuration = configuration
        watch = ConnectionWatch(configuration: configuration, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        scheduleVerdict(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        nextVerdict?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case Event.resumeReading: resume(context)
        case Event.write: write(context)
        case Event.close: beginClose(context)
        case Event.abort(let error): abort(error, context)
        case TLSUserEvent.shutdownCompleted: isTLSFinished = true
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard failure == nil, !isClosing else { return }
        var bytes = unwrapInboundIn(data)
        let count = bytes.readableBytes
        traffic.received(bytes: count)
        if undecoded.readableBytes == 0 { undecoded = bytes } else { undecoded.writeBuffer(&bytes) }
        decode(context)
        watch.received(count, isInsideFrame: decoder.isInsideFrame, now: .now())
    }

    func read(context: ChannelHandlerContext) {
        if isPaused { wantsRead = true } else { context.read() }
    }

    private func decode(_ context: ChannelHandlerContext) {
        while !isPaused, failure == nil {
            switch decoder.next(from: &undecoded, limit: inbound.limit) {
            case .frame(let frame):
                traffic.receivedFrame()
                if inbound.push(frame) == .pause { pause() }
            case .needsMore: return
            case .empty: abort(.emptyFrame, context)
            case .overLimit(let length) where length > configuration.frameBytesMax: refuse(length, context)
            case .overLimit(let length):
                switch inbound.hold(length: length) {
                case .goOn: break
                case .pause: pause()
                case .refuse: refuse(length, context)
                }
            }
        }
    }

    private func refuse(_ length: Int, _ context: ChannelHandlerContext) {
        abort(.frameTooLarge(length: length, limit: min(inbound.limit, configuration.frameBytesMax)), context)
    }

    private func pause() {
        isPaused = true
        watch.paused(true, now: .now())
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard isPaused else { return }
        isPaused = false
        watch.paused(false, now: .now())
        decode(context)
        guard !isPaused, wantsRead else { return }
        wantsRead = false
        context.read()
    }

    // MARK: Writing

    private func write(_ context: ChannelHandlerContext) {
        // A write may make the channel writable again before it returns; the loop below goes on then.
        guard !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        while failure == nil, context.channel.isWritable {
            var buffer = context.channel.allocator.buffer(capacity: min(outbound.bytes, Self.writeBytesMax) + 4)
            guard outbound.take(into: &buffer, bytesMax: Self.writeBytesMax) else { break }
            writesInFlight += 1
            watch.writing(now: .now())
            traffic.sent(bytes: buffer.readableBytes)
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenSuccess { [weak self] in self?.wrote(context) }
            context.writeAndFlush(wrapOutboundOut(buffer), promise: written)
        }
        finishClose(context)
    }

    private func wrote(_ context: ChannelHandlerContext) {
        writesInFlight -= 1
        watch.wrote(isEverything: writesInFlight == 0 && outbound.bytes == 0, now: .now())
        finishClose(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        write(context)
        context.fireChannelWritabilityChanged()
    }

    // MARK: The end

    private func beginClose(_ context: ChannelHandlerContext) {
        guard failure == nil, !isClosing else { return }
        isClosing = true
        // What the peer still sends is dropped, but its goodbye must be seen.
        undecoded.clear()
        isPaused = false
        watch.paused(false, now: .now())
        if wantsRead { context.read() }
        write(context)
    }

    private func finishClose(_ context: ChannelHandlerContext) {
        guard isClosing, writesInFlight == 0, outbound.bytes == 0 else { return }
        context.close(promise: nil)
    }

    /// Ends the connection now. What was not written is lost; what was read can still be taken.
    private func abort(_ error: TransportError, _ context: ChannelHandlerContext) {
        guard failure == nil else { return }
        failure = error
        end(error)
        // Past the TLS handler, which would wait for the peer's goodbye.
        let pipeline = context.pipeline.syncOperations
        let tls =
            (try? pipeline.context(handlerType: NIOSSLClientHandler.self)) ?? (try? pipeline.context(handlerType: NIOSSLServerHandler.self))
        (tls ?? context).close(promise: nil)
    }

    private func end(_ error: TransportError?) {
        // First: who is told of the end must not be able to send any more.
        outbound.close(error ?? .closedByPeer)
        outbound.discard()
        inbound.end(error)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Who has said goodbye does not care how the other side goes.
        if isClosing { return context.close(promise: nil) }
        drainUndecoded()
        abort(TransportError(duringConnection: error), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if failure == nil, !isClosing { drainUndecoded() }
        if isClosing {
            end(nil)  // without effect after a failure, which came first
        } else if decoder.isInsideFrame || undecoded.readableBytes > 0 {
            end(.truncatedFrame)
        } else {
            end(isTLSFinished ? nil : .connectionLost("no goodbye"))
        }
        context.fireChannelInactive()
    }

    /// Frames that waited while reading was paused are still the reader's, which judges their length itself.
    private func drainUndecoded() {
        while case .frame(let frame) = decoder.next(from: &undecoded, limit: configuration.frameBytesMax) {
            traffic.receivedFrame()
            _ = inbound.push(frame)
        }
    }

    private func scheduleVerdict(_ context: ChannelHandlerContext) {
        nextVerdict = context.eventLoop.assumeIsolated().scheduleTask(in: watch.interval) { [weak self] in
            guard let self, context.channel.isActive else { return }
            if let code = watch.verdict(now: .now()) { abort(.broken(code, configuration), context) }
            scheduleVerdict(context)
        }
    }
}
