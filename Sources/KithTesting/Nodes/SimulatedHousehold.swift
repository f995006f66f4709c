import KithTrust
import Synchronization

/// What a machine holds of the household, in a file that nothing befalls: the records of who belongs, and what follows from them.
final class SimulatedHousehold: Sendable {
    private let household: Mutex<Household>
    /// Whose it is.
    let own: DeviceID

    init(of own: DeviceID, _ membership: Membership) {
        self.own = own
        // The secrets, by which devices are found, decide nothing here.
        household = Mutex(Household(membership: membership, secrets: []))
    }

    var membership: Membership { household.withLock { $0.membership } }

    /// What the machine tells its peers when a session opens, and after each change.
    var digest: [UInt8] { household.withLock { $0.digest } }

    /// All records, and their digest.
    var allRecords: (digest: [UInt8], messages: [[UInt8]]) {
        household.withLock { ($0.membership.digest, $0.allRecords.map(\.encoded)) }
    }

    // MARK: Judging

    /// Whether both are members.
    func trusts(_ device: DeviceID) -> Bool {
        household.withLock { $0.membership.member(own) != nil && $0.membership.member(device) != nil }
    }

    func isOrWasMember(_ device: DeviceID) -> Bool {
        household.withLock { device == own || $0.membership.isOrWasMember(device) }
    }

    func roundsEnded(of device: DeviceID) -> Int { household.withLock { $0.membership.roundsEnded(of: device) } }

    func contains(_ record: MembershipRecord.ID) -> Bool { household.withLock { $0.membership.contains(record) } }

    // MARK: Changing

    /// A peer says this. Returns the answers, and whether anything is different now.
    func hear(_ message: HouseholdMessage) -> (answers: [HouseholdMessage], hasChanged: Bool) {
        household.withLock { $0.hear(message, SimulatedAuthority.verifier) }
    }

    /// The machine's user says something of who belongs. Returns what was signed; nothing if the machine may not say it.
    func say(_ action: MembershipAction, by signer: RecordSigner, milliseconds: Int64) -> [MembershipRecord] {
        var membership = membership
        let known = Set(membership.records.map(\.id))
        guard (try? membership.say(action, by: signer, milliseconds: milliseconds)) != nil else { return [] }
        let said = membership.records.filter { !known.contains($0.id) }
        hear(membership)
        return said
    }

    /// Takes in all that another device holds, as two do that are paired.
    func hear(_ membership: Membership) {
        _ = hear(.records(membership.records.map(\.bytes)))
    }
}
