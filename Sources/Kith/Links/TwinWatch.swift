import KithCausality
import KithSync
import KithTrust

/// Finds out that two machines use one key, by the stores that speak for one device: that of A, then that of B, then that of A again. A
/// device whose store has become another replica never goes back. A pure value.
struct TwinWatch: Sendable {
    /// Sightings further apart are not held against a device, which may have been restored from a backup meanwhile.
    static let windowMilliseconds: Int64 = 600_000
    /// Sightings kept of a device.
    private static let sightingsMax = 8

    private struct Sighting: Sendable {
        let replica: ReplicaID
        let host: String
        let at: Instant
    }

    private var sightings: [DeviceID: [Sighting]] = [:]
    private var found: [DeviceID: (hosts: [String], at: Instant)] = [:]

    /// A session with `device` came about, from `host`.
    mutating func saw(_ device: DeviceID, as replica: ReplicaID, at host: String, now: Instant) {
        var known = (sightings[device] ?? []).filter { now.milliseconds - $0.at.milliseconds < Self.windowMilliseconds }
        if let last = known.last, last.replica == replica {
            known[known.count - 1] = Sighting(replica: replica, host: host, at: now)
        } else {
            let wasBefore = known.contains { $0.replica == replica }
            known.append(Sighting(replica: replica, host: host, at: now))
            if wasBefore {
                var hosts: [String] = []
                for sighting in known.reversed() where !hosts.contains(sighting.host) { hosts.append(sighting.host) }
                found[device] = (hosts.prefix(2).sorted(), now)
            }
        }
        sightings[device] = Array(known.suffix(Self.sightingsMax))
    }

    /// Where the two machines are that use the key of `device`; `nil` if nothing says that there are two.
    func hosts(of device: DeviceID, now: Instant) -> [String]? {
        guard let found = found[device], now.milliseconds - found.at.milliseconds < Self.windowMilliseconds else { return nil }
        return found.hosts
    }

    /// Forgets all devices but these: the key of one that was renewed or revoked is no longer in use.
    mutating func keep(only devices: [DeviceID]) {
        let kept = Set(devices)
        sightings = sightings.filter { kept.contains($0.key) }
        found = found.filter { kept.contains($0.key) }
    }

    /// Another machine with this key was heard: what was found goes on to hold.
    mutating func heardAgain(_ device: DeviceID, now: Instant) {
        if let hosts = hosts(of: device, now: now) { found[device] = (hosts, now) }
    }
}
