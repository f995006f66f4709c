import Testing

@testable import KithDiscovery

@Suite("A flood of forged announcements costs little and hides nobody for long")
struct ForgedAnnouncementTests {
    private let limits = DiscoveryLimits()

    @Test func `256 names are followed, one more is not`() throws {
        let daemon = SimulatedDaemon()
        daemon.send(.start)
        for index in 0..<limits.announcementsMax { daemon.sight(try sighting("n\(index)")) }
        #expect(daemon.machine.announcementCount == limits.announcementsMax)
        daemon.sight(try sighting("one too many"))
        #expect(daemon.machine.announcementCount == limits.announcementsMax)
        #expect(daemon.machine.operationCount == 1 + limits.lookupsMax)
    }

    @Test func `8 interfaces of one name are followed, one more is not`() throws {
        let daemon = SimulatedDaemon()
        daemon.send(.start)
        for interface in UInt32(1)...9 { daemon.sight(try sighting("peer", interface: interface)) }
        #expect(daemon.machine.operationCount == 1 + limits.interfacesMax)
    }

    @Test func `through 100,000 forgeries in a minute the bounds hold, and the node that is kept is never lost`() throws {
        let daemon = SimulatedDaemon()
        let (peer, place) = (try sighting("real"), try address(10, 0, 0, 7))
        daemon.announced = [peer]
        daemon.send(.start)
        daemon.resolve(peer, host: "real.local.", to: [place])
        daemon.send(.keep(peer.name, true))
        for index in 0..<100_000 {
            let forged = try sighting("forged \(index)")
            daemon.sight(forged)
            // Every other one can even be resolved when its turn comes.
            if index.isMultiple(of: 2) { daemon.resolve(forged, host: "f\(index).local.", to: [place]) }
            if index.isMultiple(of: 1000) { daemon.advance(by: .milliseconds(600)) }
        }
        #expect(daemon.machine.announcementCount <= limits.announcementsMax)
        #expect(daemon.openMax <= 2 + 3 * limits.lookupsMax)
        let isLost = daemon.takeEvents().contains(.disappeared(peer.name))
        #expect(!isLost)
    }

    @Test func `a node that comes in the middle of it is found within seconds of its end`() throws {
        let daemon = SimulatedDaemon()
        let (peer, place) = (try sighting("real"), try address(10, 0, 0, 7))
        daemon.send(.start)
        for index in 0..<2000 { daemon.sight(try sighting("forged \(index)")) }
        daemon.sight(peer)
        // The forgers fall silent; from now on the daemon knows only the real node whenever it is asked to browse.
        daemon.announced = [peer]
        for _ in 0..<20 {
            daemon.advance(by: .seconds(1))
            daemon.resolve(peer, host: "real.local.", to: [place])
        }
        let isFound = daemon.takeEvents().contains { if case .appeared(let found) = $0 { found.name == peer.name } else { false } }
        #expect(isFound)
        #expect(daemon.machine.announcementCount == 1)
    }
}
