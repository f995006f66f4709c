import KithDiscovery
import KithSync
import KithTrust
import Testing

@testable import Kith

/// The risk: a flood of forged announcements keeps a device from dialling the right one, or two devices dial each other for ever.
@Suite struct PairingTargetTests {
    private let start = Instant(milliseconds: 0)
    private let own: InstanceName
    private let address: PeerAddress

    init() throws {
        own = try #require(InstanceName(bytes: Array("m".utf8)))
        address = try PeerAddress(host: "10.0.0.7", port: 4748)
    }

    private func name(_ text: String) throws -> InstanceName {
        try #require(InstanceName(bytes: Array(text.utf8)))
    }

    @Test func `the smaller name dials first`() throws {
        var targets = PairingTargets(own: own, address: nil, now: start)
        targets.found(try name("z"), [address], now: start)
        targets.found(try name("a"), [address], now: start)
        targets.found(own, [address], now: start)
        #expect(targets.start(now: start).map(\.key) == [.announced(try name("z"))])
        let later = start.advanced(byMilliseconds: PairingTargets.politenessMilliseconds)
        #expect(targets.start(now: later).map(\.key) == [.announced(try name("a"))])
    }

    @Test func `the given address is dialled at once and more slowly each time`() {
        var targets = PairingTargets(own: own, address: address, now: start)
        var now = start
        var pauses: [Int64] = []
        for _ in 0..<5 {
            #expect(targets.start(now: now).map(\.key) == [.address])
            #expect(targets.start(now: now).isEmpty)
            targets.ended(.address, now: now)
            let ended = now
            while targets.start(now: now).isEmpty { now = now.advanced(byMilliseconds: 100) }
            pauses.append(now.milliseconds - ended.milliseconds)
            targets.ended(.address, now: now)
            now = now.advanced(byMilliseconds: 60_000)
        }
        #expect(pauses.allSatisfy { (1_000...PairingTargets.pauseMillisecondsMax).contains($0) })
    }

    @Test func `many forged names leave the right one its turn`() throws {
        var targets = PairingTargets(own: own, address: nil, now: start)
        for index in 0..<255 { targets.found(try name("n\(index)"), [address], now: start) }
        let right = PairingTargets.Key.announced(try name("right"))
        targets.found(try name("right"), [address], now: start)
        var now = start
        var rounds = 0
        while true {
            let started = targets.start(now: now)
            #expect(started.count <= PairingTargets.dialledMax)
            rounds += 1
            if started.contains(where: { $0.key == right }) { break }
            // A dial that leads nowhere takes three seconds.
            now = now.advanced(byMilliseconds: 3_000)
            for target in started { targets.ended(target.key, now: now) }
            if rounds > 20 { break }
        }
        #expect(rounds <= 16)
    }

    @Test func `what is gone is not dialled`() throws {
        var targets = PairingTargets(own: own, address: nil, now: start)
        targets.found(try name("z"), [address], now: start)
        targets.lost(try name("z"))
        #expect(targets.start(now: start).isEmpty)
        targets.ended(.announced(try name("z")), now: start)
    }
}
