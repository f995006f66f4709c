import Foundation

/// What this device holds of its household.
package struct Household: Sendable {
    package let id: HouseholdID
    /// Most records that a certificate carries.
    static let statementsMax = 4

    /// Empty while the device joins and has not heard from a member yet.
    package internal(set) var membership: Membership
    /// Newest first; empty while the device joins.
    package internal(set) var secrets: [HouseholdSecret] = []
    /// Whether this device's identity was imported and has not heard from a member since. What it signed after it was exported is not
    /// known here then, and a second record under the same number would void both.
    package internal(set) var isImported = false
    /// Public keys that members have shown to this device, compressed. Whoever has signed a record shows it there as well; others may
    /// have said nothing yet.
    var shownKeys: Set<[UInt8]> = []

    /// A household that this device is about to join.
    init(joining id: HouseholdID) {
        self.id = id
        membership = Membership(of: id)
    }

    package init(membership: Membership, secrets: [HouseholdSecret]) {
        id = membership.household
        self.membership = membership
        self.secrets = secrets
    }

    /// A new household with this device alone. Nothing is stored.
    package static func founded(as name: String, by key: DeviceKey) throws(TrustError) -> Household {
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<HouseholdID.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        do {
            let record = try MembershipRecord.founding(
                as: ProposedName.sanitized(Array(name.utf8)), by: key, nonce: nonce, milliseconds: Self.now)
            return Household(membership: try Membership(foundedBy: record), secrets: [.random(after: [], using: &random)])
        } catch {
            throw TrustError(error)
        }
    }

    /// Signs `action` with `key`.
    mutating func say(_ action: MembershipAction, by key: DeviceKey) throws(TrustError) {
        if isImported { throw .notHeardYet }
        do {
            try membership.say(action, by: key, milliseconds: Self.now)
        } catch {
            throw TrustError(error)
        }
    }

    /// Replaces the secret, for a device that is not to recognise the others any more.
    mutating func renewSecret() {
        var random = SystemRandomNumberGenerator()
        secrets = HouseholdSecret.merged(secrets, [.random(after: secrets, using: &random)])
    }

    /// Takes in what a peer says are the secrets.
    ///
    /// Whoever makes a new one signs a record or hears of one, and a household has at most ``Membership/recordsMax`` of them. So
    /// honest numbers stay far below this limit, also where the secret comes before its record. Without it a device could keep its
    /// secret the newest for ever, beyond its own revocation; the record of that makes room for the number that follows.
    mutating func note(_ secrets: [HouseholdSecret]) {
        let numberMax = 1 + Membership.recordsMax + membership.records.count
        self.secrets = HouseholdSecret.merged(self.secrets, secrets.filter { $0.number <= numberMax })
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

/// How a device stands to a household.
package enum HouseholdStanding: String, Hashable, CaseIterable, Sendable {
    /// Neither a household nor a list of devices.
    case alone
    /// No household; the devices on the list, which were added by hand, are trusted.
    case listed
    /// It was added to a household and has not heard from a member yet; the devices on the list are trusted.
    case joining
    /// A member: the other members are trusted, and nobody else.
    case member
    /// It was a member and was revoked; nobody is trusted.
    case removed
    /// It has left, and no member has heard of it yet; nobody is trusted.
    case left
}
