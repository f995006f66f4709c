import KithTrust
import NIOCore

/// One authenticated connection to one device, carrying frames both ways.
///
/// Authenticated means that the peer proved to hold the key of `peer`, which this side accepts. It does not mean that the
/// peer accepts this side: with TLS 1.3 the dialling side finishes first (RFC 8446, 2), so only the first
/// frame from the peer says that it does. Until then nothing worth keeping should be sent.
package final class Connection: Sendable {
    /// What the other side showed in this TLS session, in which it proved to hold the key.
    package let certificate: DeviceCertificate
    /// Whether this side dialled.
    package let isInitiator: Bool
    /// This side's address; `nil` where the system does not tell.
    package let localAddress: PeerAddress?
    /// The other side's address; its port is a passing one if the other side dialled.
    package let remoteAddress: PeerAddress?

    /// The device on the other side.
    package var peer: DeviceID { certificate.id }

    private let channel: any Channel
    let inbound: InboundQueue
    private let outbound: OutboundQueue
    private let counter = TrafficCounter()
    private let frameBytesMax: Int

    /// Takes over `channel`, whose handshake is done. On its event loop.
    ///
    /// - Parameter saysGoodbye: whether a peer that ends in order says so, as TLS does; a pipe within a process only ends.
    init(
        channel: any Channel, certificate: DeviceCertificate, isInitiator: Bool, saysGoodbye: Bool = true,
        configuration: TransportConfiguration
    ) throws {
        self.channel = channel
        self.certificate = certificate
        self.isInitiator = isInitiator
        localAddress = channel.localAddress.flatMap(PeerAddress.init(socketAddress:))
        remoteAddress = channel.remoteAddress.flatMap(PeerAddress.init(socketAddress:))
        frameBytesMax = configuration.frameBytesMax
        // The queues hold the channel, which lets go of them when it closes and drops its handlers.
        inbound = InboundQueue(configuration: configuration) { signal in
            switch signal {
            case .resume: channel.pipeline.fireUserInboundEventTriggered(FrameHandler.Event.resumeReading)
            case .refuse(let error): channel.pipeline.fireUserInboundEventTriggered(FrameHandler.Event.abort(error))
            }
        }
        outbound = OutboundQueue(configuration: configuration) {
            channel.pipeline.fireUserInboundEventTriggered(FrameHandler.Event.write)
        } end: { error in
            channel.pipeline.fireUserInboundEventTriggered(FrameHandler.Event.abort(error))
        }
        let handler = FrameHandler(
            inbound: inbound, outbound: outbound, traffic: counter, saysGoodbye: saysGoodbye, configuration: configuration)
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    deinit {
        abort(reason: "nobody uses it any more")
    }

    /// The frames from the peer, in order. To be read by one task.
    ///
    /// While they are not read, nothing more than `inboundHighWaterBytes` is taken from the network, and in the end
    /// the peer has to wait. The sequence ends when the peer closed in order, after all that it sent; it throws
    /// `TransportError` when the connection ended otherwise.
    package var frames: Frames { Frames(connection: self) }

    /// Allows frames of up to `bytes` from now on, but never more than `frameBytesMax`. Does not lower the limit.
    ///
    /// A longer frame that is here already waits for the reader to ask for it, so the limit may be raised after
    /// reading the frame that justifies it.
    package func raiseFrameLimit(to bytes: Int) {
        inbound.limit = max(inbound.limit, min(bytes, frameBytesMax))
    }

    /// Sends one frame of 1 to `frameBytesMax` bytes. Frames arrive in the order of the calls.
    ///
    /// Returns when the frame is in the queue, which is not yet a promise that it arrives. Waits while the queue holds
    /// `outboundHighWaterBytes` or more.
    /// - Throws: why the connection ended, `.stalled` for a peer that does not read; or `.frameTooLarge`, `.emptyFrame`
    ///   or `.cancelled`, after which the connection goes on.
    package func send(_ frame: [UInt8], isolation: isolated (any Actor)? = #isolation) async throws(TransportError) {
        try await outbound.send(frame, isolation: isolation)
    }

    /// Sends one frame like ``send(_:isolation:)``, but without waiting for room.
    ///
    /// For callers that bound by themselves what the peer has not answered yet; what they post is kept in memory.
    /// - Throws: why the connection ended; or `.frameTooLarge`, `.emptyFrame`, or `.stalled` while `outboundBytesMax` bytes
    ///   wait already, after which the connection goes on.
    package func post(_ frame: [UInt8]) throws(TransportError) {
        try outbound.post(frame)
    }

    /// Ends the connection in order: what was sent is delivered, then the peer's frames end.
    ///
    /// Returns when the connection is closed, at the latest after `stallTimeoutMilliseconds` without progress and
    /// `closeTimeoutMilliseconds` without the peer's goodbye. Frames that were not read yet are still there.
    /// - Parameter reason: for the errors of tasks that still send; the peer does not learn it.
    package func close(reason: String = "no longer needed") async {
        beginClose(reason: reason)
        try? await channel.closeFuture.get()
    }

    /// Begins to end the connection in order, as ``close(reason:)`` does, and returns at once.
    package func beginClose(reason: String) {
        outbound.close(.closed(reason))
        channel.pipeline.fireUserInboundEventTriggered(FrameHandler.Event.close)
    }

    /// Ends the connection at once. What was not written yet is lost.
    package func abort(reason: String) {
        channel.pipeline.fireUserInboundEventTriggered(FrameHandler.Event.abort(.closed(reason)))
    }

    /// What was carried so far.
    package var traffic: Traffic { counter.traffic }

    /// Bytes that wait to be written.
    package var unsentBytes: Int { outbound.bytes }
}
