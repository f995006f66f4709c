import Foundation
import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging

/// Finds out why two devices do not meet: looks at this machine and its network, live, and says what is wrong in plain words.
///
/// It changes nothing, and works with and without a running node.
public struct NetworkDoctor: Sendable {
    /// How long announcements are waited for, in milliseconds.
    public var listeningMilliseconds = 3_000
    /// How long each address may take, in milliseconds.
    public var dialMilliseconds = 3_000
    public var usesDiscovery = true

    private let key: DeviceKey
    private let trust: TrustStore
    private let store: URL
    private let app: AppID

    /// - Parameters:
    ///   - store: the database file, which need not exist.
    ///   - app: as the node has it in its configuration.
    public init(key: DeviceKey, trust: TrustStore, store: URL, app: AppID) {
        self.app = app
        self.key = key
        self.trust = trust
        self.store = store
    }

    /// Looks at everything, which takes some seconds.
    ///
    /// - Parameter node: what the running node says of itself; `nil` if none runs.
    /// - Returns: what was looked at, most basic first.
    public func examine(node: NodeStatus?) async -> [DiagnosisFinding] {
        var seen = Observations()
        seen.standing = trust.standing
        seen.isNodeRunning = node != nil
        seen.usesDiscovery = usesDiscovery
        seen.freeBytes = freeBytes
        seen.addresses = LocalAddresses.all
        var book = AnnouncementBook(of: app)
        let devices = trust.devices
        let secrets = trust.standing == .member ? trust.household?.secrets ?? [] : []
        book.trust(devices.map(\.id), own: key.id, secrets: secrets)
        if usesDiscovery, trust.standing != .alone, trust.standing != .removed { await listen(&seen, &book, own: node?.port) }
        let targets = book.targets(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds)
        for device in devices {
            let peer = node?.peers.first { $0.deviceID == device.id.description }
            let announced = targets.filter { $0.device == nil || $0.device == device.id }.flatMap(\.addresses)
            var reach = Observations.Reach.connected
            if peer?.state != .connected {
                reach = await dial(device.id, device.addresses, announced, last: peer?.address.flatMap { try? PeerAddress(parsing: $0) })
            }
            seen.devices.append(
                Observations.Device(
                    name: device.name.isEmpty ? device.id.shortDescription : device.name, reach: reach, lastError: peer?.lastError,
                    clockOffsetMilliseconds: peer?.clockOffsetMilliseconds, isAnnounced: targets.contains { $0.device == device.id }))
        }
        return seen.findings
    }

    private var freeBytes: Int64? {
        let folder = store.deletingLastPathComponent().path
        let free = try? FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize]
        return (free as? NSNumber)?.int64Value ?? (free as? any BinaryInteger).map { Int64(clamping: $0) }
    }

    // MARK: mDNS

    private func listen(_ seen: inout Observations, _ book: inout AnnouncementBook, own port: Int?) async {
        let discovery = Discovery(logger: Logger(label: "kith.doctor", factory: { _ in SwiftLogNoOpLogHandler() }))
        let running = Task { await discovery.run() }
        let timer = Task {
            try? await Task.sleep(for: .milliseconds(listeningMilliseconds))
            running.cancel()
        }
        for await event in discovery.events {
            switch event {
            case .appeared(let announcement), .changed(let announcement):
                let isOwn = Int(announcement.port) == port && announcement.addresses.contains { seen.addresses.contains($0.description) }
                if isOwn {
                    seen.isOwnAnnouncementHeard = true
                } else if book.found(announcement) {
                    seen.announcementsHeard += 1
                }
            case .disappeared, .status(.running): break
            case .status(.unavailable(let error)):
                seen.mdnsFailure = "\(error)"
                running.cancel()
            }
        }
        timer.cancel()
        await running.value
    }

    // MARK: Dialling

    private func dial(
        _ device: DeviceID, _ given: [PeerAddress], _ announced: [PeerAddress], last: PeerAddress?
    ) async -> Observations.Reach {
        var addresses: [PeerAddress] = []
        for address in announced + given + [last].compactMap({ $0 }) where !addresses.contains(address) { addresses.append(address) }
        guard !addresses.isEmpty else { return .noAddress }
        var result = Observations.Reach.noAddress
        do throws(TransportError) {
            let transport = try Transport(
                key: key, stating: trust.statements,
                admission: { [trust] certificate in
                    certificate.id == device || trust.admission(of: certificate) == device ? device : nil
                }, logger: Logger(label: "kith.doctor", factory: { _ in SwiftLogNoOpLogHandler() }))
            for address in addresses.prefix(DialPlanner.addressesMax) {
                do throws(TransportError) {
                    let connection = try await transport.dial(
                        host: address.host, port: address.port, expecting: device, timeoutMilliseconds: dialMilliseconds)
                    result = await judge(connection, address)
                    break
                } catch {
                    result = .failed(at: address.description, error.code, error.message)
                    // Who answered says more than silence at another address.
                    if ![.unknownHost, .unreachable, .timedOut].contains(error.code) { break }
                }
            }
            await transport.close()
        } catch {
            result = .failed(at: addresses[0].description, error.code, error.message)
        }
        return result
    }

    /// In TLS 1.3 the other side judges this device only after this side is done: whether it is welcome shows when it speaks.
    private func judge(_ connection: Connection, _ address: PeerAddress) async -> Observations.Reach {
        let timer = Task {
            try? await Task.sleep(for: .milliseconds(dialMilliseconds))
            connection.abort(reason: "the look at it is over")
        }
        defer { timer.cancel() }
        do {
            for try await _ in connection.frames { break }
        } catch {
            if error.code == .refusedByPeer { return .failed(at: address.description, error.code, error.message) }
        }
        await connection.close(reason: "the look at it is over")
        return .reached(at: address.description)
    }
}
