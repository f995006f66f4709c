import Foundation

/// What certificates say about the household.
///
/// A device that has a new key is known to nobody by it, and one that has left is to be let in for one thing alone. Both say so in
/// the certificate of the TLS handshake, by records that are signed.
extension TrustStore {
    /// What this device's certificate is to say: that it has left, and that it took the place of another one, newest first.
    package var statements: [MembershipRecord] {
        let state = snapshot
        guard let membership = state.household?.membership else { return [] }
        var statements = membership.farewell(of: state.ownID).map { [$0] } ?? []
        var device = state.ownID
        while statements.count < Household.statementsMax, let record = membership.replacing(by: device) {
            statements.append(record)
            device = record.author
        }
        return statements
    }

    /// The trusted device as which whoever shows `certificate` is let in: itself, or the one whose place it takes by records that
    /// this device has not heard of. `nil` for anybody else.
    ///
    /// Whoever leaves is let in as well, for its ``farewell(in:)`` and nothing else.
    package func admission(of certificate: DeviceCertificate) -> DeviceID? {
        if farewell(in: certificate) != nil { return certificate.id }
        let state = snapshot
        return admission(of: certificate, among: state.trusted, state.household)
    }

    /// The member of the household that this device has left as which whoever shows `certificate` may hear of it.
    package func witness(in certificate: DeviceCertificate) -> DeviceID? {
        admission(of: certificate, among: leftBehind, household)
    }

    /// What `certificate`, which was let in, says that this device has not heard of, each after those that it needs.
    package func news(in certificate: DeviceCertificate) -> [MembershipRecord] {
        let state = snapshot
        return renewals(in: certificate, of: state.trusted, state.household)
    }

    /// Takes in the news from a certificate, and makes a new secret.
    /// - Returns: whether anything is different now.
    package func hear(_ news: [MembershipRecord]) throws(TrustError) -> Bool {
        try take(news, renewsSecret: true)
    }

    // MARK: Parts

    private func admission(of certificate: DeviceCertificate, among trusted: [TrustedDevice], _ household: Household?) -> DeviceID? {
        if trusted.contains(where: { $0.id == certificate.id }) { return certificate.id }
        return renewals(in: certificate, of: trusted, household).first?.author
    }

    /// The records by which the holder of `certificate` took the place of one of `trusted`, oldest first; none if it did not.
    func renewals(
        in certificate: DeviceCertificate, of trusted: [TrustedDevice], _ household: Household?
    ) -> [MembershipRecord] {
        var chain: [RecordClaim] = []
        var device = certificate.id
        for claim in claims(in: certificate, household) where !claim.isFarewell(of: certificate.id) {
            // A record that is known was judged with all others: whoever it makes a member is trusted.
            guard claim.action == .replace(by: device), household?.membership.contains(claim.id) == false else { return [] }
            chain.insert(claim, at: 0)
            device = claim.author
            guard trusted.contains(where: { $0.id == device }) else { continue }
            // The oldest first: a stranger can sign all others.
            var records: [MembershipRecord] = []
            for claim in chain {
                guard let record = try? claim.verified() else { return [] }
                records.append(record)
            }
            return records
        }
        return []
    }

    /// What `certificate` claims about the household.
    func claims(in certificate: DeviceCertificate, _ household: Household?) -> [RecordClaim] {
        guard !certificate.statement.isEmpty, let id = household?.id,
            case .records(let records)? = HouseholdMessage(certificate.statement)
        else { return [] }
        return records.prefix(Household.statementsMax).compactMap { try? RecordClaim(bytes: $0) }.filter { $0.household == id }
    }
}

extension RecordClaim {
    /// Whether `device` says by it that it leaves.
    func isFarewell(of device: DeviceID) -> Bool { author == device && action == .revoke(device) }
}
