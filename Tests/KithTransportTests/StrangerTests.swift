import Crypto
import Foundation
import KithTrust
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization
import TestSupport
import Testing

@testable import KithTransport

/// The risk: somebody who is not trusted gets a connection, or a single byte through.
@Suite struct StrangerTests {
    private let own = DeviceKey()
    private let friend = DeviceKey()

    /// A listener that trusts `friend`, and everything that got through to it.
    private func withListener(
        _ configuration: TransportConfiguration = .init(), _ body: (Int) async throws -> Void
    ) async throws -> [Connection] {
        let friendID = friend.id
        let transport = try Transport(key: own, configuration: configuration, admits: { $0 == friendID })
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        try await body(port)
        await transport.close()
        var connections: [Connection] = []
        for await connection in transport.incoming { connections.append(connection) }
        return connections
    }

    private func withTrustedClient(_ peer: TLSPeer) async throws -> (Result<DeviceID, TransportError>, [UInt8]) {
        let friendID = friend.id
        let transport = try Transport(key: own, admits: { $0 == friendID })
        let (server, port, received) = try await peer.listen()
        let result: Result<DeviceID, TransportError>
        do throws(TransportError) {
            let connection = try await transport.dial(host: "127.0.0.1", port: port)
            result = .success(connection.peer)
            await connection.close()
        } catch {
            result = .failure(error)
        }
        try await server.close().get()
        await transport.close()
        return (result, received.bytes)
    }

    private var expired: DeviceCertificate {
        get throws { try friend.makeCertificate(notValidAfter: Date(timeIntervalSince1970: 1_000_000_000)) }
    }

    private var notYetValid: DeviceCertificate {
        get throws { try friend.makeCertificate(notValidBefore: Date(timeIntervalSince1970: 200_000_000_000)) }
    }

    /// Peers that the friend's list does not know, or that do not play by the rules, each with its error.
    private func badPeers(areServers: Bool) throws -> [(String, TLSPeer, Set<TransportError.Code>)] {
        var peers: [(String, TLSPeer, Set<TransportError.Code>)] = [
            ("foreign", try TLSPeer(key: DeviceKey()), [.untrustedPeer]),
            ("expired", try TLSPeer(key: friend, certificate: expired), [.refusedCertificate]),
            ("not yet valid", try TLSPeer(key: friend, certificate: notYetValid), [.refusedCertificate]),
            ("itself", try TLSPeer(key: own), [.ownDevice]),
        ]
        var peer = try TLSPeer(key: friend)
        peer.certificates.append(contentsOf: peer.certificates)
        peers.append(("two certificates", peer, [.refusedCertificate]))
        peer = try TLSPeer(key: friend)
        peer.applicationProtocols = ["kith/2"]
        peers.append(("another protocol", peer, [.wrongProtocol]))
        peer.applicationProtocols = []
        peers.append(("no protocol", peer, [.wrongProtocol]))
        peer = try TLSPeer(key: friend)
        (peer.minimumVersion, peer.maximumVersion) = (.tlsv12, .tlsv12)
        peers.append(("TLS 1.2", peer, [.handshakeFailed]))
        if !areServers { peers.append(("no certificate", TLSPeer(), [.handshakeFailed])) }
        return peers
    }

    // Without the next two, the tests after them would pass if nobody were heard.

    @Test func `the trusted client of these tests is heard`() async throws {
        let friendID = friend.id
        let transport = try Transport(key: own, admits: { $0 == friendID })
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        let peer = try TLSPeer(key: friend)
        async let bytes = peer.dial(port: port)
        var incoming = transport.incoming.makeAsyncIterator()
        let connection = try #require(await incoming.next())
        #expect(try await connection.take(1) == [[1, 2, 3, 4]])
        try await connection.send([5])
        await connection.close()
        #expect(try await bytes == [0, 0, 0, 1, 5])
        await transport.close()
    }

    @Test func `the trusted server of these tests is heard`() async throws {
        let (result, received) = try await withTrustedClient(TLSPeer(key: friend))
        #expect(result == .success(friend.id))
        #expect(received.isEmpty)
    }

    @Test func `no bad client gets through`() async throws {
        for (name, peer, _) in try badPeers(areServers: false) {
            let connections = try await withListener { port in
                for _ in 0..<Soak.count(25, soaking: 112) {
                    let bytes = (try? await peer.dial(port: port)) ?? []
                    #expect(bytes.isEmpty, "\(name)")
                }
            }
            #expect(connections.isEmpty, "\(name)")
        }
    }

