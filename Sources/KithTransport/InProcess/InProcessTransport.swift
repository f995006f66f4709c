import KithTrust
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Connections between devices that live in one process: without a network, a port or TLS, for tests and previews.
///
/// Who is let in is judged as over the network, by certificates. That a device holds the key of its certificate is not proved: both are
/// in one process, which has both keys.
package final class InProcessTransport: PeerTransport {
    package let incoming: AsyncStream<Connection>

    private let certificate: DeviceCertificate
    private let configuration: TransportConfiguration
    private let admission: Transport.Admission
    private let accepting: AsyncStream<Connection>.Continuation
    private let logger: Logger

    /// Those that listen, by the host under which their device is reached.
    private static let listeners = Mutex<[String: InProcessTransport]>([:])

    /// - Throws: `.invalidIdentity`.
    package init(
        key: DeviceKey, stating statements: [MembershipRecord] = [], configuration: TransportConfiguration = .init(),
        admission: @escaping Transport.Admission, logger: Logger = Logger(label: "kith.transport")
    ) throws(TransportError) {
        do throws(TrustError) {
            certificate = try key.makeCertificate(stating: statements)
        } catch {
            throw TransportError(.invalidIdentity, error.message)
        }
        self.configuration = configuration
        self.admission = admission
        self.logger = logger
        (incoming, accepting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(configuration.incomingMax))
    }

    /// Under which host a device of this process is reached.
    package static func host(of device: DeviceID) -> String { device.description }

    /// The port is of no account.
    package func listen(host: String, port: Int) async throws(TransportError) -> Int {
        Self.listeners.withLock { $0[Self.host(of: certificate.id)] = self }
        return max(port, 1)
    }

    package func dial(
        host: String, port: Int, expecting expected: DeviceID?, timeoutMilliseconds: Int
    ) async throws(TransportError) -> Connection {
        guard let other = Self.listeners.withLock({ $0[host] }) else {
            throw TransportError(.unreachable, "No node runs for the device \(host) in this process.")
        }
        let now = configuration.now()
        let policy = PeerPolicy(ownID: certificate.id, expected: expected, admission: admission)
        _ = try policy.judge(other.certificate, now: now).get()
        let otherPolicy = PeerPolicy(ownID: other.certificate.id, expected: nil, admission: other.admission)
        if case .failure(let refusal) = otherPolicy.judge(certificate, now: now) {
            other.logger.debug("connection refused", metadata: ["reason": "\(refusal)"])
            throw TransportError(.refusedByPeer, "The device \(host) does not trust this one.", peer: other.certificate.id)
        }
        let ends = try await Connection.pipe(from: certificate, to: other.certificate, configuration)
        guard case .enqueued = other.accepting.yield(ends.answering) else {
            ends.dialling.abort(reason: "it was not taken")
            throw TransportError(.unreachable, "The node of the device \(host) has stopped, or has too many connections.")
        }
        return ends.dialling
    }

    package func close() async {
        Self.listeners.withLock { listeners in
            let host = Self.host(of: certificate.id)
            // A later one of this device may have taken the place.
            if listeners[host] === self { listeners[host] = nil }
        }
        accepting.finish()
    }
}
