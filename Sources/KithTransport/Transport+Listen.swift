import Foundation
import KithTrust
import Logging
import NIOCore
import NIOPosix
import Synchronization

extension Transport {
    /// Accepts connections at `host` and `port`; they come out of `incoming`. May be called several times.
    ///
    /// - Parameters:
    ///   - host: an address or name of this machine; `::` means every address, IPv4 included.
    ///   - port: 0 for any free port.
    /// - Returns: the port.
    /// - Throws: `.portInUse`, `.cannotListen`, `.unknownHost` or `.closed`.
    package func listen(host: String, port: Int) async throws(TransportError) -> Int {
        guard (0...65535).contains(port) else {
            throw TransportError(.cannotListen, "\(port) is not a port. Choose 1 to 65535, or 0 for any free port.")
        }
        let listener: any Channel
        do {
            listener = try await bootstrap().bind(host: host, port: port).get()
        } catch {
            throw Self.listenFailure(error, host: host, port: port)
        }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.listeners.append(listener) }
            return state.isClosed
        }
        guard !isClosed, let bound = listener.localAddress?.port else {
            try? await listener.close().get()
            throw Self.closed
        }
        return bound
    }

    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.accept(channel) }
            }
    }

    /// On the event loop of `channel`.
    private func accept(_ channel: any Channel) throws {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let (ticket, evicted) = state.withLock { state -> (AdmissionControl.Ticket, (any Channel)?) in
            let (ticket, evicted) = state.admission.arrive(from: address)
            state.waiting[ticket] = channel
            return (ticket, evicted.flatMap { state.waiting.removeValue(forKey: $0) })
        }
        evicted?.close(promise: nil)
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.admission.leave(ticket)
                state.waiting[ticket] = nil
            }
        }
        let done = channel.eventLoop.makePromise(of: Connection.self)
        done.futureResult.whenComplete { self.accepted($0, ticket, address) }
        let policy = PeerPolicy(ownID: identity.id, expected: nil, admission: admission)
        let handshake = HandshakeHandler(policy: policy, configuration: configuration, isInitiator: false, done: done)
        try handshake.install(on: channel, identity: identity)
    }

    private func accepted(_ result: Result<Connection, any Error>, _ ticket: AdmissionControl.Ticket, _ address: String) {
        switch result {
        case .success(let connection):
            let now = Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)
            let isAdmitted = state.withLock { state in
                state.waiting[ticket] = nil
                return state.admission.authenticate(ticket, as: connection.peer, now: now)
            }
            guard isAdmitted, case .enqueued = accepting.yield(connection) else {
                logger.debug("connection refused: too many", metadata: ["peer": "\(connection.peer.shortDescription)"])
                return connection.abort(reason: "too many connections")
            }
        case .failure(let error):
            logger.debug("connection refused", metadata: ["address": "\(address)", "reason": "\(error)"])
        }
    }

    private static func listenFailure(_ error: any Error, host: String, port: Int) -> TransportError {
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE:
            TransportError(
                .portInUse,
                "Port \(port) is in use by another program. Stop that program, or choose another port (0 takes any that is free).")
        case let error as IOError where error.errnoCode == EACCES:
            TransportError(.cannotListen, "Port \(port) is not allowed for this user. Choose a port above 1023.")
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            TransportError(.cannotListen, "This machine has no address \(host). Listen on ::, or on an address that it has.")
        case let error as IOError:
            TransportError(.cannotListen, "Cannot listen on \(host) port \(port): \(String(cString: strerror(error.errnoCode))).")
        case is SocketAddressError.UnknownHost:
            TransportError(.unknownHost, "There is no host called \(host). Listen on ::, or on an address of this machine.")
        default:
            TransportError(.cannotListen, "Cannot listen on \(host) port \(port): \(error)")
        }
    }
}
