import KithTransport

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
        try await ports.choose { [self] known throws(NodeError) in
            if let known { return known }
            let transport = try makeTransport(admission: { _ in nil })
            let port: Result<Int, NodeError>
            do throws(NodeError) {
                port = .success(try await transport.listen(on: configuration.port, preferring: NodeConfiguration.preferredPort))
            } catch {
                port = .failure(error)
            }
            await transport.close()
            return try port.get()
        }
    }

    /// Listens on the port that was chosen before, if there was one: peers may have noted it.
    func listen(by transport: any PeerTransport) async throws(NodeError) -> Int {
        try await ports.choose { [configuration] known throws(NodeError) in
            if let known, let again = try? await transport.listen(on: known) { return again }
            return try await transport.listen(on: configuration.port, preferring: NodeConfiguration.preferredPort)
        }
    }
}

/// The port of a node, once it was chosen. One chooses after the other: who looks whether a port is free takes it for a moment.
actor PortChoice {
    private var port: Int?
    private var last: Task<Result<Int, NodeError>, Never>?

    /// - Parameter choice: gets the port that was chosen last.
    func choose(_ choice: @escaping @Sendable (_ last: Int?) async throws(NodeError) -> Int) async throws(NodeError) -> Int {
        let task = Task { [last] () -> Result<Int, NodeError> in
            _ = await last?.value
            do throws(NodeError) {
                let chosen = try await choice(port)
                port = chosen
                return .success(chosen)
            } catch {
                return .failure(error)
            }
        }
        last = task
        return try await task.value.get()
    }
}
