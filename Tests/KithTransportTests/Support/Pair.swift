import KithTransport
import KithTrust
import Testing

/// Two devices that trust each other, connected over 127.0.0.1.
struct Pair {
    let alice: Connection
    let bob: Connection
    let transports: [Transport]

    init(
        alice aliceConfiguration: TransportConfiguration = .init(), bob bobConfiguration: TransportConfiguration = .init(),
        raisesFrameLimits: Bool = true
    ) async throws {
        let (aliceKey, bobKey) = (DeviceKey(), DeviceKey())
        let alice = try Transport(key: aliceKey, configuration: aliceConfiguration, admits: { $0 == bobKey.id })
        let bob = try Transport(key: bobKey, configuration: bobConfiguration, admits: { $0 == aliceKey.id })
        let port = try await bob.listen(host: "127.0.0.1", port: 0)
        self.alice = try await alice.dial(host: "127.0.0.1", port: port, expecting: bobKey.id)
        var incoming = bob.incoming.makeAsyncIterator()
        self.bob = try #require(await incoming.next())
        transports = [alice, bob]
        guard raisesFrameLimits else { return }
        self.alice.raiseFrameLimit(to: .max)
        self.bob.raiseFrameLimit(to: .max)
    }

    func close() async {
        await alice.close()
        await bob.close()
        for transport in transports { await transport.close() }
    }
}

extension Connection {
    /// Reads all frames up to the end.
    func allFrames() async throws -> [[UInt8]] {
        var all: [[UInt8]] = []
        for try await frame in frames { all.append(frame) }
        return all
    }

    /// Reads `count` frames.
    func take(_ count: Int) async throws -> [[UInt8]] {
        var taken: [[UInt8]] = []
        for try await frame in frames {
            taken.append(frame)
            if taken.count == count { break }
        }
        return taken
    }

    /// Reads all frames; returns how the connection ended, `nil` for in order.
    func ending() async -> TransportError? {
        do throws(TransportError) {
            for try await _ in frames {}
            return nil
        } catch {
            return error
        }
    }
}

/// Returns when `condition` has ceased to hold.
func waitWhile(_ condition: () -> Bool) async throws {
    while condition() { try await Task.sleep(for: .milliseconds(1)) }
}
