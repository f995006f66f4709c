/// Everything that is announced around this node, within limits whatever anybody sends.
///
/// When it is full, a new name takes the place of the oldest one that has had its turn of being looked up and is not kept; first of those
/// that led nowhere. If there is none, the new name is refused, and `hasOverflowed` asks for another browse later.
struct AnnouncementCache: Sendable {
    /// What a change leads to: what the reader is told, and which sightings need no look-up any more.
    struct Outcome: Hashable, Sendable {
        var events: [DiscoveryEvent] = []
        var removed: [Sighting] = []
    }

    private let limits: DiscoveryLimits
    private var services: [InstanceName: KnownService] = [:]
    private var arrivals: UInt64 = 0
    /// Whether a name was refused or crowded out since the last browse began.
    private(set) var hasOverflowed = false
    /// Whether no name may be crowded out at present, so that a flood is refused without looking for one.
    private var isExhausted = false

    init(limits: DiscoveryLimits) { self.limits = limits }

    var count: Int { services.count }

    func contains(_ sighting: Sighting) -> Bool {
        services[sighting.name]?.presences.contains { $0.interface == sighting.interface } ?? false
    }

    func host(of sighting: Sighting) -> String? {
        services[sighting.name]?.presences.first { $0.interface == sighting.interface }?.endpoint?.host
    }

    // MARK: Names

    mutating func insert(_ sighting: Sighting) -> Outcome {
        var outcome = Outcome()
        let presence = KnownService.Presence(interface: sighting.interface)
        if var service = services[sighting.name] {
            if let index = service.presences.firstIndex(where: { $0.interface == sighting.interface }) {
                service.presences[index].reports &+= 1
                service.presences[index].isStale = false
            } else if service.presences.count < limits.interfacesMax {
                service.presences.append(presence)
                service.presences.sort { $0.interface < $1.interface }
            }
            services[sighting.name] = service
        } else if services.count < limits.announcementsMax || makeRoom(&outcome) {
            services[sighting.name] = KnownService(name: sighting.name, arrival: arrivals, presences: [presence])
            arrivals &+= 1
        }
        return outcome
    }

    /// One report of the sighting is taken back.
    mutating func retract(_ sighting: Sighting) -> Outcome {
        var isGone = false
        update(sighting) { presence in
            presence.reports -= 1
            isGone = presence.reports <= 0
        }
        return isGone ? removePresences(of: sighting.name) { $0.interface == sighting.interface } : Outcome()
    }

    mutating func remove(_ name: InstanceName) -> Outcome { removePresences(of: name) { _ in true } }

    mutating func setKept(_ name: InstanceName, _ isKept: Bool) {
        services[name]?.isKept = isKept
        isExhausted = false
    }

    // MARK: Browsing anew

    /// A new browse has begun: what is known must be seen again before `dropStale`.
    mutating func markStale() {
        hasOverflowed = false
        for name in services.keys {
            services[name]?.presences.mutateEach { presence in
                presence.reports = 0
                presence.isStale = true
            }
        }
    }

    mutating func dropStale() -> Outcome {
        var outcome = Outcome()
        for name in services.keys.sorted() {
            let removal = removePresences(of: name, where: \.isStale)
            outcome.events += removal.events
            outcome.removed += removal.removed
        }
        return outcome
    }

    // MARK: Look-ups

    /// A look-up starts from nothing; until it has found addresses, the last good ones hold.
    mutating func lookupBegan(_ sighting: Sighting) {
        update(sighting) { presence in
            presence.lastGoodAddresses = presence.usableAddresses
            presence.addresses = []
        }
    }

    mutating func hadTurn(_ sighting: Sighting) {
        services[sighting.name]?.hadTurn = true
        isExhausted = false
    }

    mutating func resolved(_ sighting: Sighting, to endpoint: KnownService.Endpoint) -> Outcome {
        update(sighting) { presence in
            if let host = presence.endpoint?.host, !host.utf8.elementsEqual(endpoint.host.utf8) {
                presence.addresses = []
                presence.lastGoodAddresses = []
            }
            presence.endpoint = endpoint
        }
        return publish(sighting.name)
    }

    mutating func found(_ address: HostAddress, of sighting: Sighting) -> Outcome {
        let addressesMax = limits.addressesMax
        update(sighting) { presence in
            guard presence.addresses.count < addressesMax, !presence.addresses.contains(address) else { return }
            presence.addresses.append(address)
        }
        return publish(sighting.name)
    }

    /// The last address stays usable until another one is found: a node that changes networks is not lost in between.
    mutating func lost(_ address: HostAddress, of sighting: Sighting) -> Outcome {
        update(sighting) { presence in
            let before = presence.addresses
            presence.addresses.removeAll { $0 == address }
            if presence.addresses.isEmpty, !before.isEmpty { presence.lastGoodAddresses = before }
        }
        return publish(sighting.name)
    }

    // MARK: Parts

    private mutating func update(_ sighting: Sighting, _ change: (inout KnownService.Presence) -> Void) {
        guard var service = services[sighting.name],
            let index = service.presences.firstIndex(where: { $0.interface == sighting.interface })
        else { return }
        change(&service.presences[index])
        services[sighting.name] = service
    }

    private mutating func publish(_ name: InstanceName) -> Outcome {
        guard let service = services[name], let announcement = service.announcement(addressesMax: limits.addressesMax),
            announcement != service.published
        else { return Outcome() }
        services[name]?.published = announcement
        return Outcome(events: [service.published == nil ? .appeared(announcement) : .changed(announcement)])
    }

    private mutating func removePresences(of name: InstanceName, where isRemoved: (KnownService.Presence) -> Bool) -> Outcome {
        guard var service = services[name] else { return Outcome() }
        let removed = service.presences.filter(isRemoved).map { Sighting(name: name, interface: $0.interface) }
        service.presences.removeAll(where: isRemoved)
        guard service.presences.isEmpty else {
            services[name] = service
            return Outcome(events: publish(name).events, removed: removed)
        }
        services[name] = nil
        return Outcome(events: service.published == nil ? [] : [.disappeared(name)], removed: removed)
    }

    private mutating func makeRoom(_ outcome: inout Outcome) -> Bool {
        hasOverflowed = true
        guard !isExhausted else { return false }
        let candidates = services.values.lazy.filter { $0.hadTurn && !$0.isKept }
        let victim = candidates.min { left, right in
            let leftLedNowhere = left.published == nil
            let rightLedNowhere = right.published == nil
            return leftLedNowhere == rightLedNowhere ? left.arrival < right.arrival : leftLedNowhere
        }
        guard let victim else {
            isExhausted = true
            return false
        }
        outcome = remove(victim.name)
        return true
    }
}

extension Array {
    fileprivate mutating func mutateEach(_ change: (inout Element) -> Void) {
        for index in indices { change(&self[index]) }
    }
}
