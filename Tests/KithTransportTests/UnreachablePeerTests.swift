import KithTrust
import NIOCore
import NIOPosix
import Testing

@testable import KithTransport

/// The risk: a connection cannot be made, and nobody can tell why or what to do.
@Suite struct UnreachablePeerTests {
    private func transport() throws -> Transport {
        try Transport(key: DeviceKey(), admits: { _ in true })
    }

    private func dialError(_ transport: Transport, _ host: String, _ port: Int, timeout: Int = 5000) async -> TransportError? {
        await #expect(throws: TransportError.self) {
            try await transport.dial(host: host, port: port, timeoutMilliseconds: timeout)
        }
    }

    @Test func `an address of IPv4 within IPv6 is shown as people know it`() throws {
        func shown(_ address: String) throws -> String? { PeerAddress(socketAddress: try SocketAddress(ipAddress: address, port: 7))?.host }
        #expect(try shown("::ffff:10.77.0.2") == "10.77.0.2" && shown("10.77.0.2") == "10.77.0.2")
        #expect(try shown("fd00::2") == "fd00::2" && shown("::ffff:0:a4d:2") == "::ffff:0:a4d:2")
    }

    @Test func `a port in use is named with a remedy`() async throws {
        let (first, second) = (try transport(), try transport())
        let port = try await first.listen(host: "127.0.0.1", port: 0)
        let error = await #expect(throws: TransportError.self) { try await second.listen(host: "127.0.0.1", port: port) }
        #expect(error?.code == .portInUse)
        #expect(error?.message.contains("Port \(port)") == true)
        #expect(error?.message.contains("choose another port") == true)
        await first.close()
        // Free again at once.
        #expect(try await second.listen(host: "127.0.0.1", port: port) == port)
        await second.close()
    }

    @Test(arguments: ["127.0.0.1", "::1", "localhost"]) func `every way to name this machine works`(host: String) async throws {
        let (own, friend) = (DeviceKey(), DeviceKey())
        let server = try Transport(key: own, admits: { $0 == friend.id })
        let client = try Transport(key: friend, admits: { $0 == own.id })
        let port = try await server.listen(host: host, port: 0)
        let connection = try await client.dial(host: host, port: port)
        #expect(connection.peer == own.id)
        await connection.close()
        await client.close()
        await server.close()
    }

    @Test func `nothing there is unreachable`() async throws {
        let transport = try transport()
        let port = try await transport.listen(host: "127.0.0.1", port: 0)
        await transport.close()
        let other = try self.transport()
        let error = await dialError(other, "127.0.0.1", port)
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("\(port)") == true)
        await other.close()
    }

    @Test func `a name that does not exist says so`() async throws {
        let transport = try transport()
        #expect(await dialError(transport, "no-such-host.invalid", 4747)?.code == .unknownHost)
        let error = await #expect(throws: TransportError.self) { try await transport.listen(host: "no-such-host.invalid", port: 0) }
        #expect(error?.code == .unknownHost)
        await transport.close()
    }

    @Test func `addresses and ports that cannot be are refused`() async throws {
        let transport = try transport()
        #expect(await dialError(transport, "127.0.0.1", 0)?.code == .unreachable)
        #expect(await dialError(transport, "127.0.0.1", 65536)?.code == .unreachable)
        for (host, port) in [("127.0.0.1", -1), ("127.0.0.1", 65536), ("192.0.2.1", 0)] {
            let error = await #expect(throws: TransportError.self) { try await transport.listen(host: host, port: port) }
            #expect(error?.code == .cannotListen)
        }
        await transport.close()
    }

    @Test func `a peer that never answers times out`() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let transport = try transport()
        #expect(await dialError(transport, "127.0.0.1", port, timeout: 50)?.code == .timedOut)
        await transport.close()
        try await silent.close().get()
    }

    @Test func `a dial that is cancelled ends at once`() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(silent.localAddress?.port)
        let transport = try transport()
        let dial = Task { await dialError(transport, "127.0.0.1", port, timeout: 600_000) }
        dial.cancel()
        #expect(await dial.value?.code == .cancelled)
        await transport.close()
        try await silent.close().get()
    }

    @Test func `a closed transport neither listens nor dials`() async throws {
        let transport = try transport()
        await transport.close()
        await transport.close()
        #expect(await dialError(transport, "127.0.0.1", 4747)?.code == .closed)
        let error = await #expect(throws: TransportError.self) { try await transport.listen(host: "127.0.0.1", port: 0) }
        #expect(error?.code == .closed)
        for await _ in transport.incoming { Issue.record("a connection came from nowhere") }
    }
}
