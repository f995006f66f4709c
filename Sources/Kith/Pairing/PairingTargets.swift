import KithDiscovery
import KithSync
import KithTrust

/// Whom to dial while a window is open, and when. A pure value.
///
/// Of two devices that find each other, the one with the smaller announced name dials at once and the other one later, so that
/// they rarely dial at the same time.
struct PairingTargets: Sendable {
    enum Key: Hashable, Sendable {
        case address
        case announced(InstanceName)
    }

    private struct Target {
        let key: Key
        var addresses: [PeerAddress]
        var notBefore: Instant
        var pauseMilliseconds: Int64 = 1_000
        var isDialled = false
    }

    /// Targets dialled at once.
    static let dialledMax = 16
    static let pauseMillisecondsMax: Int64 = 5_000
    /// How much later the device with the greater name dials.
    static let politenessMilliseconds: Int64 = 2_000

    private let own: InstanceName
    private var targets: [Target] = []

    init(own: InstanceName, address: PeerAddress?, now: Instant) {
        self.own = own
        if let address { targets.append(Target(key: .address, addresses: [address], notBefore: now)) }
    }

    mutating func found(_ name: InstanceName, _ addresses: [PeerAddress], now: Instant) {
        guard name != own else { return }
        if let index = targets.firstIndex(where: { $0.key == .announced(name) }) {
            targets[index].addresses = addresses
        } else {
            let isFirst = own.bytes.lexicographicallyPrecedes(name.bytes)
            let start = isFirst ? now : now.advanced(byMilliseconds: Self.politenessMilliseconds)
            targets.append(Target(key: .announced(name), addresses: addresses, notBefore: start))
        }
    }

    mutating func lost(_ name: InstanceName) {
        targets.removeAll { $0.key == .announced(name) }
    }

    /// Those to dial now; each must come back with `ended`.
    mutating func start(now: Instant) -> [(key: Key, addresses: [PeerAddress])] {
        var started: [(Key, [PeerAddress])] = []
        var room = Self.dialledMax - targets.count { $0.isDialled }
        for index in targets.indices where room > 0 && !targets[index].isDialled && targets[index].notBefore <= now {
            targets[index].isDialled = true
            started.append((targets[index].key, targets[index].addresses))
            room -= 1
        }
        return started
    }

    /// Dialling, or what came of it, is over: later again, and each time a little later.
    mutating func ended(_ key: Key, now: Instant) {
        guard let index = targets.firstIndex(where: { $0.key == key }) else { return }
        var target = targets.remove(at: index)
        target.isDialled = false
        target.notBefore = now.advanced(byMilliseconds: target.pauseMilliseconds)
        target.pauseMilliseconds = min(2 * target.pauseMilliseconds, Self.pauseMillisecondsMax)
        // At the end of the queue: others have their turn first.
        targets.append(target)
    }
}
