import KithTrust
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Connections to trusted devices: TCP with mutual TLS 1.3, both public keys pinned, carrying frames.
///
///     let transport = try Transport(key: key, admits: { trust.isTrusted($0) })
///     let port = try await transport.listen(host: "::", port: 4747)
///     for await connection in transport.incoming { … }
///
/// It knows no rule of synchronization and keeps no list of connections: who takes a connection closes it.
package final class Transport: Sendable {
    /// Judges a certificate: as which device its holder is let in, itself or the one whose place it takes; `nil` if it is not.
    /// It runs on an event loop in every handshake and must answer from memory.
    package typealias Admission = @Sendable (DeviceCertificate) -> DeviceID?

    /// Accepted connections, authenticated. To be read by one task; ends with `close()`.
    package let incoming: AsyncStream<Connection>

    let configuration: TransportConfiguration
    let identity: TLSIdentity
    let admission: Admission
    let group: any EventLoopGroup
    let logger: Logger
    let accepting: AsyncStream<Connection>.Continuation
    let state: Mutex<State>

    struct State {
        var admission: AdmissionControl
        /// The channels of unauthenticated connections.
        var waiting: [AdmissionControl.Ticket: any Channel] = [:]
        var listeners: [any Channel] = []
        var isClosed = false
    }

    /// - Parameters:
    ///   - key: who this device is.
    ///   - configuration: the protocol and the limits.
    ///   - statements: what this device's certificate says about its household.
    ///   - admission: which peers get past the handshake, for accepted and dialled connections alike.
    ///   - group: where the I/O happens.
    ///   - logger: hears of refused peers at `debug`.
    /// - Throws: `.invalidIdentity`.
    package convenience init(
        key: DeviceKey, stating statements: [MembershipRecord] = [], configuration: TransportConfiguration = .init(),
        admission: @escaping Admission, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        logger: Logger = Logger(label: "kith.transport")
    ) throws(TransportError) {
        let certificate: DeviceCertificate
        do throws(TrustError) {
            certificate = try key.makeCertificate(stating: statements)
        } catch {
            throw TransportError(.invalidIdentity, error.message)
        }
        try self.init(
            key: key, certificate: certificate, configuration: configuration, admission: admission, group: group, logger: logger)
    }

    /// As above, for peers that are judged by their ids alone.
    package convenience init(
        key: DeviceKey, configuration: TransportConfiguration = .init(), admits: @escaping @Sendable (DeviceID) -> Bool,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger = Logger(label: "kith.transport")
    ) throws(TransportError) {
        try self.init(
            key: key, configuration: configuration, admission: { admits($0.id) ? $0.id : nil }, group: group, logger: logger)
    }

    init(
        key: DeviceKey, certificate: DeviceCertificate, configuration: TransportConfiguration,
        admission: @escaping Admission, group: any EventLoopGroup, logger: Logger
    ) throws(TransportError) {
        identity = try TLSIdentity(key: key, certificate: certificate, configuration: configuration)
        self.configuration = configuration
        self.admission = admission
        self.group = group
        self.logger = logger
        (incoming, accepting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(configuration.incomingMax))
        state = Mutex(State(admission: AdmissionControl(configuration: configuration)))
    }

    /// Stops listening, drops connections whose handshake is not finished, and ends `incoming`. Connections that were taken
    /// go on. Safe to call twice.
    package func close() async {
        let channels = state.withLock { state in
            state.isClosed = true
            defer { state.listeners = [] }
            return state.listeners + state.waiting.values
        }
        accepting.finish()
        for channel in channels { try? await channel.close().get() }
    }

    /// Accepted connections whose handshake is not finished.
    var unauthenticatedCount: Int {
        state.withLock { $0.admission.waitingCount }
    }

    static let closed = TransportError(.closed, "The transport is closed.")
}
