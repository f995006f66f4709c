import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension SyncedDatabase {
    /// The other devices of the group, by device id.
    package func members() throws -> [Member] {
        try read(rows: false) { ledger in try MemberRecords(ledger: ledger).all() }
    }

    /// The same as a part of what is open on `db`.
    package func members(_ db: Database) throws -> [Member] {
        try read(in: db, rows: false) { ledger in try MemberRecords(ledger: ledger).all() }
    }

    /// Says which other devices belong to the group. One that is new holds back garbage from now on; one that is missing does
    /// no longer.
    ///
    /// - Throws: ``StoreError`` with code `valueRejected` for an id longer than ``Member/deviceBytesMax`` bytes.
    package func setMembers(_ devices: [[UInt8]]) throws {
        guard devices.allSatisfy({ $0.count <= Member.deviceBytesMax }) else {
            throw StoreError(.valueRejected, "The id of a device has at most \(Member.deviceBytesMax) bytes.")
        }
        let now = options.clock().milliseconds
        let known = try members()
        if Set(known.map(\.device)) == Set(devices) { return }
        try write { _, state in
            // It has come to a group, and may have been there before.
            if known.isEmpty { try ListingRule(state.ledger).becomeDue(nowMilliseconds: now) }
            try MemberRecords(ledger: state.ledger).set(devices, nowMilliseconds: now)
        }
    }

    /// A member was heard of: it is this replica, and cannot lose what `durable` covers. Of a device that is not a member
    /// nothing is noted.
    /// - Returns: whether it is a member.
    @discardableResult
    package func noteMember(_ device: [UInt8], replica: ReplicaID, durable: VersionVector) throws -> Bool {
        let now = options.clock().milliseconds
        guard let known = try members().first(where: { $0.device == device }) else { return false }
        let wasAway = ListingRule.wasAway(known, nowMilliseconds: now)
        try write { _, state in
            if wasAway { try ListingRule(state.ledger).becomeDue(nowMilliseconds: now) }
            try MemberRecords(ledger: state.ledger).note(device, replica, durable: durable, nowMilliseconds: now)
        }
        return true
    }

    /// A member's word came by a file that was written when its wall clock said `madeMilliseconds`, and that may be older than what it
    /// said since.
    ///
    /// The later word counts; of one replica that is the greater one. Where nobody can tell which that is, and where one replica has
    /// called less durable later, the member may have lost its store, and counts as not heard of until it is heard again. Of a device
    /// that is not a member nothing is noted.
    ///
    /// - Parameter vector: what the member knew.
    @discardableResult
    package func noteMember(
        _ device: [UInt8], replica: ReplicaID, vector: VersionVector, durable: VersionVector, madeMilliseconds made: Int64
    ) throws -> CarriedWord {
        let now = options.clock().milliseconds
        guard let known = try members().first(where: { $0.device == device }) else { return .older }
        let word = CarriedWord(of: replica, vector, durable, madeMilliseconds: made, after: known)
        // An old file that says what is known already leaves no doubt.
        let saysNothingNew = known.replica == replica && known.durable == durable
        if word == .older || word == .unclear && saysNothingNew { return word }
        let wasAway = ListingRule.wasAway(known, nowMilliseconds: now)
        try write { _, state in
            if wasAway { try ListingRule(state.ledger).becomeDue(nowMilliseconds: now) }
            let records = MemberRecords(ledger: state.ledger)
            if word == .unclear { return try records.doubt(known) }
            try records.note(device, replica, durable: durable, nowMilliseconds: max(known.seenMilliseconds, min(made, now)))
        }
        return word
    }

    /// What all of these members have said that they cannot lose; nothing if one was never heard, or is no member.
    package func acknowledged(by devices: [[UInt8]]) throws -> VersionVector {
        let members = try members().filter { devices.contains($0.device) && $0.replica != nil }
        guard let first = members.first, members.count == Set(devices).count else { return VersionVector() }
        return members.dropFirst().reduce(first.durable) { common, member in
            VersionVector(
                common.entries.compactMap { dot in
                    let sequence = min(dot.sequence, member.durable[dot.replica])
                    return sequence > 0 ? Dot(replica: dot.replica, sequence: sequence) : nil
                })
        }
    }

    /// The members that cannot lose anything of what this store holds now, as far as is known here.
    package func holders() throws -> [Member] { try holders(in: nil) }

    /// The same as a part of what is open on `db`.
    package func holders(_ db: Database) throws -> [Member] { try holders(in: db) }

    private func holders(in db: Database?) throws -> [Member] {
        try read(in: db, rows: false) { ledger in
            let vector = try VectorRecords(connection: ledger.connection).vector(ledger.catalog)
            return try MemberRecords(ledger: ledger).all().filter { $0.durable.covers(vector) }
        }
    }

    /// The members that cannot lose a row as it is now, deletion included, as far as is known here; none if the row is not known.
    package func holders(table: String, id: RowID) throws -> [Member] { try holders(in: nil, table, id) }

    /// The same as a part of what is open on `db`.
    package func holders(_ db: Database, table: String, id: RowID) throws -> [Member] { try holders(in: db, table, id) }

    private func holders(in db: Database?, _ table: String, _ id: RowID) throws -> [Member] {
        try read(in: db) { ledger in
            guard let number = ledger.catalog.table(named: Array(table.utf8))?.number,
                let dots = try liveDots(number, id, ledger)
            else { return [] }
            return try MemberRecords(ledger: ledger).all().filter { dots.allSatisfy($0.durable.covers) }
        }
    }

    private func liveDots(_ table: Int, _ id: RowID, _ ledger: RowLedger) throws -> [Dot]? {
        if let hidden = try ledger.hiddenRow(table, id) { return hidden.state.liveDots }
        guard let tracked = ledger.catalog.tables[table].tracked,
            let found = try UserTable(connection: ledger.connection, table: ledger.catalog.tables[table], tracked: tracked).find(id)
        else { return nil }
        return try ledger.storedRow(table, row: found.row)?.liveDots
    }
}
