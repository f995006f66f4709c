/// A device of a household.
package struct HouseholdMember: Hashable, Sendable {
    package let id: DeviceID
    /// What the household calls it; may be empty.
    package let name: String
    /// When it was added, by the wall clock of who added it, in milliseconds since 1970.
    package let addedMilliseconds: Int64
    /// Who added it; itself for the first one.
    package let addedBy: DeviceID
}

/// A device that was a member of a household, or a key that a member had.
package struct FormerMember: Hashable, Sendable {
    package let id: DeviceID
    /// What the household called it last; may be empty.
    package let name: String
    /// Its last key.
    package let last: DeviceID
    /// Whether it is a member under that key.
    package let isMember: Bool
}

extension Membership {
    /// Who was a member, or a member under another key, by id.
    package var formerMembers: [FormerMember] {
        let names = names(among: Set(members.map(\.id)))
        return chains.keys.filter { member($0) == nil }.sorted().map { id in
            let successors = allSuccessors(of: id)
            let member = members.first { successors.contains($0.id) }?.id
            let last = member ?? successors.sorted().first { replacement(of: $0) == nil } ?? id
            return FormerMember(id: id, name: name(of: id, names), last: last, isMember: member != nil)
        }
    }

    /// Whether the device of `chain` is no member by its addition any more: it was revoked, or took another key.
    func isEnded(_ chain: RecordChain) -> Bool {
        !chain.renewals.isEmpty || seal(of: chain) != nil
    }

    /// The additions by which `device` is a member.
    func warrants(of device: DeviceID) -> [RecordChain] {
        (chains[device] ?? []).filter { counting.contains($0.addition.id) && !isEnded($0) }
    }

    /// The records that count, revocations aside: what a device said is void from the number on that is beyond its seal.
    func countingRecords() -> Set<MembershipRecord.ID> {
        var counting = Set(tree.chains.prefix(1).map(\.addition.id))
        for chain in tree.chains where counting.contains(chain.addition.id) {
            let seal = min(seal(of: chain) ?? .max, chain.ambiguousNumber ?? .max)
            for record in chain.path + (chain.renewal.map { [$0] } ?? []) where record.terms.number < seal { counting.insert(record.id) }
        }
        return counting
    }

    /// The members by all that is known.
    func currentMembers() -> [HouseholdMember] {
        let warrants: [RecordChain] = chains.keys.compactMap { device in
            self.warrants(of: device).min { ($0.depth, $0.addition.id) < ($1.depth, $1.addition.id) }
        }
        let names = names(among: Set(warrants.map(\.device)))
        return warrants.sorted { $0.device < $1.device }.map { chain in
            HouseholdMember(
                id: chain.device, name: name(of: chain.device, names), addedMilliseconds: chain.addition.milliseconds,
                addedBy: chain.addition.author)
        }
    }

    /// The highest edition of the names that members gave to `device`; 0 without. What others gave comes after these in any edition.
    func edition(of device: DeviceID) -> Int {
        records.reduce(0) { highest, record in
            guard record.naming?.device == device, counting.contains(record.id), member(record.author) != nil else { return highest }
            return max(highest, record.terms.edition)
        }
    }

    /// The highest round in which `device` was revoked or took another key, and at least -1.
    package func endedRound(of device: DeviceID) -> Int {
        (chains[device] ?? []).filter(isEnded).map(\.round).max() ?? -1
    }

    // MARK: Parts

    /// The number from which on nothing that the device said under `chain` stands; `nil` if it was not revoked.
    private func seal(of chain: RecordChain) -> Int? { seals[chain.addition.id] }

    /// The seals of the chains of one device, in a time that hardly grows faster than their number: whoever adds one device again and
    /// again makes many.
    ///
    /// A member that ended another addition of the device, of the same round or a later one, and not this one, did not know of this one:
    /// nothing that the device said under it stands. But the member that adds a device again knows which of its additions have ended. So
    /// a revocation of a later addition leaves one alone under which the device took another key, and a key that the device took under a
    /// later addition leaves one alone that was revoked.
    func sealed(_ chains: [RecordChain]) -> [MembershipRecord.ID: Int] {
        var seals: [MembershipRecord.ID: Int] = [:]
        // What ends the chains of this round and later ones.
        var (renewed, revoked) = (0, 0)
        var revokedBy: [DeviceID: Int] = [:]
        for (_, chains) in Dictionary(grouping: chains, by: \.round).sorted(by: { $0.key > $1.key }) {
            let (renewedLater, revokedLater) = (renewed, revoked)
            for chain in chains {
                if !chain.renewals.isEmpty { renewed += 1 }
                guard let revocation = revocations.byAddition[chain.addition.id] else { continue }
                revoked += 1
                revokedBy[revocation.author, default: 0] += 1
            }
            for chain in chains {
                let revocation = revocations.byAddition[chain.addition.id]
                let ownRenewals = chain.renewals.isEmpty ? 0 : 1
                let isEndedElsewhere =
                    if let revocation {
                        revoked > revokedBy[revocation.author, default: 0] || renewed - renewedLater > ownRenewals
                    } else if chain.renewals.count == 1 {
                        revoked > revokedLater || renewed - renewedLater > 1
                    } else {
                        revoked > 0 || renewed > ownRenewals
                    }
                if let seal = isEndedElsewhere ? 0 : revocation?.terms.seal { seals[chain.addition.id] = seal }
            }
        }
        return seals
    }

    /// The newest name that each device was given, by a member if one has named it.
    private func names(among members: Set<DeviceID>) -> [DeviceID: MembershipRecord] {
        var names: [DeviceID: MembershipRecord] = [:]
        func rank(_ record: MembershipRecord) -> (Int, Int, MembershipRecord.ID) {
            (members.contains(record.author) ? 1 : 0, record.terms.edition, record.id)
        }
        for record in records where counting.contains(record.id) {
            guard let device = record.naming?.device else { continue }
            if let other = names[device], rank(other) > rank(record) { continue }
            names[device] = record
        }
        return names
    }

    /// What `device` is called, or what it was called under its earlier keys.
    private func name(of device: DeviceID, _ names: [DeviceID: MembershipRecord]) -> String {
        var earlier: DeviceID? = device
        var steps = 0
        while let id = earlier, steps <= Self.depthMax {
            if let name = names[id]?.naming?.name { return name }
            earlier = chains[id]?.first { $0.addition.isRenewal && counting.contains($0.addition.id) }?.addition.author
            steps += 1
        }
        return ""
    }
}

extension MembershipRecord {
    /// The name that it gives to a device.
    var naming: (device: DeviceID, name: String)? {
        switch action {
        case .found(let name): (author, name)
        case .add(let device, let name): name.isEmpty ? nil : (device, name)
        case .rename(let device, let name): (device, name)
        case .revoke, .replace: nil
        }
    }
}
