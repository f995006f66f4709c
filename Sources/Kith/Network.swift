import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging
import Synchronization

/// The part of a node that exists while devices are trusted: it listens, announces, dials and runs sessions.
actor Network {
    let node: Node
    private let transport: Transport
    private let discovery: Discovery?
    private var planner = DialPlanner()
    private var random = SystemRandomNumberGenerator()
    private var sessions: [DeviceID: SessionRunner] = [:]
    /// Wakes the dialling loop when there may be something to dial.
    private let alarm = Alarm()
    /// Wakes whoever looks whether the list of devices or the household has changed.
    let trustAlarm = Alarm()
    private var announcements: AnnouncementBook
    private let household: HouseholdExchange
    /// Who this device is as long as this runs.
    private let key: DeviceKey
    /// The group that the sessions were opened with.
    private var group: [UInt8] = []

    init(_ node: Node) throws {
        self.node = node
        announcements = AnnouncementBook(of: node.configuration.app)
        var configuration = TransportConfiguration()
        configuration.initialFrameBytesMax = WireLimits.helloBytesMax
        configuration.frameBytesMax = WireLimits.frameBytesMax
        let trust = node.trust
        key = node.key
        do throws(TransportError) {
            transport = try Transport(
                key: key, stating: trust.statements, configuration: configuration, admission: trust.admission(of:),
                logger: node.logger)
        } catch {
            throw NodeError(.invalidIdentity, error.message)
        }
        household = HouseholdExchange(trust: trust, hub: node.hub, logger: node.logger) { [trustAlarm] in trustAlarm.ring() }
        discovery = node.configuration.usesDiscovery ? Discovery(logger: node.logger) : nil
    }

    /// Runs until no device is trusted any more, or the task is cancelled.
    func run() async throws {
        let port = try await listen()
        node.board.listens(on: port)
        noteTrust()
        await withDiscardingTaskGroup { group in
            if let discovery {
                group.addTask { await self.announce(port: port, by: discovery) }
                group.addTask { await discovery.run() }
                group.addTask { await self.follow(discovery) }
            }
            group.addTask { await self.accept() }
            group.addTask { await self.dial() }
            await self.watchTrust()
            group.cancelAll()
            await self.transport.close()
        }
        node.board.listens(on: nil)
        node.board.mdns("not used", fails: false)
    }

    /// On the port that was used before, if there was one: peers may have noted it.
    private func listen() async throws -> Int {
        let earlier = node.lastPort.withLock { $0 }
        let port: Int
        if let earlier, let again = try? await bind(earlier) { port = again } else { port = try await listenAnew() }
        node.lastPort.withLock { $0 = port }
        return port
    }

    private func listenAnew() async throws -> Int {
        do {
            if let port = node.configuration.port { return try await bind(port) }
            do throws(TransportError) {
                return try await bind(NodeConfiguration.preferredPort)
            } catch {
                return try await bind(0)
            }
        } catch {
            throw NodeError(.portUnavailable, error.message)
        }
    }

    /// Listens on all addresses, of IPv4 alone on a machine where IPv6 is switched off.
    private func bind(_ port: Int) async throws(TransportError) -> Int {
        do throws(TransportError) {
            return try await transport.listen(host: "::", port: port)
        } catch  where error.code != .portInUse {
            return try await transport.listen(host: "0.0.0.0", port: port)
        }
    }

    /// Returns when no device is trusted any more, or this one has another key.
    private func watchTrust() async {
        while !Task.isCancelled, !node.trust.devices.isEmpty, node.key.id == key.id {
            await trustAlarm.sleep(until: MonotonicClock.now.advanced(byMilliseconds: Int64(Node.trustPollMilliseconds)))
            guard node.reloadTrust() else { continue }
            let isOtherGroup = group != currentGroup
            if isOtherGroup {
                for session in sessions.values {
                    session.post(.close(CloseReason(.shutdown, "The household of this device has changed.")))
                }
            }
            noteTrust()
            household.tellEverybody()
            alarm.ring()
        }
    }

    /// Takes in who is trusted now.
    private func noteTrust() {
        let trust = node.trust
        let devices = trust.devices
        group = currentGroup
        let secrets = trust.standing == .member ? trust.household?.secrets ?? [] : []
        announcements.trust(devices.map(\.id), own: key.id, secrets: secrets)
        planner.trust(devices, now: MonotonicClock.now)
        planTargets()
    }

    private var currentGroup: [UInt8] { node.trust.household?.id.bytes ?? [] }

    // MARK: Discovery

    private func follow(_ discovery: Discovery) async {
        for await event in discovery.events {
            switch event {
            case .appeared(let announcement), .changed(let announcement):
                if announcements.found(announcement) { planTargets() }
                alarm.ring()
            case .disappeared(let name):
                announcements.lost(name)
                planTargets()
            case .status(.running):
                node.board.mdns("running", fails: false)
            case .status(.unavailable(let error)):
                node.board.mdns("\(error)", fails: true)
            }
        }
    }

    /// Lets what is announced by whom it may concern be dialled, and nothing else that was announced.
    private func planTargets() {
        let targets = announcements.targets(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds)
        planner.found(targets, now: MonotonicClock.now)
    }

    // MARK: Connections

    private func accept() async {
        await withDiscardingTaskGroup { group in
            for await connection in transport.incoming {
                group.addTask { await self.take(connection, dialled: nil) }
            }
        }
    }

    /// Dials whatever is due, until the task is cancelled.
    private func dial() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for (target, device, addresses) in planner.start(now: MonotonicClock.now) {
                    group.addTask { await self.dial(target, expecting: device, at: addresses) }
                }
                node.board.dials(planner.isDialling)
                await alarm.sleep(until: planner.nextDue)
            }
        }
    }

    private func dial(_ target: DialTarget, expecting device: DeviceID?, at addresses: [PeerAddress]) async {
        var failure: TransportError?
        for address in addresses where !Task.isCancelled {
            do throws(TransportError) {
                let connection = try await transport.dial(
                    host: address.host, port: address.port, expecting: device, timeoutMilliseconds: 5_000)
                await take(connection, dialled: target)
                return
            } catch {
                failure = error
                // Who answered and was refused answers the same at the other addresses.
                if error.advice == .afterChange { break }
            }
        }
        if let device, let failure { node.board.failed(device, failure.message) }
        planner.failed(
            target, failure?.advice ?? .later, now: MonotonicClock.now, using: &random)
        node.board.dials(planner.isDialling)
        alarm.ring()
    }

    /// Runs a session over `connection` until it ends, unless another one to the same device stays, or that one leaves.
    private func take(_ connection: Connection, dialled target: DialTarget?) async {
        guard node.trust.farewell(in: connection.certificate) == nil else {
            await household.hearFarewell(over: connection)
            if let target { planner.failed(target, .later, now: MonotonicClock.now, using: &random) }
            return
        }
        household.hear(connection.certificate)
        let device = connection.peer
        let runner = makeRunner(connection)
        planner.connected(device, dialled: target)
        // Its announcement proved to be of use: a flood of others does not crowd it out.
        if case .announced(let name)? = target { await discovery?.keep(name) }
        node.board.dials(planner.isDialling)
        // Whoever was expected there may be elsewhere.
        alarm.ring()
        let reason: CloseReason
        if let old = sessions[device], choice(old.connection, connection) == .keepOld {
            await connection.close(reason: "another connection to this device is kept")
            reason = CloseReason(.replaced, "Another connection to this device is kept.")
        } else {
            sessions[device]?.post(.close(CloseReason(.replaced, "A newer connection to this device is kept.")))
            sessions[device] = runner
            // An accepted connection comes from a passing port, which says nothing about where the device is reached.
            node.board.connected(device, address: connection.isInitiator ? connection.remoteAddress : nil)
            reason = await runner.run()
        }
        if sessions[device] === runner {
            sessions[device] = nil
            node.board.disconnected(device, reason.message)
            node.upkeep.disconnected(device)
        }
        node.logger.debug("a session ended", metadata: ["device": "\(device.shortDescription)", "reason": "\(reason.message)"])
        if runner.peer != nil { planner.succeeded(device) }
        let advice = runner.refusedGroup.map { meet(group: $0, of: device) } ?? reason.code.retry
        planner.disconnected(
            device, advice, isReplaced: reason.code == .replaced, now: MonotonicClock.now, using: &random)
        alarm.ring()
    }

    private func choice(_ old: Connection, _ new: Connection) -> ConnectionChoice {
        ConnectionChoice(
            own: key.id, peer: new.peer, oldIsInitiator: old.isInitiator, newIsInitiator: new.isInitiator)
    }

    private func makeRunner(_ connection: Connection) -> SessionRunner {
        let device = connection.peer
        let board = node.board
        let upkeep = node.upkeep
        var configuration = PeerSession.Configuration(
            app: node.configuration.app, group: currentGroup, software: node.configuration.software)
        configuration.capabilities.formUnion([.household, .compression])
        if node.store.keepsAttachments { configuration.capabilities.insert(.attachments) }
        return SessionRunner(
            connection, configuration, store: node.store, hub: node.hub, exchange: node.exchange, household: household,
            onStatus: { [logger = node.logger] status in
                upkeep.heard(device, status)
                guard board.progress(device, status) else { return }
                logger.warning(
                    "rows differed although both machines knew the same, and were mended",
                    metadata: ["device": "\(device.shortDescription)", "rows": "\(status.mended)"])
            })
    }
}

extension TransportError {
    /// When it makes sense to dial again.
    fileprivate var advice: RetryAdvice {
        switch code {
        case .untrustedPeer, .unexpectedPeer, .ownDevice, .refusedByPeer, .refusedCertificate, .wrongProtocol: .afterChange
        default: .later
        }
    }
}
