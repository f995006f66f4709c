import Testing

@testable import KithDiscovery

@Suite("Nodes are followed as they come, change and go")
struct DiscoveryMachineTests {
    @Test func `a node appears once, when its address is known, and disappears when it is taken back`() throws {
        let daemon = SimulatedDaemon()
        let peer = try sighting("peer")
        daemon.send(.start)
        #expect(daemon.takeEvents() == [.status(.running)])
        daemon.sight(peer)
        daemon.resolve(peer, host: "a.local.", to: [])
        #expect(daemon.takeEvents().isEmpty)
        let first = try address(10, 0, 0, 7)
        daemon.report(first, of: "a.local.", interface: 2)
        let announcement = Announcement(name: peer.name, host: "a.local.", port: 4747, addresses: [first], attributes: TXTRecord())
        #expect(daemon.takeEvents() == [.appeared(announcement)])
        daemon.report(first, of: "a.local.", interface: 2)
        #expect(daemon.takeEvents().isEmpty)
        daemon.sight(peer, isPresent: false)
        #expect(daemon.takeEvents() == [.disappeared(peer.name)])
        #expect(daemon.open.values.map { $0 } == [.browse])
    }

    @Test func `a new address, port, host or attribute is a change; the last address stays until there is another`() throws {
        let daemon = SimulatedDaemon()
        let peer = try sighting("peer")
        let (old, new) = (try address(10, 0, 0, 7), try address(10, 0, 0, 8))
        daemon.send(.start)
        daemon.sight(peer)
        daemon.resolve(peer, host: "a.local.", to: [old])
        _ = daemon.takeEvents()

        daemon.report(old, of: "a.local.", interface: 2, isPresent: false)
        #expect(daemon.takeEvents().isEmpty)
        daemon.report(new, of: "a.local.", interface: 2)
        #expect(daemon.takeEvents().latestAddresses == [new])

        var text = TXTRecord()
        try text.set("v", to: [0x32])
        daemon.resolve(peer, host: "a.local.", port: 5000, text: text, to: [])
        guard case .changed(let changed) = daemon.takeEvents().last else { throw TestNameError() }
        #expect(changed.port == 5000 && changed.attributes == text && changed.addresses == [new])

        daemon.resolve(peer, host: "b.local.", port: 5000, text: text, to: [old])
        #expect(daemon.takeEvents().latestAddresses == [old])
        #expect(!daemon.isOpen(.addresses(host: "a.local.", family: .ipv4, interface: 2)))
    }

    @Test func `a name on two interfaces is one node with the addresses of both, until the last report of it is taken back`() throws {
        let daemon = SimulatedDaemon()
        let (wired, wireless) = (try sighting("peer", interface: 2), try sighting("peer", interface: 3))
        let (first, second) = (try address(10, 0, 0, 7), try address(192, 168, 0, 7))
        daemon.send(.start)
        for sighting in [wired, wired, wireless] { daemon.sight(sighting) }
        daemon.resolve(wired, host: "a.local.", to: [first])
        daemon.resolve(wireless, host: "a.local.", to: [second])
        #expect(daemon.takeEvents().latestAddresses == [first, second])
        daemon.sight(wireless, isPresent: false)
        #expect(daemon.takeEvents().latestAddresses == [first])
        daemon.sight(wired, isPresent: false)
        #expect(daemon.takeEvents().isEmpty)
        daemon.sight(wired, isPresent: false)
        #expect(daemon.takeEvents() == [.disappeared(wired.name)])
    }

    @Test func `8 addresses of a name are kept, a ninth is not`() throws {
        let daemon = SimulatedDaemon()
        let peer = try sighting("peer")
        daemon.send(.start)
        daemon.sight(peer)
        let addresses = try (1...9).map { try address(10, 0, 0, $0) }
        daemon.resolve(peer, host: "a.local.", to: addresses)
        #expect(daemon.takeEvents().latestAddresses == Array(addresses.prefix(8)))
    }

    @Test func `a port of 0 and unreadable attributes are tolerated`() throws {
        let daemon = SimulatedDaemon()
        let peer = try sighting("peer")
        let first = try address(10, 0, 0, 7)
        daemon.send(.start)
        daemon.sight(peer)
        daemon.resolve(peer, host: "a.local.", port: 0, to: [first])
        #expect(daemon.takeEvents() == [.status(.running)])
        let resolution = try #require(daemon.operations { $0 == .resolve(peer) }.first)
        daemon.send(.reply(resolution, .resolved(host: "a.local.", port: 1, text: [9, 1])))
        daemon.report(first, of: "a.local.", interface: 2)
        #expect(
            daemon.takeEvents().last
                == .appeared(
                    Announcement(name: peer.name, host: "a.local.", port: 1, addresses: [first], attributes: TXTRecord())))
    }

    @Test func `this node's own announcement is not news, under whatever name the daemon gave it`() throws {
        let daemon = SimulatedDaemon()
        let asked = try sighting("self")
        let given = try sighting("self #2")
        daemon.send(.announce(Advertisement(name: asked.name, port: 1)))
        daemon.send(.start)
        daemon.sight(asked)
        daemon.sight(given)
        #expect(daemon.isOpen(.resolve(given)) && !daemon.isOpen(.resolve(asked)))
        let registration = try #require(daemon.operations { if case .register = $0 { true } else { false } }.first)
        daemon.send(.reply(registration, .registered(given.name)))
        #expect(!daemon.isOpen(.resolve(given)))
        daemon.sight(given)
        #expect(!daemon.isOpen(.resolve(given)))
    }

    @Test func `new attributes are an update, a new port a new registration`() throws {
        let daemon = SimulatedDaemon()
        var advertisement = Advertisement(name: try sighting("self").name, port: 1)
        daemon.send(.start)
        daemon.send(.announce(advertisement))
        #expect(daemon.isOpen(.register(advertisement)))
        try advertisement.attributes.set("v", to: [0x32])
        daemon.send(.announce(advertisement))
        #expect(daemon.updates == [advertisement.attributes])
        advertisement.port = 2
        daemon.send(.announce(advertisement))
        #expect(daemon.open.count == 2 && daemon.isOpen(.register(advertisement)))
    }
}

extension [DiscoveryEvent] {
    /// The addresses of the node that appeared or changed last; nil if none did.
    var latestAddresses: [HostAddress]? {
        for event in reversed() {
            if case .appeared(let announcement) = event { return announcement.addresses }
            if case .changed(let announcement) = event { return announcement.addresses }
        }
        return nil
    }
}
