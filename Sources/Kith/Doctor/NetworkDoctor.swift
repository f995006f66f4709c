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
    /// Whether the doctor also asks mDNS, and not only the addresses that it is given.
    public var usesDiscovery = true

    private let key: DeviceKey
    private let trust: TrustStore
    private let store: URL
    private let app: AppID

    /// - Parameters:
    ///   - key: who this device is.
    ///   - trust: the devices that it trusts.
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
        seen.isKeyForked = trust.isKeyForked
        seen.isNodeRunning = node != nil
        seen.usesDiscovery = usesDiscovery
        seen.freeBytes = freeBytes
        let network = LocalNetwork.current ?? LocalNetwork()
        seen.addresses = network.addresses
        seen.cutLinks = network.cutLinks
        var book = AnnouncementBook(of: app)
        let devices = trust.devices
        let secrets = trust.standing == .member ? trust.household?.secrets ?? [] : []
        book.trust(devices.map(\.id), own: key.id, secrets: secrets)
        if usesDiscovery { await listen(&seen, &book, network, own: node?.port) }
        let now = MonotonicClock.wallClockMilliseconds
        let targets = book.targets(wallClockMilliseconds: now)
        let names = DeviceNames(devices)
        seen.wrongClocks = book.wrongClocks(wallClockMilliseconds: now).map { clock in
            Observations.WrongClock(name: clock.device.map { names[$0] }, address: clock.address, hoursAhead: clock.hoursAhead)
        }
        let places = book.own(wallClockMilliseconds: now).filter { !network.has($0.host) }
        seen.twin = await twin(at: places)
        let memory = AddressMemory(in: trust.file.deletingLastPathComponent(), logger: Self.silent)
        for device in devices {
            let peer = node?.peers.first { $0.deviceID == device.id.description }
            let announced = targets.filter { $0.device == nil || $0.device == device.id }.flatMap(\.addresses)
            let known = device.addresses + [peer?.address.flatMap { try? PeerAddress(parsing: $0) }].compactMap(\.self)
            let places = known + memory.addresses(of: device.id)
            let reach: Observations.Reach
            if peer?.state == .connected {
                reach = await probe(announced + places)
            } else {
                reach = await dial(device.id, places, announced)
            }
            seen.devices.append(
                Observations.Device(
                    name: names[device.id], reach: reach, lastError: peer?.lastError, twins: peer?.twins,
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

    private func listen(
        _ seen: inout Observations, _ book: inout AnnouncementBook, _ network: LocalNetwork, own port: Int?
    ) async {
        let discovery = Discovery(logger: Self.silent)
        let running = Task { await discovery.run() }
        let timer = Task {
            try? await Task.sleep(for: .milliseconds(listeningMilliseconds))
            running.cancel()
        }
        // Discovery tells of a node again when its announcement changes.
        var others: Set<InstanceName> = []
        for await event in discovery.events {
            switch event {
            case .appeared(let announcement), .changed(let announcement):
                let isOwn = Int(announcement.port) == port && announcement.addresses.contains { network.has($0.description) }
                if isOwn {
                    seen.isOwnAnnouncementHeard = true
                    others.remove(announcement.name)
                } else if book.found(announcement) {
                    others.insert(announcement.name)
                }
            case .disappeared, .status(.running): break
            case .status(.unavailable(let error)):
                seen.mdnsFailure = "\(error)"
                running.cancel()
            }
        }
        seen.announcementsHeard = others.count
        timer.cancel()
        await running.value
    }

    // MARK: Dialling

    /// The node has a connection, which another one by the same device would end: so it is only looked whether anybody listens there.
    private func probe(_ places: [PeerAddress]) async -> Observations.Reach {
        var addresses: [PeerAddress] = []
        for address in places where !addresses.contains(address) { addresses.append(address) }
        if addresses.isEmpty { return .connected(at: nil) }
        for address in addresses.prefix(NodeDialPlanner.addressesMax) {
            if await TCPProbe.isListening(at: address, milliseconds: dialMilliseconds) { return .connected(at: address.description) }
        }
        return .silent(at: addresses[0].description)
    }

    /// Where another machine has this device's key, of those that announce themselves as this device.
    private func twin(at places: [PeerAddress]) async -> String? {
        guard !places.isEmpty else { return nil }
        let transport: Transport
        do throws(TransportError) {
            transport = try Transport(key: key, admission: { _ in nil }, logger: Self.silent)
        } catch {
            return nil
        }
        var found: String?
        for place in places.prefix(NodeDialPlanner.addressesMax) where found == nil {
            do throws(TransportError) {
                let connection = try await transport.dial(
                    host: place.host, port: place.port, expecting: nil, timeoutMilliseconds: dialMilliseconds)
                await connection.close(reason: "the look at it is over")
            } catch {
                if error.code == .ownDevice { found = place.host }
            }
        }
        await transport.close()
        return found
    }

    private static let silent = Logger(label: "kith.doctor", factory: { _ in SwiftLogNoOpLogHandler() })

    private func dial(_ device: DeviceID, _ given: [PeerAddress], _ announced: [PeerAddress]) async -> Observations.Reach {
        var addresses: [PeerAddress] = []
        for address in announced + given where !addresses.contains(address) { addresses.append(address) }
        guard !addresses.isEmpty else { return .noAddress }
        var result = Observations.Reach.noAddress
        do throws(TransportError) {
            let transport = try Transport(
                key: key, stating: trust.statements,
                admission: { [trust] certificate in
                    certificate.id == device || trust.admission(of: certificate) == device ? device : nil
                }, logger: Self.silent)
            for address in addresses.prefix(NodeDialPlanner.addressesMax) {
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
