import Foundation

/// What the files of a ``TrustStore`` say, and whom that makes trusted.
struct TrustState: Sendable {
    var ownID: DeviceID
    var list: DeviceList
    var household: Household?
    var stamps: [FileStatus.Stamp?]
    private(set) var standing = HouseholdStanding.alone
    private(set) var trusted: [TrustedDevice] = []

    init(ownID: DeviceID, list: DeviceList, household: Household?, stamps: [FileStatus.Stamp?]) {
        self.ownID = ownID
        self.list = list
        self.household = household
        self.stamps = stamps
        settle()
    }

    /// Works out who is trusted. To be called after a change.
    mutating func settle() {
        standing = currentStanding
        switch standing {
        case .alone, .removed, .left: trusted = []
        case .listed: trusted = list.devices
        // Whoever let this device in may have been revoked before.
        case .joining: trusted = list.devices.filter { household?.membership.isRevoked($0.id) != true }
        case .member: trusted = household.map(members) ?? []
        }
    }

    /// As if this device had never had a household, or a list.
    mutating func forget() {
        list = DeviceList()
        household = nil
    }

    func isSame(as other: TrustState) -> Bool {
        ownID == other.ownID && standing == other.standing && trusted == other.trusted && hasSameHousehold(as: other)
    }

    func hasSameHousehold(as other: TrustState) -> Bool {
        household?.id == other.household?.id && household?.digest == other.household?.digest
            && household?.isImported == other.household?.isImported
    }

    private var currentStanding: HouseholdStanding {
        guard let household else { return list.devices.isEmpty ? .alone : .listed }
        if household.membership.member(ownID) != nil { return .member }
        guard household.membership.isRevoked(ownID) else { return .joining }
        return household.membership.farewell(of: ownID) == nil ? .removed : .left
    }

    /// The other members, with what this device knows of them by itself.
    func members(of household: Household) -> [TrustedDevice] {
        household.membership.members.filter { $0.id != ownID }.compactMap { member in
            // What was known of it under an earlier key holds.
            var known = list.device(member.id)
            var record = household.membership.replacing(by: member.id)
            // Keys that replace each other in a circle end the search.
            for _ in household.membership.records {
                guard known == nil, let earlier = record?.author else { break }
                known = list.device(earlier)
                record = household.membership.replacing(by: earlier)
            }
            return try? TrustedDevice(
                id: member.id, name: member.name.isEmpty ? known?.name ?? "" : member.name, addresses: known?.addresses ?? [],
                added: Date(timeIntervalSince1970: Double(member.addedMilliseconds) / 1_000))
        }
    }
}
