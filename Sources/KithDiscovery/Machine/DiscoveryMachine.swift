/// Discovery without any I/O: which operations of the mDNS daemon are to run, and what follows from their answers.
///
/// The daemon may fail at any moment. Then every operation is closed, what was found is kept as it is, and after a wait, which doubles
/// with each failure, all of it begins anew.
struct DiscoveryMachine: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct OperationID: Hashable, Sendable { let number: UInt64 }

    enum Input: Sendable {
        case start
        case stop
        /// What this node says about itself from now on.
        case announce(Advertisement)
        case keep(InstanceName, Bool)
        /// The operation could be started.
        case opened(OperationID)
        case reply(OperationID, ServiceReply)
        /// `nextWake` has come.
        case wake
    }

    enum Effect: Hashable, Sendable {
        /// Answer with `.opened`, or with `.reply(_, .failed)` if it cannot be started.
        case open(OperationID, ServiceRequest)
        /// The attributes of a running `.register`.
        case update(OperationID, TXTRecord)
        case close(OperationID)
        case emit(DiscoveryEvent)
    }

    private enum Phase { case stopped, running, failed(retryAt: Instant) }

    private enum Role: Hashable {
        case browse
        case registration
        case lookup(Sighting)
    }

    private let limits: DiscoveryLimits
    private var phase = Phase.stopped
    private var status: DiscoveryStatus?
    private var failures = 0
    private var roles: [OperationID: Role] = [:]
    private var operations: [Role: [OperationID]] = [:]
    private var operationsOpened: UInt64 = 0
    private var advertisement: Advertisement?
    /// The name under which the daemon has registered this node.
    private var registeredName: InstanceName?
    private var cache: AnnouncementCache
    private var rotation: LookupRotation
    private var confirmationEnd: Instant?
    private var rebrowseAt: Instant?

    init(limits: DiscoveryLimits) {
        self.limits = limits
        cache = AnnouncementCache(limits: limits)
        rotation = LookupRotation(slotsMax: limits.lookupsMax, turn: limits.lookupTurn)
    }

    var announcementCount: Int { cache.count }
    var operationCount: Int { roles.count }

    /// When `.wake` is due next.
    var nextWake: Instant? {
        switch phase {
        case .stopped: nil
        case .failed(let retryAt): retryAt
        case .running: [confirmationEnd, rebrowseAt, rotation.nextStep].compactMap(\.self).min()
        }
    }

    mutating func handle(_ input: Input, now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .start: if case .stopped = phase { begin(now, &effects) }
        case .stop:
            closeAll(&effects)
            phase = .stopped
        case .announce(let advertisement): announce(advertisement, &effects)
        case .keep(let name, let isKept): cache.setKept(name, isKept)
        case .opened(let id): if roles[id] == .browse { report(.running, &effects) }
        case .reply(let id, let reply): if let role = roles[id] { handle(reply, from: role, now, &effects) }
        case .wake: wake(now, &effects)
        }
        if case .running = phase { advanceLookups(now, &effects) }
        return effects
    }

    // MARK: Life of the daemon

    private mutating func begin(_ now: Instant, _ effects: inout [Effect]) {
        phase = .running
        browse(now, &effects)
        if let advertisement { open(.register(advertisement), as: .registration, &effects) }
    }

    private mutating func browse(_ now: Instant, _ effects: inout [Effect]) {
        close(.browse, &effects)
        cache.markStale()
        confirmationEnd = now + limits.confirmation
        rebrowseAt = nil
        open(.browse, as: .browse, &effects)
    }

    private mutating func daemonFailed(code: Int32, _ now: Instant, _ effects: inout [Effect]) {
        closeAll(&effects)
        let doublings = min(failures, 16)
        phase = .failed(retryAt: now + min(limits.retryFirst * (1 << doublings), limits.retryMax))
        failures = doublings + 1
        report(.unavailable(.daemonUnavailable(code: code)), &effects)
    }

    private mutating func wake(_ now: Instant, _ effects: inout [Effect]) {
        switch phase {
        case .stopped: break
        case .failed(let retryAt): if retryAt <= now { begin(now, &effects) }
        case .running:
            if let end = confirmationEnd, end <= now {
                confirmationEnd = nil
                failures = 0
                apply(cache.dropStale(), &effects)
            }
            if let due = rebrowseAt, due <= now { browse(now, &effects) }
        }
    }

    // MARK: Answers of the daemon

    private mutating func handle(_ reply: ServiceReply, from role: Role, _ now: Instant, _ effects: inout [Effect]) {
        switch (role, reply) {
        case (.browse, .sighted(let sighting, let isPresent)):
            if isPresent { appeared(sighting, now, &effects) } else { apply(cache.retract(sighting), &effects) }
        case (.registration, .registered(let name)):
            registeredName = name
            apply(cache.remove(name), &effects)
        case (.lookup(let sighting), .resolved(let host, let port, let text)):
            resolved(sighting, host: host, port: port, text: text, &effects)
        case (.lookup(let sighting), .address(let address, let isPresent)):
            apply(isPresent ? cache.found(address, of: sighting) : cache.lost(address, of: sighting), &effects)
        case (.lookup(let sighting), .failed):
            close(role, &effects)
            cache.hadTurn(sighting)
            rotation.failed(sighting, now: now)
        case (_, .failed(let code)):
            daemonFailed(code: code, now, &effects)
        default: break
        }
    }

    private mutating func appeared(_ sighting: Sighting, _ now: Instant, _ effects: inout [Effect]) {
        guard sighting.name != ownName else { return }
        apply(cache.insert(sighting), &effects)
        if cache.contains(sighting) { rotation.insert(sighting, now: now) }
        if cache.hasOverflowed, rebrowseAt == nil { rebrowseAt = now + limits.rebrowse }
    }

    private mutating func resolved(_ sighting: Sighting, host: String, port: UInt16, text: [UInt8], _ effects: inout [Effect]) {
        guard port != 0 else { return }
        let role = Role.lookup(sighting)
        // The first operation of a look-up resolves; those after it ask for the addresses of the host it led to.
        let addressOperations = operations[role, default: []].dropFirst()
        let isSameHost = cache.host(of: sighting)?.utf8.elementsEqual(host.utf8) ?? false
        let attributes = (try? TXTRecord(wire: text)) ?? TXTRecord()
        apply(cache.resolved(sighting, to: KnownService.Endpoint(host: host, port: port, attributes: attributes)), &effects)
        if isSameHost, !addressOperations.isEmpty { return }
        for id in addressOperations { close(id, &effects) }
        for family in AddressFamily.allCases {
            open(.addresses(host: host, family: family, interface: sighting.interface), as: role, &effects)
        }
    }

    // MARK: This node's own announcement

    private var ownName: InstanceName? { registeredName ?? advertisement?.name }

    private mutating func announce(_ new: Advertisement, _ effects: inout [Effect]) {
        let old = advertisement
        advertisement = new
        guard case .running = phase, new != old else { return }
        if let old, new.name == old.name, new.port == old.port, let id = operations[.registration]?.first {
            effects.append(.update(id, new.attributes))
            return
        }
        close(.registration, &effects)
        apply(cache.remove(new.name), &effects)
        open(.register(new), as: .registration, &effects)
    }

    // MARK: Parts

    private mutating func advanceLookups(_ now: Instant, _ effects: inout [Effect]) {
        let step = rotation.advance(now: now)
        for sighting in step.close {
            close(.lookup(sighting), &effects)
            cache.hadTurn(sighting)
        }
        for sighting in step.open {
            cache.lookupBegan(sighting)
            open(.resolve(sighting), as: .lookup(sighting), &effects)
        }
    }

    private mutating func apply(_ outcome: AnnouncementCache.Outcome, _ effects: inout [Effect]) {
        effects += outcome.events.map(Effect.emit)
        for sighting in outcome.removed where rotation.remove(sighting) { close(.lookup(sighting), &effects) }
    }

    private mutating func report(_ new: DiscoveryStatus, _ effects: inout [Effect]) {
        guard new != status else { return }
        status = new
        effects.append(.emit(.status(new)))
    }

    private mutating func open(_ request: ServiceRequest, as role: Role, _ effects: inout [Effect]) {
        let id = OperationID(number: operationsOpened)
        operationsOpened &+= 1
        roles[id] = role
        operations[role, default: []].append(id)
        effects.append(.open(id, request))
    }

    private mutating func close(_ role: Role, _ effects: inout [Effect]) {
        for id in operations[role, default: []] { close(id, &effects) }
        if role == .registration { registeredName = nil }
    }

    private mutating func close(_ id: OperationID, _ effects: inout [Effect]) {
        guard let role = roles.removeValue(forKey: id) else { return }
        operations[role]?.removeAll { $0 == id }
        if operations[role]?.isEmpty == true { operations[role] = nil }
        effects.append(.close(id))
    }

    private mutating func closeAll(_ effects: inout [Effect]) {
        for id in roles.keys.sorted(by: { $0.number < $1.number }) { close(id, &effects) }
        registeredName = nil
        rotation.removeAll()
        confirmationEnd = nil
        rebrowseAt = nil
    }
}
