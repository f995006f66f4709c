import KithDiscovery
import KithSync
import KithTransport
import KithTrust

/// Decides whom to dial, and when. A pure value: it does no I/O and reads no clock.
///
/// Every target has its own growing pause, so that one that never answers costs nothing and one that appears is dialled at
/// once. A device that is connected, or is being dialled already, is not dialled; a name that turned out to be such a device is
/// not either.
struct DialPlanner: Sendable {
    /// Addresses tried for one target.
    static let addressesMax = 8
    /// The pause after a peer refused us or we it: nothing helps but a change, which ends the pause.
    static let refusedMilliseconds: Int64 = 60_000

    private struct Entry: Sendable {
        var addresses: [PeerAddress]
        var backoff = Backoff()
        var due: Instant
        var isDialling = false
        /// Who answered there last.
        var device: DeviceID?
        /// Who is to be there; `nil` if any trusted device will do.
        var expected: DeviceID?

        /// Who is probably there.
        var likely: DeviceID? { expected ?? device }
    }

    private var entries: [DialTarget: Entry] = [:]
    private var connected: [DeviceID: Int] = [:]

    // MARK: What happens

    /// The user's list of devices is this.
    ///
    /// - Parameter remembered: where a device was reached before.
    mutating func trust(_ devices: [TrustedDevice], now: Instant, remembered: (DeviceID) -> [PeerAddress] = { _ in [] }) {
        let listed = Set(devices.map { DialTarget.device($0.id) })
        for target in entries.keys {
            if case .device = target, !listed.contains(target) { entries[target] = nil }
        }
        for device in devices {
            let earlier = remembered(device.id).filter { !device.addresses.contains($0) }
            set(.device(device.id), device.addresses + earlier, device: device.id, now: now)
        }
        // Whoever was refused may be welcome now.
        for target in entries.keys { retry(target, now: now) }
    }

    /// A device was reached at another address than before. That alone is no reason to dial it sooner.
    mutating func remember(_ addresses: [PeerAddress], of device: DeviceID) {
        entries[.device(device)]?.addresses = addresses
    }

    /// A node is announced at these addresses: that of `device`, as far as an announcement can tell.
    mutating func found(_ name: InstanceName, _ addresses: [PeerAddress], device: DeviceID? = nil, now: Instant) {
        set(.announced(name), addresses, device: device, now: now)
        if let device { entries[.announced(name)]?.expected = device }
    }

    /// These and no others are announced, as far as it concerns this node.
    mutating func found(_ targets: [(name: InstanceName, device: DeviceID?, addresses: [PeerAddress])], now: Instant) {
        keep(announced: Set(targets.map(\.name)))
        for target in targets { found(target.name, target.addresses, device: target.device, now: now) }
    }

    /// Only these names are announced, as far as it concerns this node.
    mutating func keep(announced names: Set<InstanceName>) {
        for target in entries.keys {
            if case .announced(let name) = target, !names.contains(name) { entries[target] = nil }
        }
    }

    /// The network has changed: everything may be reached now.
    mutating func retryAll(now: Instant) {
        for target in entries.keys { retry(target, now: now) }
    }

    /// A connection to `device` is up; `target` is what was dialled, if it was dialled from here.
    mutating func connected(_ device: DeviceID, dialled target: DialTarget?) {
        connected[device, default: 0] += 1
        guard let target else { return }
        entries[target]?.isDialling = false
        entries[target]?.device = device
    }

    /// A session with `device` came about, which an established connection alone does not promise.
    mutating func succeeded(_ device: DeviceID) {
        for target in entries.keys where entries[target]?.likely == device { entries[target]?.backoff.reset() }
    }

    /// A connection to `device` has ended, and with `isReplaced` gave way to another one.
    mutating func disconnected(
        _ device: DeviceID, _ advice: RetryAdvice, isReplaced: Bool = false, now: Instant,
        using random: inout some RandomNumberGenerator
    ) {
        connected[device] = max(0, connected[device, default: 0] - 1)
        if connected[device] == 0 { connected[device] = nil }
        // Where the other one is gone as well, nothing is to change before they may meet.
        let advice = isReplaced && connected[device] == nil ? .later : advice
        for target in entries.keys.sorted() where entries[target]?.likely == device {
            pause(target, advice, now: now, using: &random)
        }
    }

    /// Dialling `target` failed; with `device`, if somebody answered who is connected already.
    mutating func failed(
        _ target: DialTarget, _ advice: RetryAdvice, now: Instant, using random: inout some RandomNumberGenerator
    ) {
        entries[target]?.isDialling = false
        pause(target, advice, now: now, using: &random)
    }

    // MARK: What to do

    /// The targets to dial now, each to be answered with `connected` or `failed`. Where a device is announced it is dialled there
    /// first: it is on this network now, and a list may be old.
    mutating func start(now: Instant) -> [(target: DialTarget, device: DeviceID?, addresses: [PeerAddress])] {
        var busy = busy
        var result: [(DialTarget, DeviceID?, [PeerAddress])] = []
        for target in entries.keys.sorted(by: >) {
            guard let entry = entries[target], isWaiting(entry, busy), entry.due <= now else { continue }
            entries[target]?.isDialling = true
            if let device = entry.likely { busy.insert(device) }
            var expected = entry.expected
            if case .device(let id) = target { expected = id }
            result.append((target, expected, Array(entry.addresses.prefix(Self.addressesMax))))
        }
        return result
    }

    /// When something is to be dialled next; `nil` if nothing is.
    var nextDue: Instant? {
        let busy = busy
        return entries.values.filter { isWaiting($0, busy) }.map(\.due).min()
    }

    /// Whether something is being dialled.
    var isDialling: Bool { entries.values.contains(where: \.isDialling) }

    /// The devices that are connected or being dialled, as far as is known whom a target is.
    private var busy: Set<DeviceID> {
        Set(connected.keys).union(entries.values.filter(\.isDialling).compactMap(\.likely))
    }

    private func isWaiting(_ entry: Entry, _ busy: Set<DeviceID>) -> Bool {
        !entry.isDialling && !entry.addresses.isEmpty && entry.likely.map { !busy.contains($0) } ?? true
    }

    private mutating func set(_ target: DialTarget, _ addresses: [PeerAddress], device: DeviceID?, now: Instant) {
        if var entry = entries[target] {
            if entry.addresses != addresses {
                entry.addresses = addresses
                entry.due = now
                entry.backoff.reset()
            }
            entries[target] = entry
        } else {
            entries[target] = Entry(addresses: addresses, due: now, device: device)
        }
    }

    private mutating func retry(_ target: DialTarget, now: Instant) {
        entries[target]?.due = now
        entries[target]?.backoff.reset()
    }

    private mutating func pause(
        _ target: DialTarget, _ advice: RetryAdvice, now: Instant, using random: inout some RandomNumberGenerator
    ) {
        guard var entry = entries[target] else { return }
        let wait = Int64(entry.backoff.nextMilliseconds(using: &random))
        switch advice {
        case .atOnce: entry.due = now
        case .later: entry.due = now.advanced(byMilliseconds: wait)
        case .afterChange: entry.due = now.advanced(byMilliseconds: max(wait, Self.refusedMilliseconds))
        }
        entries[target] = entry
    }
}
