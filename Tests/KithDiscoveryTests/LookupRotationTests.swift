import Testing

@testable import KithDiscovery

@Suite("Every name gets its turn of being looked up, however many there are")
struct LookupRotationTests {
    private let start = ContinuousClock.now

    private func sightings(_ count: Int) throws -> [Sighting] {
        try (0..<count).map { Sighting(name: try #require(InstanceName(bytes: "n\($0)".utf8)), interface: 2) }
    }

    private func expect(
        _ step: LookupRotation.Step, from rotation: inout LookupRotation, at now: ContinuousClock.Instant,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let taken = rotation.advance(now: now)
        #expect(taken == step, sourceLocation: sourceLocation)
    }

    @Test func `with a slot for each, look-ups stay open and nothing is due`() throws {
        var rotation = LookupRotation(slotsMax: 3, turn: .seconds(2))
        let all = try sightings(3)
        for sighting in all { rotation.insert(sighting, now: start) }
        expect(.init(open: all), from: &rotation, at: start)
        #expect(rotation.nextStep == nil)
        expect(.init(), from: &rotation, at: start + .seconds(100))
    }

    @Test func `with too few slots the longest served makes way when its turn is over, and comes round again`() throws {
        var rotation = LookupRotation(slotsMax: 2, turn: .seconds(2))
        let all = try sightings(3)
        for sighting in all { rotation.insert(sighting, now: start) }
        expect(.init(open: [all[0], all[1]]), from: &rotation, at: start)
        #expect(rotation.nextStep == start + .seconds(2))
        expect(.init(), from: &rotation, at: start + .seconds(1))
        expect(.init(close: [all[0]], open: [all[2]]), from: &rotation, at: start + .seconds(2))
        expect(.init(close: [all[1]], open: [all[0]]), from: &rotation, at: start + .seconds(4))
        #expect(rotation.activeCount == 2)
    }

    @Test func `a look-up that failed gives its slot away and is tried again a turn later`() throws {
        var rotation = LookupRotation(slotsMax: 1, turn: .seconds(2))
        let all = try sightings(2)
        for sighting in all { rotation.insert(sighting, now: start) }
        _ = rotation.advance(now: start)
        rotation.failed(all[0], now: start)
        expect(.init(open: [all[1]]), from: &rotation, at: start)
        expect(.init(close: [all[1]], open: [all[0]]), from: &rotation, at: start + .seconds(2))
    }

    @Test func `of 256 names in 24 slots each is looked up within 11 turns`() throws {
        var rotation = LookupRotation(slotsMax: 24, turn: .seconds(2))
        let all = try sightings(256)
        for sighting in all { rotation.insert(sighting, now: start) }
        var served: Set<Sighting> = []
        for turn in 0..<11 {
            served.formUnion(rotation.advance(now: start + .seconds(2 * turn)).open)
            #expect(rotation.activeCount == 24)
        }
        #expect(served.count == 256)
    }

    @Test func `a name that is gone is neither looked up nor waited for`() throws {
        var rotation = LookupRotation(slotsMax: 1, turn: .seconds(2))
        let all = try sightings(2)
        for sighting in all { rotation.insert(sighting, now: start) }
        _ = rotation.advance(now: start)
        let wasOpen = [all[1], all[0], all[0]].map { rotation.remove($0) }
        #expect(wasOpen == [false, true, false])
        expect(.init(), from: &rotation, at: start + .seconds(9))
        #expect(rotation.nextStep == nil)
    }
}
