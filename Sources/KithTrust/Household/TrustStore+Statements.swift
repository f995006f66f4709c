import Foundation

/// What certificates say about the household.
///
/// A device that has a new key is known to nobody by it, and one that has left exchanges nothing any more. Both say so in the
/// certificate of the TLS handshake, by a record that the old key has signed, so that members hear of it in time.
extension TrustStore {
    /// What this device's certificate is to say: that it took the place of another one, newest first, or that it has left.
    public var statements: [MembershipRecord] {
        let (ownID, household) = snapshot
        guard let membership = household?.membership else { return [] }
        if let farewell = membership.farewell(of: ownID) { return [farewell] }
        var statements: [MembershipRecord] = []
        var device = ownID
        while statements.count < Household.statementsMax, let record = membership.replacing(by: device) {
            statements.append(record)
            device = record.author
        }
        return statements
    }

    /// The trusted device as which whoever shows `certificate` is let in: itself, or the one whose place it takes by a record that
    /// this device has not heard of. `nil` for anybody else, and for a device that has left.
    public func admission(of certificate: DeviceCertificate) -> DeviceID? {
        let records = statements(of: certificate)
        if isTrusted(certificate.id) {
            return records.contains { $0.author == certificate.id && $0.action == .revoke(certificate.id) } ? nil : certificate.id
        }
        let membership = household?.membership
        var device = certificate.id
        for record in records {
            // A record that is known was judged with all others: whoever it makes a member is trusted.
            guard record.action == .replace(by: device), membership?.contains(record.id) == false else { return nil }
            device = record.author
            if isTrusted(device) { return device }
        }
        return nil
    }

    /// What `certificate` says that this device has not heard of, if it comes from a member.
    public func news(in certificate: DeviceCertificate) -> HouseholdMessage? {
        guard let membership = household?.membership else { return nil }
        let records = statements(of: certificate).filter { !membership.contains($0.id) && isTrusted($0.author) }
        return records.isEmpty ? nil : .records(records.map(\.bytes))
    }

    /// The records in `certificate` that are signed and speak of this device's household.
    private func statements(of certificate: DeviceCertificate) -> [MembershipRecord] {
        guard !certificate.statement.isEmpty, let id = household?.id,
            case .records(let records)? = HouseholdMessage(certificate.statement)
        else { return [] }
        return records.prefix(Household.statementsMax).compactMap { try? MembershipRecord(bytes: $0) }.filter { $0.household == id }
    }
}
