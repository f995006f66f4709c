import KithTrust

/// A device with its key and what it knows of the household. Nothing goes through a file or a network.
struct HouseholdDevice {
    let key: DeviceKey
    var membership: Membership

    init(key: DeviceKey = DeviceKey(), knowing membership: Membership) {
        self.key = key
        self.membership = membership
    }

    /// The first device of a new household.
    static func founder(_ name: String = "founder", nonce: UInt8 = 1) throws -> HouseholdDevice {
        let key = DeviceKey()
        let record = try MembershipRecord.founding(as: name, by: key, nonce: [UInt8](repeating: nonce, count: 32), milliseconds: 0)
        return HouseholdDevice(key: key, knowing: try Membership(foundedBy: record))
    }

    var id: DeviceID { key.id }
    var members: Set<DeviceID> { Set(membership.members.map(\.id)) }

    /// Adds a new device, which learns all that this one knows.
    mutating func add(_ name: String = "") throws -> HouseholdDevice {
        let key = DeviceKey()
        try say(.add(key.id, name: name))
        return HouseholdDevice(key: key, knowing: membership)
    }

    @discardableResult
    mutating func say(_ action: MembershipAction) throws -> MembershipRecord {
        try membership.say(action, by: key, milliseconds: 0)
    }

    /// Learns what `other` knows, as far as it can be taken.
    mutating func hear(_ other: HouseholdDevice) throws {
        membership.hear(other.membership)
    }

    /// Both learn what the other knows.
    static func meet(_ left: inout HouseholdDevice, _ right: inout HouseholdDevice) throws {
        try left.hear(right)
        try right.hear(left)
    }
}
