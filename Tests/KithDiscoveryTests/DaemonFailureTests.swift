import TestSupport
import Testing

@testable import KithDiscovery

@Suite("The mDNS daemon may be absent, die and come back")
struct DaemonFailureTests {
    private let unavailable = DiscoveryEvent.status(.unavailable(.daemonUnavailable(code: -65563)))

    /// A daemon with one node that is announced and resolved.
    private func withPeer() throws -> (SimulatedDaemon, Sighting, HostAddress) {
        let daemon = SimulatedDaemon()
        let (peer, place) = (try sighting("peer"), try address(10, 0, 0, 7))
        daemon.send(.announce(Advertisement(name: try sighting("self").name, port: 1)))
        daemon.send(.start)
        daemon.sight(peer)
        daemon.resolve(peer, host: "a.local.", to: [place])
        daemon.advance(by: .seconds(60))
        _ = daemon.takeEvents()
        return (daemon, peer, place)
    }

    @Test func `without a daemon that is said once, and it is tried again ever more slowly`() {
        let daemon = SimulatedDaemon()
        daemon.isDown = true
        daemon.send(.start)
        daemon.advance(by: .seconds(3600))
        #expect(daemon.takeEvents() == [unavailable])
        #expect((300...400).contains(daemon.attemptsWhileDown))
        daemon.isDown = false
        daemon.advance(by: .seconds(10))
        #expect(daemon.takeEvents() == [.status(.running)])
    }

    @Test func `when it dies everything is let go, nodes stay known, and one that is announced again is no news`() throws {
        let (daemon, peer, place) = try withPeer()
        daemon.die()
        #expect(daemon.open.isEmpty)
        #expect(daemon.takeEvents() == [unavailable])
        daemon.isDown = false
        daemon.advance(by: .seconds(1))
        #expect(daemon.takeEvents() == [.status(.running)])
        #expect(daemon.open.count == 2)
        daemon.sight(peer)
        daemon.resolve(peer, host: "a.local.", to: [place])
        daemon.advance(by: .seconds(60))
        #expect(daemon.takeEvents().isEmpty)
    }

    @Test func `a node that is not announced again after the daemon came back has disappeared`() throws {
        let (daemon, peer, _) = try withPeer()
        daemon.die()
        daemon.isDown = false
        daemon.advance(by: .seconds(60))
        #expect(daemon.takeEvents() == [unavailable, .status(.running), .disappeared(peer.name)])
    }

    @Test func `a node that has moved meanwhile has changed`() throws {
        let (daemon, peer, _) = try withPeer()
        daemon.die()
        daemon.isDown = false
        daemon.advance(by: .seconds(1))
        daemon.sight(peer)
        let new = try address(10, 0, 0, 99)
        daemon.resolve(peer, host: "a.local.", to: [new])
        #expect(daemon.takeEvents().latestAddresses == [new])
    }

    @Test func `a failed look-up ends alone and is tried again`() throws {
        let daemon = SimulatedDaemon()
        let peer = try sighting("peer")
        daemon.send(.start)
        daemon.sight(peer)
        let lookup = try #require(daemon.operations { $0 == .resolve(peer) }.first)
        daemon.send(.reply(lookup, .failed(code: -65537)))
        #expect(daemon.takeEvents() == [.status(.running)])
        #expect(!daemon.isOpen(.resolve(peer)))
        daemon.advance(by: .seconds(2))
        #expect(daemon.isOpen(.resolve(peer)))
    }

    @Test func `answers to what is closed already change nothing`() throws {
        let (daemon, peer, _) = try withPeer()
        let ids = daemon.operations { _ in true }
        daemon.send(.stop)
        #expect(daemon.open.isEmpty)
        for id in ids {
            daemon.send(.reply(id, .sighted(peer, isPresent: true)))
            daemon.send(.reply(id, .failed(code: -1)))
        }
        #expect(daemon.takeEvents().isEmpty)
        #expect(daemon.machine.nextWake == nil)
    }

    @Test func `random answers, failures and pauses leave no operation behind and never more than the limits allow`() throws {
        for seed in UInt64(0)..<50 {
            var generator = SplitMix64(seed: seed)
            let daemon = SimulatedDaemon()
            let names = try (0..<40).map { try sighting("n\($0)", interface: UInt32.random(in: 2...3, using: &generator)) }
            daemon.send(.start)
            for _ in 0..<1000 {
                let peer = names[Int.random(in: 0..<40, using: &generator)]
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: daemon.die()
                case 1: daemon.isDown = false
                case 2: daemon.advance(by: .milliseconds(Int.random(in: 0...9000, using: &generator)))
                case 3: daemon.send(.announce(Advertisement(name: peer.name, port: 1)))
                case 4...9: daemon.sight(peer, isPresent: Bool.random(using: &generator))
                case 10...14: daemon.resolve(peer, host: "h\(UInt8.random(in: 0...3, using: &generator)).local.", to: [])
                default:
                    let place = try address(10, 0, 0, UInt8.random(in: 1...20, using: &generator))
                    daemon.report(place, of: "h0.local.", interface: peer.interface, isPresent: Bool.random(using: &generator))
                }
            }
            #expect(daemon.openMax <= 2 + 3 * DiscoveryLimits().lookupsMax)
            #expect(daemon.open.count == daemon.machine.operationCount)
            daemon.send(.stop)
            #expect(daemon.open.isEmpty && daemon.machine.operationCount == 0)
        }
    }
}
