import KithTransport
import KithTrust

/// How a node reaches others: over the network or, in tests and previews, within the process.
extension Node {
    func makeTransport(
        _ configuration: TransportConfiguration = .init(), admission: @escaping Transport.Admission
    ) throws(NodeError) -> any PeerTransport {
        do throws(TransportError) {
            if self.configuration.isInProcess {
                return try InProcessTransport(
                    key: key, stating: trust.statements, configuration: configuration, admission: admission, logger: logger)
            }
            return try Transport(key: key, stating: trust.statements, configuration: configuration, admission: admission, logger: logger)
        } catch {
            throw NodeError(.invalidIdentity, error.message)
        }
    }

    /// Where a device is looked for besides discovery.
    func addresses(of device: TrustedDevice) -> [PeerAddress] {
        guard configuration.isInProcess else { return device.addresses }
        return [try? PeerAddress(host: InProcessTransport.host(of: device.id), port: 1)].compactMap(\.self)
    }

    var usesDiscovery: Bool { configuration.usesDiscovery && !configuration.isInProcess }
}
