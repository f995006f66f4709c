import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithTrust

/// Which other devices would still have what was written here if this one were gone, as far as it is known here.
///
/// A device counts only when it has said that the commits in question would survive a loss of power there, and that it has the bytes
/// of the attachments on its disk. News of this is written down some seconds after it comes, so the answer may be a little behind, and
/// never ahead.
public struct Safety: Codable, Hashable, Sendable {
    /// A trusted device.
    public struct Holder: Codable, Hashable, Sendable {
        /// The device's id, in its readable form.
        public let deviceID: String
        /// What people call it; its short id if nobody named it.
        public let name: String
    }

    /// An attachment that is here, and that no other device is known to have.
    public struct LooseAttachment: Codable, Hashable, Sendable {
        /// The content's name, as it stands in a column.
        public let id: String
        /// The content's length.
        public let sizeBytes: Int64
    }

    /// Those that hold everything, the bytes of attachments included, in the order of their names.
    public let holders: [Holder]
    /// Those that hold all rows, whether or not they have the bytes of attachments.
    public let rowHolders: [Holder]
    /// How many trusted devices there are.
    public let devices: Int
    /// How many of them have ever said what they hold.
    public let devicesHeard: Int
    /// Commits that no other device is known to hold; `nil` where single commits were not counted.
    public let commitsHereOnly: UInt64?
    /// Attachments whose bytes no other device is known to hold, the largest first.
    public let attachmentsHereOnly: [LooseAttachment]
    /// Attachments whose bytes have not come here, and that no other device is known to hold. Their size is 0 where it is not known.
    public let attachmentsNowhere: [LooseAttachment]
    /// Whether this store holds nothing at all.
    public let isEmpty: Bool
    /// Whether something was written on this device.
    public let isWrittenHere: Bool
}

extension SyncedDatabase {
    /// Which of the trusted devices hold everything that this store holds.
    public func safety(among devices: [TrustedDevice]) throws(StoreError) -> Safety {
        try StoreError.typed {
            try safety(
                SafetyEvidence(devices, members()), summary: summary(), authors: authors(), rowHolders: holders(),
                attachments: heldAttachments())
        }
    }

    /// The same as a part of what is open on `db`.
    ///
    /// An observation of `db` hears of what was written here, not of what other devices say that they hold: ask again when the node's
    /// status changes.
    public func safety(_ db: Database, among devices: [TrustedDevice]) throws(StoreError) -> Safety {
        try StoreError.typed {
            try safety(
                SafetyEvidence(devices, members(db)), summary: summary(db), authors: authors(db), rowHolders: holders(db),
                attachments: heldAttachments(db))
        }
    }

    private func safety(
        _ evidence: SafetyEvidence, summary: StoreSummary, authors: Authors, rowHolders: [Member], attachments: [HeldAttachment]
    ) -> Safety {
        var held = VersionVector()
        for member in evidence.members { held.join(member.durable) }
        // Of what a peer says of other replicas' commits, the sum can be more than there are numbers.
        let missing = summary.vector.entries.reduce(UInt64(0)) { sum, entry in
            let (more, overflow) = sum.addingReportingOverflow(entry.sequence - min(entry.sequence, held[entry.replica]))
            return overflow ? .max : more
        }
        return evidence.safety(
            rowHolders: rowHolders, attachments: attachments, commitsHereOnly: missing, isEmpty: summary.vector.isEmpty,
            isWrittenHere: summary.vector.entries.contains { authors[$0.replica] == .own })
    }

    /// Which of the trusted devices hold a row as it is now, deletion included, and the attachments that it shows; none if the row is
    /// not known.
    public func safety(ofRow id: RowID, in table: String, among devices: [TrustedDevice]) throws(StoreError) -> Safety {
        try safety(ofRows: [(table: table, id: id)], among: devices)
    }

    /// The same of the row with this id.
    public func safety(ofRow id: UUID, in table: String, among devices: [TrustedDevice]) throws(StoreError) -> Safety {
        try safety(ofRow: RowID(id), in: table, among: devices)
    }

    /// Which of the trusted devices hold all of these rows, as with one; none if one is not known.
    public func safety(ofRows rows: [(table: String, id: RowID)], among devices: [TrustedDevice]) throws(StoreError) -> Safety {
        try StoreError.typed {
            let evidence = try SafetyEvidence(devices, members())
            var holding: Set<[UInt8]>?
            var attachments: [HeldAttachment] = []
            for row in rows {
                let holders = Set(try holders(table: row.table, id: row.id).map(\.device))
                holding = holding?.intersection(holders) ?? holders
                attachments += try heldAttachments(table: row.table, id: row.id)
            }
            return evidence.safety(
                rowHolders: evidence.members.filter { holding?.contains($0.device) == true }, attachments: attachments,
                commitsHereOnly: nil,
                isEmpty: false, isWrittenHere: true)
        }
    }
}

/// What the trusted devices have said.
private struct SafetyEvidence {
    let devices: [TrustedDevice]
    /// The trusted ones that were ever heard of.
    let members: [Member]

    init(_ devices: [TrustedDevice], _ members: [Member]) {
        let trusted = Set(devices.map(\.id.bytes))
        self.devices = devices
        self.members = members.filter { trusted.contains($0.device) && $0.replica != nil }
    }

    func safety(
        rowHolders: [Member], attachments: [HeldAttachment], commitsHereOnly: UInt64?, isEmpty: Bool, isWrittenHere: Bool
    ) -> Safety {
        let heard = Set(members.map(\.device))
        let rows = Set(rowHolders.map(\.device)).intersection(heard)
        let all = attachments.reduce(into: rows) { $0.formIntersection($1.holders) }
        let unheld = attachments.filter { heard.isDisjoint(with: $0.holders) }
            .sorted { ($1.sizeBytes, $0.id) < ($0.sizeBytes, $1.id) }
        func loose(isHere: Bool) -> [Safety.LooseAttachment] {
            unheld.filter { $0.isHere == isHere }.map { Safety.LooseAttachment(id: $0.id.description, sizeBytes: $0.sizeBytes) }
        }
        return Safety(
            holders: holders(all), rowHolders: holders(rows), devices: devices.count, devicesHeard: members.count,
            commitsHereOnly: commitsHereOnly,
            attachmentsHereOnly: loose(isHere: true), attachmentsNowhere: loose(isHere: false), isEmpty: isEmpty,
            isWrittenHere: isWrittenHere)
    }

    private func holders(_ ids: Set<[UInt8]>) -> [Safety.Holder] {
        let names = DeviceNames(devices)
        return devices.filter { ids.contains($0.id.bytes) }
            .map { Safety.Holder(deviceID: $0.id.description, name: names[$0.id]) }
            .sorted { ($0.name, $0.deviceID) < ($1.name, $1.deviceID) }
    }
}
