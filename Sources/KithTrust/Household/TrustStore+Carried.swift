/// What a file that is carried by hand needs of the household: see docs/carry.md.
extension TrustStore {
    /// Seals a file for all members, this device among them.
    ///
    /// - Parameter knownKeys: public keys that were met elsewhere. For members whose key neither these nor the records have, and who have
    ///   not shown it either, the household's secret opens the file.
    /// - Throws: `.noHousehold`, `.notAMember`.
    package func seal(knownKeys: [[UInt8]]) throws(TrustError) -> HouseholdEnvelope {
        let state = snapshot
        guard let household = state.household else { throw .noHouseholdToCarry }
        if state.standing == .joining {
            throw TrustError(
                .notHeardYet, "This device joins the household, and has not heard from a member yet, so it has nothing to seal a file with."
            )
        }
        guard state.standing == .member, let secret = household.secrets.first else { throw .nobodyToSealFor }
        var keys: [DeviceID: [UInt8]] = [:]
        let own = (try? key()).map { [$0.publicKeyBytes] } ?? []
        for key in household.membership.records.map(\.authorKey) + household.shownKeys + knownKeys + own {
            if let device = DeviceKey.device(ofPublicKey: key) { keys[device] = key }
        }
        let members = household.membership.members.map(\.id)
        let known = members.compactMap { keys[$0] }
        do {
            return try HouseholdEnvelope(for: known, and: known.count == members.count ? nil : secret)
        } catch {
            throw TrustError(.malformedCertificate, "The file cannot be sealed: \(error)")
        }
    }

    /// Notes the public key of a device that has proven to hold it, so that files can be sealed for it from now on. Of a device that is
    /// not trusted nothing is noted.
    /// - Throws: what reading or writing the files throws.
    package func note(publicKey key: [UInt8]) throws(TrustError) {
        guard let device = DeviceKey.device(ofPublicKey: key), isTrusted(device), household?.shownKeys.contains(key) == false else {
            return
        }
        try edit { (state) throws(TrustError) in
            // Those of devices that are out, or have another key, are of no use any more.
            let trusted = Set(state.trusted.map(\.id))
            let keys = (state.household?.shownKeys ?? []).union([key])
            state.household?.shownKeys = keys.filter { DeviceKey.device(ofPublicKey: $0).map(trusted.contains) ?? false }
        }
    }

    /// Opens the envelope of a file; `nil` if it is not for this device, as far as it knows.
    package func open(_ header: [UInt8]) -> HouseholdEnvelope? {
        let keys = ((try? key()).map { [$0] } ?? []) + retiredKeys
        return HouseholdEnvelope(opening: header, with: keys, household?.secrets ?? [])
    }

    /// All that this device knows of the household, for a file: the digest, the secrets, and the records, each after those that it needs.
    package var householdMessages: [HouseholdMessage] {
        guard let household else { return [] }
        return [.digest(household.digest), .secrets(household.secrets)]
            + household.allRecords
    }

    /// Whether this device holds all that these messages tell of the household.
    package func knows(_ messages: [HouseholdMessage]) -> Bool {
        guard let household else { return false }
        let hasAllRecords = messages.contains(.digest(household.digest))
        let known = Set(household.membership.records.map(\.bytes))
        return messages.allSatisfy { message in
            switch message {
            case .digest, .have: true
            case .records(let records): hasAllRecords || known.isSuperset(of: records)
            case .secrets(let secrets): HouseholdSecret.merged(household.secrets, secrets) == household.secrets
            }
        }
    }

    /// Whether `device` is a member by what is known here and these records together, this device included. Nothing is taken in.
    package func isMember(_ device: DeviceID, with records: [[UInt8]]) -> Bool {
        let state = snapshot
        guard var membership = state.household?.membership else { return state.trusted.contains { $0.id == device } }
        _ = try? membership.insert(verified(records))
        return membership.member(device) != nil
    }
}

extension TrustError {
    fileprivate static let noHouseholdToCarry = TrustError(
        .noHousehold, "There is no household whose machines could open the file. Pair this machine with another one first.")

    fileprivate static let nobodyToSealFor = TrustError(
        .notAMember, "This device is not a member of its household any more, so there is no file that the others would take of it.")
}
