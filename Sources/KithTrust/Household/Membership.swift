import Crypto

/// Who belongs to a household: a set of signed records, and what follows from it. A pure value.
///
/// Two devices with the same records name the same members, in whatever order the records came. Clocks decide nothing:
/// * what a device may say stands on the record that made it a member, and on its own records before, never on those of others;
/// * a revocation ends what made a device a member, and voids what that device said beyond what the revoking one knew;
/// * revocations themselves always count, so that of two devices that revoke each other both are out until a third adds one again.
package struct Membership: Sendable {
    /// How many records a household may have, revocations aside: the first device has as many numbers, and hands on parts of them.
    package static let recordsMax = 1024
    /// Most additions and new keys from the first device to any other one.
    package static let depthMax = 32
    /// Which part of its numbers a device hands on to one that it adds.
    static let handedOn = 3

    package let household: HouseholdID
    /// Every record after those that it needs.
    package private(set) var records: [MembershipRecord] = []
    /// The members, by id.
    package internal(set) var members: [HouseholdMember] = []

    private var known: [MembershipRecord.ID: MembershipRecord] = [:]
    private(set) var tree: RecordTree
    private(set) var revocations: Revocations
    /// The records that count, revocations aside.
    private(set) var counting: Set<MembershipRecord.ID> = []
    /// The chains of each device.
    private(set) var chains: [DeviceID: [RecordChain]] = [:]
    /// From which number on nothing stands of what was said under an addition, if its device was revoked; by the addition.
    private(set) var seals: [MembershipRecord.ID: Int] = [:]
    /// The first record, as they are kept, by which each device took the place of another one.
    private var renewals: [DeviceID: MembershipRecord] = [:]

    /// A household of which nothing is known yet but its id.
    package init(of household: HouseholdID) {
        self.household = household
        let signed = SignedRevocations(of: household, [:])
        tree = RecordTree(of: household, [:], signed)
        revocations = Revocations(in: tree, signed)
    }

    /// A household that begins with this record.
    package init(foundedBy record: MembershipRecord) throws(MembershipError) {
        self.init(of: record.household)
        try insert([record])
    }

    /// Takes in records, in any order, and passes over what may not be taken. What they make worthless is forgotten.
    ///
    /// - Returns: how many were new.
    /// - Throws: why the last of those that were passed over was; the others are in all the same.
    @discardableResult
    package mutating func insert(_ records: [MembershipRecord]) throws(MembershipError) -> Int {
        let new = records.filter { known[$0.id] == nil }
        let own = new.filter { $0.household == household }
        guard !own.isEmpty else {
            if !new.isEmpty { throw .otherHousehold }
            return 0
        }
        var candidates = known
        for record in own { candidates[record.id] = record }
        let before = self
        settle(candidates)
        if let refused = own.last(where: { known[$0.id] == nil }) { throw before.refusal(of: refused, candidates) }
        if own.count < new.count { throw .otherHousehold }
        return Set(own).count
    }

    package func member(_ id: DeviceID) -> HouseholdMember? {
        members.first { $0.id == id }
    }

    /// Whether the device was a member once, was revoked or took another key, and is none now.
    package func isRevoked(_ id: DeviceID) -> Bool {
        (chains[id] ?? []).contains(where: isEnded) && member(id) == nil
    }

    /// Whether the device is a member, or was one.
    package func isOrWasMember(_ id: DeviceID) -> Bool { member(id) != nil || isRevoked(id) || replacement(of: id) != nil }

    /// How often the device has ceased to be a member.
    package func roundsEnded(of id: DeviceID) -> Int { endedRound(of: id) + 1 }

    /// The new key of a device that replaced its own.
    package func replacement(of id: DeviceID) -> DeviceID? { successors(of: id).first }

    /// The record by which `id` took the place of another device.
    func replacing(by id: DeviceID) -> MembershipRecord? {
        renewals[id]
    }

    /// Whether `id` took the place of `earlier`, directly or through others.
    func isSuccessor(_ id: DeviceID, of earlier: DeviceID) -> Bool { allSuccessors(of: earlier).contains(id) }

    /// Who took the place of `earlier`, directly or through others.
    func allSuccessors(of earlier: DeviceID) -> Set<DeviceID> {
        var (open, seen) = ([earlier], Set([earlier]))
        while let device = open.popLast() {
            for successor in successors(of: device) where seen.insert(successor).inserted { open.append(successor) }
        }
        return seen.subtracting([earlier])
    }

    /// The record by which `id` said that it leaves, if it is no member because of that: not one from before it came back.
    func farewell(of id: DeviceID) -> MembershipRecord? {
        guard isRevoked(id), let last = (chains[id] ?? []).max(by: { $0.round < $1.round }),
            let revocation = revocations.byAddition[last.addition.id], revocation.author == id
        else { return nil }
        return revocation
    }

    // MARK: Comparing

    package func contains(_ id: MembershipRecord.ID) -> Bool { known[id] != nil }

    /// What is missing where only `ids` are known, each after those that it needs.
    package func records(besides ids: Set<MembershipRecord.ID>) -> [MembershipRecord] {
        records.filter { !ids.contains($0.id) }
    }

    /// The additions without which nobody who does not have them takes `record`, and that are not taken for themselves.
    func witnesses(of record: MembershipRecord) -> [MembershipRecord] { revocations.witnesses[record.id] ?? [] }

    /// Equal exactly where the records are: the SHA-256 of their ids in ascending order.
    package var digest: [UInt8] {
        var hash = SHA256()
        for id in known.keys.sorted() { hash.update(data: id.bytes) }
        return Array(hash.finalize())
    }

    // MARK: Parts

    /// Works out from `candidates` what is kept of them, and what follows.
    private mutating func settle(_ candidates: [MembershipRecord.ID: MembershipRecord]) {
        let signed = SignedRevocations(of: household, candidates)
        tree = RecordTree(of: household, candidates, signed)
        revocations = Revocations(in: tree, signed)
        chains = Dictionary(grouping: tree.chains, by: \.device)
        seals = chains.values.reduce(into: [:]) { $0.merge(sealed($1)) { seal, _ in seal } }
        (records, known, renewals) = ([], [:], [:])
        keep(tree.chains.prefix(1).map(\.addition))
        for chain in tree.chains { keep(chain.records) }
        for chain in tree.chains {
            guard let revocation = revocations.byAddition[chain.addition.id] else { continue }
            keep(witnesses(of: revocation) + [revocation])
        }
        counting = countingRecords()
        members = currentMembers()
    }

    private mutating func keep(_ records: [MembershipRecord]) {
        for record in records where known.updateValue(record, forKey: record.id) == nil {
            self.records.append(record)
            if case .replace(let device) = record.action, renewals[device] == nil { renewals[device] = record }
        }
    }

    private func successors(of id: DeviceID) -> [DeviceID] {
        (chains[id] ?? []).flatMap(\.renewals).compactMap { record in
            if case .replace(let device) = record.action { device } else { nil }
        }
    }

    /// Why `record` was not taken together with `candidates`.
    private func refusal(of record: MembershipRecord, _ candidates: [MembershipRecord.ID: MembershipRecord]) -> MembershipError {
        for id in [record.terms.warrant, record.terms.previous, record.terms.addition] {
            if let id, candidates[id] == nil { return .missingRecord }
        }
        guard let chain = record.terms.warrant.flatMap({ tree[$0] }), chain.device == record.author else { return .notAMember }
        return chain.mayHold(record) ? .forked : .tooMany
    }
}