    @Test func `no bad server gets through`() async throws {
        for (name, peer, codes) in try badPeers(areServers: true) {
            for _ in 0..<10 {
                let (result, received) = try await withTrustedClient(peer)
                guard case .failure(let error) = result else {
                    Issue.record("\(name) was accepted")
                    continue
                }
                #expect(codes.contains(error.code), "\(name): \(error)")
                #expect(received.isEmpty, "\(name)")
            }
        }
    }

    @Test func `a server other than the one dialled is refused even if trusted`() async throws {
        let (friendID, otherID) = (friend.id, DeviceKey().id)
        let transport = try Transport(key: own, admits: { $0 == friendID || $0 == otherID })
        let (server, port, _) = try await TLSPeer(key: friend).listen()
        let error = await #expect(throws: TransportError.self) {
            try await transport.dial(host: "127.0.0.1", port: port, expecting: otherID)
        }
        #expect(error?.code == .unexpectedPeer)
        #expect(error?.peer == friendID)
        try await server.close().get()
        await transport.close()
    }

    @Test func `trust is asked anew for every connection`() async throws {
        let friendID = friend.id
        let trust = Trust(isTrusted: true)
        let transport = try Transport(key: own, admits: { $0 == friendID && trust.isTrusted })
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        let other = try Transport(key: friend, admits: { _ in true })
        let first = try await other.dial(host: "127.0.0.1", port: port)
        var incoming = transport.incoming.makeAsyncIterator()
        #expect(await incoming.next()?.peer == friendID)
        trust.isTrusted = false
        let second = try await other.dial(host: "127.0.0.1", port: port)
        // The dialling side is done before it is judged; the verdict comes as the end of the frames.
        #expect(await second.ending()?.code == .refusedByPeer)
        await first.close()
        await other.close()
        await transport.close()
    }

    @Test func `a handshake in which no certificate was shown is refused`() async throws {
        // What a resumed session looks like from here: TLS is content, and nobody was judged.
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        let socket = try await RawSocket(port: #require(server.localAddress?.port))
        let done = socket.channel.eventLoop.makePromise(of: Connection.self)
        let policy = PeerPolicy(ownID: own.id, expected: nil, admission: { $0.id })
        var patient = TransportConfiguration()
        patient.handshakeTimeoutMilliseconds = 600_000
        try await socket.channel.eventLoop.submit { [patient] in
            let handshake = HandshakeHandler(policy: policy, configuration: patient, isInitiator: false, done: done)
            try socket.channel.pipeline.syncOperations.addHandler(handshake)
        }.get()
        socket.channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "kith/1"))
        let error = await #expect(throws: TransportError.self) { try await done.futureResult.get() }
        #expect(error == .resumedSession)
        await socket.waitUntilClosed()
        try await server.close().get()
    }

    @Test func `junk instead of a handshake is dropped`() async throws {
        var random = SplitMix64(seed: 11)
        let connections = try await withListener { port in
            for round in 0..<200 {
                let socket = try await RawSocket(port: port)
                var junk = random.bytes(Int.random(in: 1...3000, using: &random))
                if round % 4 == 0 { junk = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8) }
                if round % 4 == 1 { junk = [0, 0, 0, 4, 1, 2, 3, 4] }
                if round % 4 == 2 { junk = [0x16, 3, 1, 0x40, 0, 1] + junk }
                try? await socket.send(junk)
                await socket.close()
            }
        }
        #expect(connections.isEmpty)
    }

    @Test func `a server that is not TLS is refused`() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.pipeline.addHandler(Greeter())
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let transport = try Transport(key: own, admits: { _ in true })
        let port = try #require(server.localAddress?.port)
        let error = await #expect(throws: TransportError.self) {
            try await transport.dial(host: "127.0.0.1", port: port, timeoutMilliseconds: 30_000)
        }
        #expect(error?.code == .handshakeFailed)
        try await server.close().get()
        await transport.close()
    }
}

/// Speaks first, as a mail server does.
private final class Greeter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "220 ready\r\n")), promise: nil)
    }
}

/// A list of trust that can change.
private final class Trust: Sendable {
    private let state: Mutex<Bool>

    init(isTrusted: Bool) {
        state = Mutex(isTrusted)
    }

    var isTrusted: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
