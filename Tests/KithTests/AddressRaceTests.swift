import KithTrust
import Synchronization
import Testing

@testable import Kith
@testable import KithTransport

/// The risk: an address that takes a connection and says nothing keeps a device from the address at which the other one is.
@Suite struct AddressRaceTests {
    /// What was dialled, and what was thrown away.
    private final class Log: Sendable {
        let dialled = Mutex<[Int]>([])
        let discarded = Mutex<[Int]>([])
    }

    private let log = Log()

    private func addresses(_ count: Int) throws -> [PeerAddress] { try (1...count).map { try PeerAddress(host: "10.0.0.\($0)", port: $0) } }

    private func race(
        _ count: Int, isNeeded: @escaping @Sendable () async -> Bool = { true },
        _ dial: @escaping @Sendable (Int) async throws(TransportError) -> Int
    ) async throws -> Result<Int, TransportError>? {
        await AddressRace.run(try addresses(count), isNeeded: isNeeded) { [log] (value: Int) in
            log.discarded.withLock { $0.append(value) }
        } dial: { [log] (address) throws(TransportError) in
            log.dialled.withLock { $0.append(address.port) }
            return try await dial(address.port)
        }
    }

    /// Says nothing until it is given up.
    private static func silence() async throws(TransportError) -> Int {
        try? await Task.sleep(for: .seconds(3_600))
        throw TransportError(.cancelled, "given up")
    }

    @Test func `the address that answers wins over seven that are silent`() async throws {
        let result = try await race(8) { (port) throws(TransportError) in port == 8 ? 8 : try await Self.silence() }
        #expect(try result?.get() == 8)
        #expect(log.dialled.withLock { $0 } == Array(1...8))
    }

    @Test func `an address that answers at once is dialled alone`() async throws {
        let result = try await race(8) { (port) throws(TransportError) in port }
        #expect(try result?.get() == 1)
        #expect(log.dialled.withLock { $0 } == [1])
    }

    @Test func `the next one follows a failure at once and the last failure is told`() async throws {
        let result = try await race(4) { (port) throws(TransportError) in throw TransportError(.unreachable, "\(port)") }
        guard case .failure(let error)? = result else { Issue.record("something answered"); return }
        #expect(error.message == "4" && log.dialled.withLock { $0 } == [1, 2, 3, 4])
    }

    /// A router may have given the device's former address to another one, or to this one.
    @Test(arguments: [
        TransportError.Code.unexpectedPeer, .ownDevice, .untrustedPeer, .wrongProtocol, .refusedCertificate, .handshakeFailed,
    ])
    func `another device that answers at an address does not keep the node from the next address`(code: TransportError.Code) async throws {
        let result = try await race(3) { (port) throws(TransportError) in
            if port < 3 { throw TransportError(code, "somebody else") }
            return port
        }
        #expect(try result?.get() == 3)
    }

    @Test func `who refuses is not asked at the other addresses`() async throws {
        let result = try await race(4) { (_) throws(TransportError) in throw TransportError(.refusedByPeer, "no") }
        guard case .failure(let error)? = result else { Issue.record("something answered"); return }
        #expect(error.code == .refusedByPeer && log.dialled.withLock { $0 } == [1])
    }

    @Test func `a race that nobody needs any more ends`() async throws {
        let result = try await race(4, isNeeded: { false }) { (_) throws(TransportError) in try await Self.silence() }
        #expect(result == nil && log.dialled.withLock { $0 } == [1])
        let task = Task { try await race(4) { (_) throws(TransportError) in try await Self.silence() } }
        task.cancel()
        #expect(try await task.value == nil)
    }

    @Test func `a second answer is thrown away`() async throws {
        let (first, second) = (Gate(), Gate())
        let result = try await race(2) { (port) throws(TransportError) in
            // The first one answers when the second was dialled, and the second when it was given up already.
            if port == 1 {
                await first.wait()
            } else {
                first.open()
                await second.wait()
            }
            return port
        }
        #expect(try result?.get() == 1)
        #expect(log.discarded.withLock { $0 } == [2])
    }

    /// Opens once; a task that is cancelled passes.
    private final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let opened: AsyncStream<Void>.Continuation
        init() { (stream, opened) = AsyncStream.makeStream(of: Void.self) }
        func open() { opened.finish() }
        func wait() async { for await _ in stream {} }
    }
}
