import Crypto

/// Who belongs to a household: a set of signed records that only grows, and what follows from it. A pure value.
///
/// Two devices with the same records name the same members, in whatever order the records came. What counts is decided by
/// what each author had seen, never by a clock:
/// * a record is taken only if its author was a member by the records that it names;
/// * a revocation beats every addition of the same device that had not seen it, and voids what the revoked device said without
///   having seen it, except what the revoking one already knew;
/// * revocations themselves always count, so that of two devices that revoke each other both are out until a third adds one again.
package struct Membership: Sendable {
    /// Most records of a household. The last ``reservedForRevocations`` places are for revocations alone.
    package static let recordsMax = 1024
    static let reservedForRevocations = 128
    /// Most records of one author, revocations aside.
    static let recordsPerAuthorMax = 128
    /// Most revocations of one author, so that no single device can use up the places that are reserved for them.
    static let revocationsPerAuthorMax = 32

    package let household: HouseholdID
    /// Every record after those that it names.
    package private(set) var records: [MembershipRecord] = []
    /// The members, by id.
    package private(set) var members: [HouseholdMember] = []
    /// Records that no other one names, in ascending order.
    package private(set) var heads: [MembershipRecord.ID] = []

    /// Where each record stands in `records`.
    private var places: [MembershipRecord.ID: Int] = [:]
    /// For each record all those before it.
    private(set) var pasts: [RecordSet] = []
    /// How many records are in the longest chain up to each.
    private(set) var depths: [Int] = []
    /// Records that make a device a member, and those that end it.
    private(set) var additions: [DeviceID: [Int]] = [:]
    private(set) var removals: [DeviceID: [Int]] = [:]

    /// A household of which nothing is known yet but its id.
    package init(of household: HouseholdID) {
        self.household = household
    }

    /// A household that begins with this record.
    package init(foundedBy record: MembershipRecord) throws(MembershipError) {
        self.init(of: record.household)
        try insert([record])
    }

    /// Takes in records, each after those that it names, and passes over what may not be taken.
    ///
    /// - Returns: how many were new.
    /// - Throws: why the last of those that were passed over was; the others are in all the same.
    @discardableResult
    package mutating func insert(_ records: [MembershipRecord]) throws(MembershipError) -> Int {
        try insert(records, isLimited: true)
    }

    /// Takes in again what was taken in before, by whatever version: how much may be said is no question any more.
    mutating func restore(_ records: [MembershipRecord]) throws(MembershipError) {
        try insert(records, isLimited: false)
    }

    @discardableResult
    private mutating func insert(_ records: [MembershipRecord], isLimited: Bool) throws(MembershipError) -> Int {
        var count = 0
        var refusal: MembershipError?
        for record in records where places[record.id] == nil {
            do throws(MembershipError) {
                try insert(record, isLimited)
                count += 1
            } catch {
                refusal = error
            }
        }
        if count > 0 { members = currentMembers() }
        if let refusal { throw refusal }
        return count
    }

    /// Signs `action` after all that is known, and takes it in.
    @discardableResult
    package mutating func say(_ action: MembershipAction, by key: DeviceKey, milliseconds: Int64) throws(MembershipError)
        -> MembershipRecord
    {
        let record = try MembershipRecord(
            action, in: household, after: Array(heads.prefix(MembershipRecord.parentsMax)), by: key, milliseconds: milliseconds)
        try insert([record])
        return record
    }

    package func member(_ id: DeviceID) -> HouseholdMember? {
        members.first { $0.id == id }
    }

    /// Whether the device was a member once and is none now.
    package func isRevoked(_ id: DeviceID) -> Bool {
        removals[id] != nil && member(id) == nil
    }

    /// The new key of a device that replaced its own.
    package func replacement(of id: DeviceID) -> DeviceID? {
        for place in removals[id] ?? [] {
            if case .replace(let successor) = records[place].action { return successor }
        }
        return nil
    }

    /// The record by which `id` took the place of another device.
    func replacing(by id: DeviceID) -> MembershipRecord? {
        additions[id]?.lazy.map { records[$0] }.first { $0.action == .replace(by: id) }
    }

    /// Whether `id` took the place of `earlier`, directly or through others.
    func isSuccessor(_ id: DeviceID, of earlier: DeviceID) -> Bool {
        var device = earlier
        // Keys that replace each other in a circle end the search.
        for _ in records {
            guard let next = replacement(of: device) else { return false }
            if next == id { return true }
            device = next
        }
        return false
    }

    /// The record by which `id` said that it leaves, if it is no member because of that: not one from before it came back.
    func farewell(of id: DeviceID) -> MembershipRecord? {
        guard isRevoked(id) else { return nil }
        let place = removals[id]?.first { place in
            records[place].author == id && records[place].action == .revoke(id)
                && additions[id]?.contains { pasts[$0].contains(place) } != true
        }
        return place.map { records[$0] }
    }

    // MARK: Comparing

    package func contains(_ id: MembershipRecord.ID) -> Bool { places[id] != nil }

    /// What is missing where only `known` is known, each after those that it names.
    package func records(besides known: Set<MembershipRecord.ID>) -> [MembershipRecord] {
        records.filter { !known.contains($0.id) }
    }

    /// Equal exactly where the records are: the SHA-256 of their ids in ascending order.
    package var digest: [UInt8] {
        var hash = SHA256()
        for id in places.keys.sorted() { hash.update(data: id.bytes) }
        return Array(hash.finalize())
    }

    // MARK: Taking one in

    private mutating func insert(_ record: MembershipRecord, _ isLimited: Bool) throws(MembershipError) {
        guard record.household == household else { throw .otherHousehold }
        var past = RecordSet()
        var depth = 0
        for parent in record.parents {
            guard let place = places[parent] else { throw .missingParent }
            past.formUnion(pasts[place])
            past.insert(place)
            depth = max(depth, depths[place] + 1)
        }
        if isLimited { try checkRoom(for: record, past) }
        if !record.parents.isEmpty, !isMember(record.author, in: past) { throw .notAMember }
        let place = records.count
        records.append(record)
        places[record.id] = place
        heads.removeAll { record.parents.contains($0) }
        heads.insert(record.id, at: heads.firstIndex { record.id < $0 } ?? heads.endIndex)
        pasts.append(past)
        depths.append(depth)
        switch record.action {
        case .found: additions[record.author, default: []].append(place)
        case .add(let device, _): additions[device, default: []].append(place)
        case .rename: break
        case .revoke(let device): removals[device, default: []].append(place)
        case .replace(let device):
            additions[device, default: []].append(place)
            removals[record.author, default: []].append(place)
        }
    }

    private func checkRoom(for record: MembershipRecord, _ past: RecordSet) throws(MembershipError) {
        if record.isRevocation {
            // All of them are counted, in whatever order they were signed: there is no other room for revocations.
            let own = records.count { $0.author == record.author && $0.isRevocation }
            guard records.count < Self.recordsMax, own < Self.revocationsPerAuthorMax else { throw .tooMany }
        } else {
            guard records.count < Self.recordsMax - Self.reservedForRevocations else { throw .tooMany }
            let own = records.indices.count { past.contains($0) && records[$0].author == record.author }
            guard own < Self.recordsPerAuthorMax else { throw .tooMany }
        }
    }
}
