/// How a device that has left tells one member, who tells the others.
///
/// It says all that it knows, since what it said last names what it said before, and nobody else may have that. The member writes it
/// down and says that it did; only then the device forgets the household.
extension TrustStore {
    /// What a member is to hear from this device, which has left, and the record that the member has to name in its answer.
    package var farewell: (id: MembershipRecord.ID, messages: [HouseholdMessage])? {
        let state = snapshot
        guard state.standing == .left, let membership = state.household?.membership,
            let record = membership.farewell(of: state.ownID)
        else { return nil }
        return (record.id, HouseholdMessage.messages(membership.records, of: membership))
    }

    /// The record by which the holder of `certificate`, a member now or once, says that it leaves. Then it is there to be heard by
    /// ``hear(_:fromLeaving:)`` and for nothing else. That it holds the key vouches for this; no signature of it is verified.
    package func farewell(in certificate: DeviceCertificate) -> MembershipRecord.ID? {
        let state = snapshot
        guard let household = state.household,
            let claim = claims(in: certificate, household).first(where: { $0.isFarewell(of: certificate.id) }),
            household.membership.isRevoked(certificate.id) || isMember(certificate, state)
        else { return nil }
        return claim.id
    }

    /// Takes in what the holder of `certificate` says that leaves, and makes a new secret, with which it recognises nobody. One that
    /// was revoked meanwhile is not listened to.
    /// - Returns: the answer once it is written down that it is no member, and whether anything is different now.
    package func hear(
        _ message: HouseholdMessage, fromLeaving certificate: DeviceCertificate
    ) throws(TrustError) -> (answer: HouseholdMessage?, hasChanged: Bool) {
        guard case .records(let records) = message, let farewell = farewell(in: certificate) else { return (nil, false) }
        let hasChanged = isMember(certificate, snapshot) ? try take(verified(records), renewsSecret: true) : false
        let state = snapshot
        // Who is no member here cannot tell the others.
        let isOut = state.standing == .member && state.household?.membership.isRevoked(certificate.id) == true
        return (isOut ? .have([farewell]) : nil, hasChanged)
    }

    private func isMember(_ certificate: DeviceCertificate, _ state: TrustState) -> Bool {
        state.trusted.contains { $0.id == certificate.id } || !renewals(in: certificate, of: state.trusted, state.household).isEmpty
    }
}
