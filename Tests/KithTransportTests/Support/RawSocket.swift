import NIOCore
import NIOPosix

/// A TCP connection without TLS.
struct RawSocket: Sendable {
    let channel: any Channel

    init(host: String = "127.0.0.1", port: Int) async throws {
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: host, port: port).get()
    }

    /// Sends `bytes` and says no more.
    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    func close() async {
        try? await channel.close().get()
    }

    func waitUntilClosed() async {
        try? await channel.closeFuture.get()
    }
}
