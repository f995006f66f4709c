import Foundation
import KithTrust
import NIOCore
import NIOPosix
import Synchronization

extension Transport {
    /// Connects to a device.
    ///
    /// The connection is authenticated, but not yet known to be accepted by the peer: see `Connection`.
    /// - Parameters:
    ///   - host: a name, or an IPv4 or IPv6 address; all addresses of a name are tried (RFC 8305).
    ///   - port: 1 to 65535.
    ///   - expected: the device that must answer; `nil` for any that is admitted.
    ///   - timeoutMilliseconds: for everything, from looking up the name to the end of the handshake.
    /// - Throws: `.unknownHost`, `.unreachable`, `.timedOut`; `.untrustedPeer`, `.unexpectedPeer`, `.ownDevice`,
    ///   `.refusedCertificate`, `.refusedByPeer`, `.wrongProtocol`, `.handshakeFailed`, `.connectionLost`; `.closed`, `.cancelled`.
    package func dial(
        host: String, port: Int, expecting expected: DeviceID? = nil, timeoutMilliseconds: Int = 10_000
    ) async throws(TransportError) -> Connection {
        guard (1...65535).contains(port) else {
            throw TransportError(.unreachable, "\(port) is not a port; it must be 1 to 65535.")
        }
        guard !state.withLock({ $0.isClosed }) else { throw Self.closed }
        let policy = PeerPolicy(ownID: identity.id, expected: expected, admission: admission)
        let eventLoop = group.next()
        let done = eventLoop.makePromise(of: Connection.self)
        let timeout = TimeAmount.milliseconds(Int64(max(1, timeoutMilliseconds)))
        let deadline = eventLoop.scheduleTask(in: timeout) {
            done.fail(TransportError.timedOut("Nothing answered at \(host) port \(port) in \(timeoutMilliseconds) ms"))
        }
        done.futureResult.whenComplete { _ in deadline.cancel() }
        ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Nothing is read before there is somebody to read it.
            .channelOption(.autoRead, value: false)
            .connect(host: host, port: port)
            .flatMapThrowing { channel in
                // Whatever ends the attempt first, nothing is left open.
                done.futureResult.whenFailure { _ in channel.close(promise: nil) }
                let handshake = HandshakeHandler(
                    policy: policy, configuration: self.configuration, isInitiator: true, done: done)
                try handshake.install(on: channel, identity: self.identity)
                try channel.syncOptions?.setOption(.autoRead, value: true)
            }
            .whenFailure { done.fail(Self.dialFailure($0, host: host, port: port)) }
        do {
            return try await withTaskCancellationHandler {
                try await done.futureResult.get()
            } onCancel: {
                done.fail(TransportError(.cancelled, "The task that dialled was cancelled."))
            }
        } catch {
            throw TransportError(duringHandshake: error)
        }
    }

    private static func dialFailure(_ error: any Error, host: String, port: Int) -> TransportError {
        guard let error = error as? NIOConnectionError else { return TransportError(duringHandshake: error) }
        guard let failure = error.connectionErrors.last else {
            return TransportError(
                .unknownHost, "There is no host called \(host). Check the spelling, or whether that machine is on this network.")
        }
        let reason = (failure.error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(failure.error)"
        return TransportError(.unreachable, "Nothing answers at \(host) port \(port) (\(reason)). Kith may not be running there.")
    }
}
