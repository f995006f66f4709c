import Foundation
import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging
import Synchronization

/// The part of a node that exists while devices are trusted: it listens, announces, dials and runs sessions.
actor Network {
    let node: Node
    private let transport: any PeerTransport
    private let discovery: Discovery?
    private var planner = NodeDialPlanner()
    private var random = SystemRandomNumberGenerator()
    private(set) var sessions: [DeviceID: SessionRunner] = [:]
    /// Those of them that were told to make place for others.
    var leaving: Set<DeviceID> = []
    /// Since when each of them is there.
    private var since: [DeviceID: Instant] = [:]
    /// Wakes the dialling loop when there may be something to dial.
    private let alarm = Alarm()
    /// Wakes whoever looks whether the list of devices or the household has changed.
    let trustAlarm = Alarm()
    /// Wakes whoever looks for another machine with this device's key.
    private let twinAlarm = Alarm()
    private var announcements: AnnouncementBook
    private let addresses: AddressMemory
    /// The network cards and their addresses, as last heard.
    private var links: LocalNetwork?
    private var twins = TwinWatch()
    /// The search by mDNS, while it goes on.
    private var search: NodeOperation?
    /// Where somebody announced itself as this device and was not it, and when that was looked at.
    private var looked: [PeerAddress: Instant] = [:]
    /// Those of them that have its key.
    private var twinPlaces: Set<PeerAddress> = []
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
        transport = try node.makeTransport(configuration, admission: trust.admission(of:))
        household = HouseholdExchange(trust: trust, hub: node.hub, logger: node.logger) { [trustAlarm] in trustAlarm.ring() }
        addresses = AddressMemory(in: trust.file.deletingLastPathComponent(), logger: node.logger)
        discovery = node.usesDiscovery ? Discovery(logger: node.logger) : nil
    }

    /// Runs until no device is trusted any more, or the task is cancelled.
    func run() async throws {
        let port = try await node.listen(by: transport)
        node.board.listens(on: port)
        noteTrust()
        await withDiscardingTaskGroup { group in
            if let discovery {
                group.addTask { await self.announce(port: port, by: discovery) }
                group.addTask { await discovery.run() }
                group.addTask { await self.follow(discovery.events) }
            }
            group.addTask { await self.lookForTwins() }
            group.addTask { await self.accept() }
            if !node.configuration.isInProcess {
                group.addTask { for await links in NetworkWatch.networks { await self.note(links) } }
            }
            group.addTask { await self.dial() }
            await self.watchTrust()
            group.cancelAll()
            await self.transport.close()
        }
        node.board.listens(on: nil)
        node.board.mdns("not used", fails: false)
    }

    /// Returns when no device is trusted any more, or this one has another key.
    private func watchTrust() async {
        while !Task.isCancelled, !node.trust.devices.isEmpty, node.key.id == key.id {
            await trustAlarm.sleep(until: MonotonicClock.now.advanced(byMilliseconds: Int64(Node.trustPollMilliseconds)))
            noteTwins()
            node.board.passTime(MonotonicClock.now)
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
        addresses.keep(only: devices.map(\.id))
        twins.keep(only: devices.map(\.id))
        planner.trust(devices.map { ($0.id, node.addresses(of: $0)) }, now: MonotonicClock.now, remembered: addresses.addresses(of:))
        planTargets()
    }

    private var currentGroup: [UInt8] { node.trust.household?.id.bytes ?? [] }

    // MARK: Discovery

    /// Until `events` end.
    func follow(_ events: AsyncStream<DiscoveryEvent>) async {
        defer { search.take()?.end() }
        for await event in events {
            switch event {
            case .appeared(let announcement), .changed(let announcement):
                search?.progress()
                if announcements.found(announcement) { planTargets() }
                alarm.ring()
                twinAlarm.ring()
            case .disappeared(let name):
                announcements.lost(name)
                planTargets()
            case .status(.running):
                node.board.mdns("running", fails: false)
                if search == nil { search = node.happenings.begin(.discover) }
            case .status(.unavailable(let error)):
                node.board.mdns("\(error)", fails: true)
                (search.take() ?? node.happenings.begin(.discover)).fail("\(error)")
            }
        }
    }

    /// Lets what is announced by whom it may concern be dialled, and nothing else that was announced.
    private func planTargets() {
        let targets = announcements.targets(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds)
        planner.found(targets, now: MonotonicClock.now)
        for (_, device, places) in targets {
            if let device, sessions[device]?.peer != nil { remember(places, of: device) }
        }
    }

    /// A session with `device` came about, and it is reached there.
    private func remember(_ places: [PeerAddress], of device: DeviceID) {
        addresses.note(places, of: device)
        let given = node.trust.device(device)?.addresses ?? []
        planner.remember(given + addresses.addresses(of: device).filter { !given.contains($0) }, of: device)
    }

    /// A cable was pulled or plugged in, or an address came or went: what cannot work any more ends now, what may work again is tried.
    private func note(_ links: LocalNetwork) {
        let before = self.links
        self.links = links
        node.board.network(isConnected: links.isConnected, cut: links.cutLinks)
        // What was heard before can be judged now.
        if before == nil { twinAlarm.ring() }
        guard let before, before != links else { return }
        for session in sessions.values {
            guard let local = session.connection.localAddress?.host, before.carries(local), !links.carries(local) else { continue }
            session.connection.abort(reason: Self.linkLost)
        }
        if Set(links.addresses).isSubset(of: before.addresses) { return }
        planner.retryAll(now: MonotonicClock.now)
        alarm.ring()
        twinAlarm.ring()
    }

    private static let linkLost = "the network link or the address that it used is gone"

    // MARK: Two machines with one key

    private func lookForTwins() async {
        while !Task.isCancelled {
            await lookForTwin()
            await twinAlarm.sleep(until: nil)
        }
    }

    /// Who announces itself as this device, elsewhere than here, is asked whether it has the key.
    private func lookForTwin() async {
        let now = MonotonicClock.now
        looked = looked.filter { now.milliseconds - $0.value.milliseconds < TwinWatch.windowMilliseconds }
        let places = ownPlaces.filter { looked[$0] == nil }
        for place in places.prefix(Self.twinsLookedAtMax) {
            looked[place] = now
            do throws(TransportError) {
                let connection = try await transport.dial(
                    host: place.host, port: place.port, expecting: nil, timeoutMilliseconds: 5_000)
                await connection.close(reason: "it was looked at who is there")
            } catch {
                guard error.code == .ownDevice else { continue }
                twinPlaces.insert(place)
                noteTwins()
                node.logger.warning("another machine uses this device's key", metadata: ["address": "\(place)"])
            }
        }
        if places.count > Self.twinsLookedAtMax { twinAlarm.ring() }
    }

    /// Where this device is announced and is not: another machine, or its own announcement from before its address changed.
    private var ownPlaces: [PeerAddress] {
        guard let links else { return [] }
        return announcements.own(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds).filter { !links.has($0.host) }
    }

    /// Lets the status say which keys two machines use, as far as is known now.
    private func noteTwins() {
        let places = twinPlaces.isEmpty ? [] : ownPlaces.filter(twinPlaces.contains)
        twinPlaces.formIntersection(places)
        node.board.twin(at: places.first?.host)
        let now = MonotonicClock.now
        for device in node.trust.devices { node.board.twins(device.id, at: twins.hosts(of: device.id, now: now)) }
    }

    /// Places that are asked at once.
    private static let twinsLookedAtMax = 4

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
                for dial in planner.start(now: MonotonicClock.now) {
                    group.addTask { await self.dial(dial.target, expecting: dial.device, at: dial.addresses) }
                }
                node.board.dials(planner.isDialling)
                await alarm.sleep(until: planner.nextDue)
            }
        }
    }

    private func dial(_ target: NodeDialPlanner.Target, expecting device: DeviceID?, at addresses: [PeerAddress]) async {
        let attempt = device.map { node.happenings.begin(.connect, with: $0) }
        let outcome = await AddressRace.run(addresses) {
            await self.isWanted(device)
        } discard: { (connection: Connection) in
            await connection.close(reason: "another address answered before")
        } dial: { [transport] (address) throws(TransportError) in
            try await transport.dial(host: address.host, port: address.port, expecting: device, timeoutMilliseconds: 5_000)
        }
        if case .success(let connection)? = outcome { return await take(connection, dialled: target, attempt) }
        var failure: TransportError?
        if case .failure(let error)? = outcome { failure = error }
        // If the device has connected to this one meanwhile, the dial that failed says nothing of it.
        let isMissed = device.map { sessions[$0] == nil } ?? true
        if let failure, isMissed { attempt?.fail(failure.message) } else { attempt?.end() }
        if let device, let failure, isMissed {
            node.board.failed(device, failure.message, isRefused: failure.code == .refusedByPeer)
        }
        planner.failed(
            target, failure?.advice ?? .later, now: MonotonicClock.now, using: &random)
        node.board.dials(planner.isDialling)
        alarm.ring()
    }

    /// Whether `device` has no session: another address may have reached it since the dial began.
    private func isWanted(_ device: DeviceID?) -> Bool { device.map { sessions[$0] == nil } ?? true }

    /// Runs a session over `connection` until it ends, unless another one to the same device stays, or that one leaves.
    private func take(_ connection: Connection, dialled target: NodeDialPlanner.Target?, _ attempt: NodeOperation? = nil) async {
        let attempt = attempt ?? node.happenings.begin(.connect, with: connection.peer)
        defer { attempt.end() }
        guard node.trust.farewell(in: connection.certificate) == nil else {
            await household.hearFarewell(over: connection)
            if let target { planner.failed(target, .later, now: MonotonicClock.now, using: &random) }
            alarm.ring()
            return
        }
        household.hear(connection.certificate)
        let device = connection.peer
        // Two machines with one key would cut each other off for ever: the first stays.
        let isTwin = sessions[device] != nil && twins.hosts(of: device, now: MonotonicClock.now) != nil
        planner.connected(device, dialled: target)
        // Its announcement proved to be of use: a flood of others does not crowd it out.
        if case .announced(let name)? = target { await discovery?.keep(name) }
        node.board.dials(planner.isDialling)
        // Whoever was expected there may be elsewhere.
        alarm.ring()
        let end: SessionRunner.End
        var advice: RetryAdvice?
        if let old = sessions[device], isTwin || choice(old.connection, connection) == .keepOld {
            if isTwin { twins.heardAgain(device, now: MonotonicClock.now) }
            await connection.close(reason: "another connection to this device is kept")
            end = SessionRunner.End(reason: CloseReason(.replaced, "Another connection to this device is kept."))
        } else if let full = makePlace(for: device) {
            await connection.close(reason: full.message)
            end = SessionRunner.End(reason: full)
        } else {
            let runner = makeRunner(connection, attempt)
            sessions[device]?.post(.close(CloseReason(.replaced, "A newer connection to this device is kept.")))
            sessions[device] = runner
            leaving.remove(device)
            since[device] = MonotonicClock.now
            // An accepted connection comes from a passing port, which says nothing about where the device is reached.
            node.upkeep.connected(device, by: runner.id)
            node.board.connected(device, by: runner.id, address: connection.isInitiator ? connection.remoteAddress : nil)
            end = await runner.run()
            if end.reason.code != .shutdown, end.reason.code != .replaced { attempt.fail(end.reason.sentence) }
            noteReplica(of: runner)
            advice = end.refusedGroup.map { meet(group: $0, of: device) }
            if sessions[device] === runner {
                sessions[device] = nil
                leaving.remove(device)
                let obstacle = end.reason.code == .storeFailed && !end.reason.isFromPeer ? end.reason.message : nil
                // This device joins the other one's household, or that joins this one's.
                let joins = end.refusedGroup.map { advice == .atOnce || $0.isEmpty } ?? false
                let isDialledAgain = joins && connection.isInitiator
                let back = isDialledAgain ? MonotonicClock.now.advanced(byMilliseconds: StatusBoard.returnMilliseconds) : nil
                node.board.disconnected(
                    device, end.isOwnWish || obstacle != nil ? nil : end.reason.sentence, isRefused: end.isRefusedByPeer,
                    obstacle: obstacle, returnsAt: back)
                node.upkeep.disconnected(device)
            }
        }
        node.logger.debug("a session ended", metadata: ["device": "\(device.shortDescription)", "reason": "\(end.reason.message)"])
        // Where a disk is full on either side, to dial again at once would only repeat what was done.
        if end.peer != nil, end.reason.code != .storeFailed { planner.succeeded(device) }
        planner.disconnected(
            device, advice ?? end.reason.code.retry, isReplaced: end.reason.code == .replaced, now: MonotonicClock.now, using: &random)
        alarm.ring()
    }

    /// Which store spoke for the device.
    private func noteReplica(of runner: SessionRunner) {
        guard let replica = runner.peer else { return }
        let device = runner.connection.peer
        let now = MonotonicClock.now
        twins.saw(device, as: replica, at: runner.connection.remoteAddress?.host ?? "?", now: now)
        node.board.twins(device, at: twins.hosts(of: device, now: now))
    }

    /// Two that dial each other at the same time agree on one of the connections.
    private func choice(_ old: Connection, _ new: Connection) -> ConnectionChoice {
        ConnectionChoice(
            own: key.id, peer: new.peer, oldIsInitiator: old.isInitiator, newIsInitiator: new.isInitiator,
            oldAgeMilliseconds: since[new.peer].map { MonotonicClock.now.milliseconds - $0.milliseconds } ?? 0)
    }

    private func makeRunner(_ connection: Connection, _ attempt: NodeOperation) -> SessionRunner {
        let device = connection.peer
        let board = node.board
        let upkeep = node.upkeep
        var configuration = PeerSession.Configuration(
            app: node.configuration.app, group: currentGroup, software: node.configuration.software)
        configuration.capabilities.formUnion([.household, .compression])
        configuration.proofs = node.proofs.withLock { $0 }
        configuration.peerDevice = device.bytes
        if node.store.keepsAttachments { configuration.capabilities.insert(.attachments) }
        let isMet = Mutex(false)
        return SessionRunner(
            connection, configuration, store: node.store, hub: node.hub, exchange: node.exchange, household: household,
            events: node.happenings,
            onStatus: { [logger = node.logger, addresses] status, session in
                upkeep.heard(device, status, of: session)
                let isFirst = isMet.withLock { isMet in
                    defer { isMet = true }
                    return !isMet
                }
                if isFirst {
                    attempt.progress()
                    // Where it was dialled it will be found again.
                    if connection.isInitiator, let place = connection.remoteAddress { addresses.note([place], of: device) }
                }
                guard board.progress(device, status, of: session) else { return }
                logger.warning(
                    "rows differed although both machines knew the same, and were mended",
                    metadata: ["device": "\(device.shortDescription)", "rows": "\(status.mended)"])
            })
    }
}

extension TransportError {
    /// When it makes sense to dial again.
    var advice: RetryAdvice {
        switch code {
        case .untrustedPeer, .unexpectedPeer, .ownDevice, .refusedByPeer, .refusedCertificate, .wrongProtocol: .afterChange
        default: .later
        }
    }
}
