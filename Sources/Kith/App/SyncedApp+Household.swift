import Foundation
import KithTrust

extension SyncedApp {
    /// The devices of a person, as an app shows them.
    public struct Household: Hashable, Sendable {
        /// How this device stands to the others.
        public enum Standing: String, Hashable, Sendable {
            /// No other device is trusted.
            case alone
            /// Devices that were added by hand are trusted.
            case listed
            /// It was paired, and has not met a member since.
            case joining
            /// All members trust each other.
            case member
            /// It was removed by another device.
            case removed
            /// It has left, and no member has heard of it yet.
            case left
        }

        /// How this device stands to the others.
        public let standing: Standing
        /// The household's name for comparing, the same on all devices; `nil` without one.
        public let id: String?
        /// This device first, then the others by name.
        public let devices: [Device]
    }

    /// A device of the household.
    public struct Device: Hashable, Identifiable, Sendable {
        /// Who it is.
        public let id: DeviceID
        /// What people call it; with the beginning of its id if several have this name.
        public let name: String
        /// Whether it is the one that this runs on.
        public let isThisDevice: Bool
        /// Since when it is trusted; `nil` for this one.
        public let added: Date?
        /// How things stand with it; `nil` for this one, and before the node has looked.
        public let status: NodeStatus.Peer?

        /// Whether there is a connection to it.
        public var isConnected: Bool { status?.state == .connected }
        /// Whether both know the same.
        public var isInSync: Bool { status?.isInSync == true }
        /// When both last knew the same; kept over restarts.
        public var lastSync: Date? { status?.lastSync }
    }

    /// The devices as they are now; ``statuses`` tells when to look again.
    public var household: Household {
        let names = trust.deviceNames
        let peers = status.peers
        let own = Device(id: trust.ownID, name: ownName, isThisDevice: true, added: nil, status: nil)
        let others = trust.devices.map { device in
            Device(
                id: device.id, name: names[device.id], isThisDevice: false, added: device.added,
                status: peers.first { $0.device == device.id })
        }
        return Household(
            standing: Household.Standing(rawValue: trust.standing.rawValue) ?? .alone, id: trust.household?.id.description,
            devices: [own] + others.sorted { ($0.name, $0.id) < ($1.name, $1.id) })
    }

    private var ownName: String {
        let name = trust.household?.membership.member(trust.ownID)?.name ?? ""
        return name.isEmpty ? deviceName : name
    }

    /// Which devices would still have what was written here if this one were gone; see ``Safety``.
    public func safety() throws(StoreError) -> Safety { try store.safety(among: trust.devices) }

    /// Ends the trust in a device: no member exchanges anything with it any more.
    /// - Throws: ``TrustError`` with code `unknownDevice`, `notAMember`, and what reading or writing the files throws.
    public func remove(_ device: DeviceID) throws(TrustError) {
        try trust.remove(device)
    }

    /// Gives a device, this one included, another name in the household.
    /// - Throws: ``TrustError`` with code `unknownDevice`, `invalidName`, `notAMember`, and what reading or writing the files throws.
    public func rename(_ device: DeviceID, to name: String) throws(TrustError) {
        try trust.rename(device, to: name)
    }

    /// Leaves the household: no device is trusted from now on. Nothing that was written goes.
    /// - Throws: ``TrustError``.
    public func leaveHousehold() throws(TrustError) {
        try trust.leave()
    }
}
