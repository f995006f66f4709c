import KithCausality
import KithStore
import KithTrust

/// Which other devices would still have what was written here if this one were gone, as far as it is known here.
///
/// A device counts only when it has said that the commits in question would survive a loss of power there. News of this is
/// written down some seconds after it comes, so the answer may be a little behind, and never ahead.
public struct Safety: Codable, Hashable, Sendable {
    /// A trusted device that holds everything.
    public struct Holder: Codable, Hashable, Sendable {
        /// The device's id, in its readable form.
        public let deviceID: String
        /// What people call it; its short id if nobody named it.
        public let name: String
    }

    /// Those that hold everything, in the order of their names.
    public let holders: [Holder]
    /// How many trusted devices there are.
    public let devices: Int
    /// Commits that no other device is known to hold; `nil` where single commits were not counted.
    public let commitsHereOnly: UInt64?

    init(holders members: [Member], among devices: [TrustedDevice], commitsHereOnly: UInt64?) {
        let ids = Set(members.map(\.device))
        let names = DeviceNames(devices)
        holders = devices.filter { ids.contains($0.id.bytes) }
            .map { Holder(deviceID: $0.id.description, name: names[$0.id]) }
            .sorted { ($0.name, $0.deviceID) < ($1.name, $1.deviceID) }
        self.devices = devices.count
        self.commitsHereOnly = commitsHereOnly
    }

    /// The names of the holders, for a sentence: `attic, desk and phone`; `nil` if there are none.
    public var names: String? {
        guard let last = holders.last?.name else { return nil }
        return holders.count == 1 ? last : holders.dropLast().map(\.name).joined(separator: ", ") + " and " + last
    }

    /// The same in plain words, about the whole store.
    public var sentence: String {
        if let names { return "Everything you wrote is safe on: \(names)." }
        if devices == 0 { return "Everything is on this device alone." }
        switch commitsHereOnly {
        case 0?: return "Everything you wrote is on other devices, too, though none of them has all of it yet."
        case 1?: return "1 change is only here."
        case let count?: return "\(NodeStatus.grouped(Int(clamping: count))) changes are only here."
        case nil: return "No other device has all of it yet."
        }
    }
}

extension KithStore {
    /// Which of the trusted devices hold everything that this store holds.
    /// - Throws: ``StoreError``.
    public func safety(among devices: [TrustedDevice]) throws -> Safety {
        let trusted = Set(devices.map(\.id.bytes))
        var held = VersionVector()
        for member in try members() where trusted.contains(member.device) { held.join(member.durable) }
        // Of what a peer says of other replicas' commits, the sum can be more than there are numbers.
        let missing = try summary().vector.entries.reduce(UInt64(0)) { sum, entry in
            let (more, overflow) = sum.addingReportingOverflow(entry.sequence - min(entry.sequence, held[entry.replica]))
            return overflow ? .max : more
        }
        return Safety(holders: try holders(), among: devices, commitsHereOnly: missing)
    }

    /// Which of the trusted devices hold a row as it is now, deletion included; none if the row is not known.
    /// - Throws: ``StoreError``.
    public func safety(ofRow id: RowID, in table: String, among devices: [TrustedDevice]) throws -> Safety {
        Safety(holders: try holders(table: table, id: id), among: devices, commitsHereOnly: nil)
    }
}
