import KithTrust
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A peer that speaks TLS as it likes: any certificate or none, any version, any protocol.
struct TLSPeer: Sendable {
    var certificates: [NIOSSLCertificate] = []
    var key: NIOSSLPrivateKey?
    var applicationProtocols = ["kith/1"]
    var minimumVersion = TLSVersion.tlsv13
    var maximumVersion = TLSVersion.tlsv13
    /// Sent as soon as the handshake is finished on this side.
    var greeting: [UInt8] = [0, 0, 0, 4, 1, 2, 3, 4]
    var closesAfterGreeting = false

    init() {}

    /// Shows `certificate`, or one made for the key.
    init(key: DeviceKey, certificate: DeviceCertificate? = nil) throws {
        let certificate = try certificate ?? key.makeCertificate()
        certificates = [try NIOSSLCertificate(bytes: certificate.derBytes, format: .der)]
        self.key = try NIOSSLPrivateKey(bytes: key.privateKeyDER, format: .der)
    }

    /// Dials, sends the greeting, waits until the other side closes.
    /// - Returns: the application bytes that the other side sent.
    func dial(port: Int) async throws -> [UInt8] {
        let context = try NIOSSLContext(configuration: configuration(isServer: false))
        let received = Collector(greeting: greeting)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Accepts any server: it is the server that is tested.
                    let tls = try NIOSSLClientHandler(
                        context: context, serverHostname: nil, customVerificationCallback: { $1.succeed(.certificateVerified) })
                    try channel.pipeline.syncOperations.addHandlers([
                        tls, CollectingHandler(received, closesAfterGreeting: closesAfterGreeting),
                    ])
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.closeFuture.get()
        return received.bytes
    }

    /// Listens on 127.0.0.1; every client gets the greeting.
    func listen() async throws -> (channel: any Channel, port: Int, received: Collector) {
        let context = try NIOSSLContext(configuration: configuration(isServer: true))
        let received = Collector(greeting: greeting)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tls = NIOSSLServerHandler(
                        context: context, customVerificationCallback: { $1.succeed(.certificateVerified) })
                    try channel.pipeline.syncOperations.addHandlers([
                        tls, CollectingHandler(received, closesAfterGreeting: closesAfterGreeting),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return (channel, channel.localAddress?.port ?? 0, received)
    }

    private func configuration(isServer: Bool) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateChain = certificates.map { .certificate($0) }
        tls.privateKey = key.map { .privateKey($0) }
        tls.minimumTLSVersion = minimumVersion
        tls.maximumTLSVersion = maximumVersion
        tls.applicationProtocols = applicationProtocols
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .certificates([])
        return tls
    }
}

/// Sends a greeting after the handshake and collects what comes back.
private final class CollectingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let collector: Collector
    private let closesAfterGreeting: Bool

    init(_ collector: Collector, closesAfterGreeting: Bool) {
        self.collector = collector
        self.closesAfterGreeting = closesAfterGreeting
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted = event else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: collector.greeting)), promise: nil)
        if closesAfterGreeting { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        collector.append(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
