import KithTransport
import Synchronization

extension PeerTransport {
    /// Listens on `port`; without one on `preferred`, or else on any that is free.
    func listen(on port: Int?, preferring preferred: Int) async throws(NodeError) -> Int {
        do throws(TransportError) {
            if let port { return try await listen(on: port) }
            do throws(TransportError) {
                return try await listen(on: preferred)
            } catch {
                return try await listen(on: 0)
            }
        } catch {
            throw NodeError(.portUnavailable, error.message)
        }
    }

    /// Listens on all addresses, of IPv4 alone on a machine where IPv6 is switched off.
    func listen(on port: Int) async throws(TransportError) -> Int {
        do throws(TransportError) {
            return try await listen(host: "::", port: port)
        } catch  where error.code != .portInUse {
            return try await listen(host: "0.0.0.0", port: port)
        }
    }
}

extension Node {
    /// The port on which this node listens, or will listen as soon as it trusts a device: chosen now, if it was not before, so that it can
    /// be told to the device that is to find it. Nothing is listened to because of this.
    /// - Throws: ``NodeError`` if a port that was asked for is taken.
    public func port() async throws(NodeError) -> Int {
        try await ports.choose { () async throws(NodeError) in
            if let known = self.board.current.port ?? self.lastPort.withLock({ $0 }) { return known }
            let transport = try self.makeTransport(admission: { _ in nil })
            let port: Result<Int, NodeError>
            do throws(NodeError) {
                port = .success(try await transport.listen(on: self.configuration.port, preferring: NodeConfiguration.preferredPort))
            } catch {
                port = .failure(error)
            }
            await transport.close()
            let chosen = try port.get()
            self.lastPort.withLock { $0 = chosen }
            return chosen
        }
    }
}

/// Lets a node's port be chosen by one after the other: who looks whether a port is free takes it for a moment.
actor PortChoice {
    private var last: Task<Result<Int, NodeError>, Never>?

    func choose(_ port: @escaping @Sendable () async throws(NodeError) -> Int) async throws(NodeError) -> Int {
        let choice = Task { [last] () -> Result<Int, NodeError> in
            _ = await last?.value
            do throws(NodeError) { return .success(try await port()) } catch { return .failure(error) }
        }
        last = choice
        return try await choice.value.get()
    }
}
