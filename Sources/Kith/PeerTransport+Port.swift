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
        if let known = board.current.port ?? lastPort.withLock({ $0 }) { return known }
        let transport = try makeTransport(admission: { _ in nil })
        do throws(NodeError) {
            let port = try await transport.listen(on: configuration.port, preferring: NodeConfiguration.preferredPort)
            await transport.close()
            // Of two that ask at once, both get the same.
            return lastPort.withLock { known in
                known = known ?? port
                return known ?? port
            }
        } catch {
            await transport.close()
            throw error
        }
    }
}
