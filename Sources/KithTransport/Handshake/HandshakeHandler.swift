import KithTrust
import NIOCore
import NIOSSL
import NIOTLS

/// Stands behind the TLS handler until the peer is known, and lets nothing through before.
///
/// The identity comes from the certificate judged in *this* handshake. A resumed session, in which no certificate
/// is shown, therefore has none and is refused: trust that was withdrawn cannot be resumed.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let policy: PeerPolicy
    private let configuration: TransportConfiguration
    private let isInitiator: Bool
    private let done: EventLoopPromise<Connection>
    private var judgement: Result<DeviceCertificate, TransportError>?
    private var deadline: Scheduled<Void>?

    /// - Parameter done: gets the connection, or a `TransportError`.
    init(policy: PeerPolicy, configuration: TransportConfiguration, isInitiator: Bool, done: EventLoopPromise<Connection>) {
        self.policy = policy
        self.configuration = configuration
        self.isInitiator = isInitiator
        self.done = done
    }

    /// Puts the TLS handler and this one on `channel`. On its event loop.
    func install(on channel: any Channel, identity: TLSIdentity) throws {
        let tls = try identity.makeHandler(isInitiator: isInitiator) { [weak self] chain, promise in
            promise.succeed(self?.judge(chain) == true ? .certificateVerified : .failed)
        }
        try channel.pipeline.syncOperations.addHandlers([tls, self])
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let timeout = TimeAmount.milliseconds(Int64(configuration.handshakeTimeoutMilliseconds))
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in
            self?.fail(.timedOut("The handshake did not finish in time"), context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        done.fail(TransportError.handshakeEnded)  // without effect if it is done
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let applicationProtocol) = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        do {
            guard applicationProtocol == configuration.applicationProtocol else { throw TransportError.wrongProtocol }
            guard let judgement else { throw TransportError.resumedSession }
            let connection = try Connection(
                channel: context.channel, certificate: judgement.get(), isInitiator: isInitiator, configuration: configuration)
            done.succeed(connection)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch {
            fail(TransportError(duringHandshake: error), context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Only after a failure: the peer is not to be heard.
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .failure(let refusal) = judgement {
            fail(refusal, context)
        } else {
            fail(TransportError(duringHandshake: error), context)
        }
    }

    private func judge(_ chain: [NIOSSLCertificate]) -> Bool {
        // One more than the policy allows is enough to refuse the chain.
        let judgement = policy.judge(
            chain: chain.prefix(2).map { (try? $0.toDERBytes()) ?? [] },
            provedKey: (try? chain.first?.extractPublicKey().toSPKIBytes()) ?? [], now: configuration.now())
        self.judgement = judgement
        if case .success = judgement { return true }
        return false
    }

    private func fail(_ error: TransportError, _ context: ChannelHandlerContext) {
        done.fail(error)
        context.close(promise: nil)
    }
}
