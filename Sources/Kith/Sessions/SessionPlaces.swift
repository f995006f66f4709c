import KithSync
import KithTrust

/// Which devices have a session where more want one than may.
///
/// Whom this machine has known longer comes first, so that a member that adds hundreds of devices keeps none of the others out. What a device says
/// of itself, or another of it, does not count.
struct SessionPlaces {
    static let sessionsMax = 64

    enum Verdict: Equatable {
        case hasPlace
        /// Once this one has ended.
        case takesPlace(of: DeviceID)
        case none
    }

    /// Since when each device is known here.
    let added: [DeviceID: Int64]

    /// - Parameter sessions: the devices that have a session, `device` not among them.
    func verdict(on device: DeviceID, besides sessions: some Collection<DeviceID>) -> Verdict {
        guard sessions.count >= Self.sessionsMax else { return .hasPlace }
        guard let youngest = sessions.max(by: isOlder), isOlder(device, youngest) else { return .none }
        return .takesPlace(of: youngest)
    }

    private func isOlder(_ first: DeviceID, _ second: DeviceID) -> Bool {
        let (one, other) = (added[first] ?? .max, added[second] ?? .max)
        return one == other ? first < second : one < other
    }
}

extension Network {
    /// Makes room for a session with `device`; why there is none.
    func makePlace(for device: DeviceID) -> CloseReason? {
        let others = sessions.keys.filter { $0 != device && !leaving.contains($0) }
        guard others.count >= SessionPlaces.sessionsMax else { return nil }
        let members = (try? node.store.members()) ?? []
        let added = members.compactMap { member in DeviceID(bytes: member.device).map { ($0, member.addedMilliseconds) } }
        let places = SessionPlaces(added: Dictionary(added, uniquingKeysWith: min))
        let full = CloseReason(.unspecified, "There are \(SessionPlaces.sessionsMax) sessions already, with devices known here for longer.")
        switch places.verdict(on: device, besides: others) {
        case .hasPlace: return nil
        case .none: return full
        case .takesPlace(let youngest):
            leaving.insert(youngest)
            sessions[youngest]?.post(.close(full))
            return nil
        }
    }
}
