extension TrustStore {
    /// Makes `device`, which was just paired, a member of this device's household; of one that this device joins once it is a member itself.
    ///
    /// - Parameter candidate: the household that this device founds unless it is a member of one. It takes in the devices on the list as
    ///   well. A member keeps its name.
    /// - Throws: `.ownDevice`, `.limitReached`, and what reading or writing the files throws.
    @discardableResult
    package func admit(_ device: TrustedDevice, founding candidate: Household? = nil) throws(TrustError) -> TrustedDevice {
        if let candidate { try found(candidate) }
        let isMember = self.device(device.id) != nil
        return try add(TrustedDevice(id: device.id, name: isMember ? "" : device.name, addresses: device.addresses, added: device.added))
    }

    /// Makes `candidate` the household of this device, unless it is a member of one already.
    ///
    /// A household that was left is forgotten.
    package func found(_ candidate: Household) throws(TrustError) {
        guard standing != .member else { return }
        try edit { (state) throws(TrustError) in
            guard state.standing != .member else { return }
            // Who was on the way to another household, or was removed from one, does not take its members along.
            if state.household != nil { state.list = DeviceList() }
            let key = try key(of: state.ownID)
            state.household = candidate
            try state.household?.enrol(state.list.devices, by: key)
        }
    }

    /// Enters the household `id`, of which `sponsor` is a member that has added this device or is about to.
    ///
    /// Another household is left; no data is touched. Until a member was heard, only the devices on the list are trusted.
    /// - Throws: `.ownDevice`, and what reading or writing the files throws.
    @discardableResult
    package func join(_ id: HouseholdID, through sponsor: TrustedDevice) throws(TrustError) -> TrustedDevice {
        guard sponsor.id != ownID else { throw TrustError(.ownDevice, "A device cannot join a household through itself.") }
        return try edit { (state) throws(TrustError) in
            let isOut = state.standing == .removed || state.standing == .left
            // The members of the household that is left do not come along.
            if state.household != nil, state.household?.id != id || isOut { state.list = DeviceList() }
            if state.household?.id != id || isOut { state.household = Household(joining: id) }
            return try state.list.note(sponsor)
        }
    }

    /// Leaves the household, or forgets the list: nobody is trusted from now on. No data is touched.
    ///
    /// A member signs that it leaves; a running node tells one of the others, who tells the rest, and then calls
    /// ``forgetHousehold()``. Leaving once more forgets at once, and so does leaving with an imported identity that has met no member.
    public func leave() throws(TrustError) {
        try edit { (state) throws(TrustError) in
            guard state.standing == .member, state.trusted.count > 0, state.household?.isImported == false else {
                return state.forget()
            }
            let key = try key(of: state.ownID)
            try state.household?.say(.revoke(key.id), by: key)
        }
    }

    /// Forgets the household that this device has left.
    package func forgetHousehold() throws(TrustError) {
        try edit { (state) throws(TrustError) in
            if state.standing == .left { state.forget() }
        }
    }

    /// Whether two different things were signed with this device's key, so that it can say nothing more in its household but that it has a new
    /// one.
    package var isKeyForked: Bool { household?.membership.isForked(ownID) ?? false }

    /// Who was a member of the household, or is one under another key; empty without a household.
    package var formerMembers: [FormerMember] { household?.membership.formerMembers ?? [] }

    // MARK: Exchange

    /// What to tell a peer at the beginning and after every change; `nil` without a household.
    package var householdDigest: HouseholdMessage? {
        household.map { .digest($0.digest) }
    }

    /// What to tell those that this device is connected with when something was changed here.
    ///
    /// A device that joins, or whose identity was imported, holds less than it may have said that it held. The others have no reason to
    /// speak, and answer a digest by what they have; so it says what it has as well, for which they send the rest.
    package var householdChange: [HouseholdMessage] {
        let state = snapshot
        guard let household = state.household else { return [] }
        let mayLack = state.standing == .joining || household.isImported
        return [.digest(household.digest)] + (mayLack ? HouseholdMessage.have(all: household.membership.records.map(\.id)) : [])
    }

    /// All records, and their digest, for a peer that is to hear them before anything else; `nil` without a household, and once this device
    /// has left: its farewell alone says that.
    package var householdRecords: (digest: [UInt8], messages: [HouseholdMessage])? {
        let state = snapshot
        guard let household = state.household, state.standing != .left else { return nil }
        return (household.membership.digest, household.allRecords)
    }

    /// Takes in all that another device of this household knows of it.
    /// - Throws: what reading or writing the files throws.
    package func hear(of other: TrustStore) throws(TrustError) {
        for message in other.householdRecords?.messages ?? [] { _ = try answer(message) }
    }

    /// Takes in what a trusted peer says of the household.
    /// - Returns: the answers, and whether anything is different now.
    /// - Throws: what reading or writing the files throws. What the peer says wrongly is passed over.
    package func answer(_ message: HouseholdMessage) throws(TrustError) -> (answers: [HouseholdMessage], hasChanged: Bool) {
        // Who has left says so by its farewell alone: a member that heard it in a session that is about to end would have nobody left to
        // listen for, and never answer.
        guard let household, standing != .left else { return ([], false) }
        switch message {
        case .digest(let digest):
            heard(digest)
            let hasChanged = try settleImport()
            return (household.answers(to: message), hasChanged)
        case .have: return (household.answers(to: message), false)
        case .records(let records):
            var hasChanged = try take(verified(records))
            hasChanged = try settleImport() || hasChanged
            // What the peer said before may count only with these: it says it again where the digests differ.
            return (hasChanged ? [householdDigest].compactMap(\.self) : [], hasChanged)
        case .secrets(let secrets):
            let hasChanged = try take([], secrets)
            return ([], try settleImport() || hasChanged)
        }
    }

    /// Ends the wait of an imported identity once it holds what a member has said that it holds.
    ///
    /// What it signed after it was exported is then known here, so that it signs nothing else under the same number.
    private func settleImport() throws(TrustError) -> Bool {
        guard let household, household.isImported, hasHeard(household.digest) else { return false }
        return try edit { (state) throws(TrustError) in
            guard state.household?.isImported == true, state.household?.digest == household.digest else { return false }
            state.household?.isImported = false
            if state.standing == .member {
                let key = try key(of: state.ownID)
                try state.household?.enrol(state.list.devices, by: key)
            }
            return true
        }
    }

    /// Those of `records` that are of this household, new here and signed by their authors.
    func verified(_ records: [[UInt8]]) -> [MembershipRecord] { household?.verified(records) ?? [] }

    /// Takes in what can be taken.
    /// - Returns: whether anything is different now.
    func take(
        _ records: [MembershipRecord], _ secrets: [HouseholdSecret] = [], renewsSecret: Bool = false
    ) throws(TrustError) -> Bool {
        guard var known = household, known.take(records, secrets) else { return false }
        return try edit { (state) throws(TrustError) in
            guard var household = state.household else { return false }
            guard household.take(records, secrets) else { return false }
            if renewsSecret { household.renewSecret() }
            let wasJoining = state.standing == .joining
            state.household = household
            state.settle()
            if wasJoining, state.standing == .member, !household.isImported {
                let key = try key(of: state.ownID)
                try state.household?.enrol(state.list.devices, by: key)
            }
            return true
        }
    }
}
