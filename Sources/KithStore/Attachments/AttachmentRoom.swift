import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

/// How many bytes of attachments may still be kept unasked, by the device that names them.
///
/// What is kept of an attachment counts for each device that has named it in a row that is here, shown or not. What this device has named
/// itself, and what was asked for, comes in any case. Follows from the rows and the files alone; what is measured once goes on by
/// ``take(_:_:)``, until ``SyncedDatabase/wantedAttachments(max:)`` looks again.
struct AttachmentRoom: Sendable {
    private let bytesMax: Int64
    /// What may come before it matters who has named it.
    private var ample: Int64
    /// Who has named what, and what is kept for whom; `nil` as long as that was not looked at.
    private var shares: AttachmentShares?

    fileprivate init(bytesMax: Int64, kept: Int64, shares: AttachmentShares?) {
        self.bytesMax = bytesMax
        ample = bytesMax - kept
        self.shares = shares
    }

    /// Whether so many bytes of an attachment fit; `nil` if it must be known who has named it. No bytes before its size is known: its
    /// outline may go somewhat beyond the limit, so that the size can be told.
    fileprivate func fits(_ id: AttachmentID, _ bytes: Int64) -> Bool? {
        if bytes <= ample { return true }
        guard let shares else { return nil }
        let limit = bytes == 0 ? bytesMax + bytesMax / 16 : bytesMax - bytes
        return shares.authors(of: id).contains { $0 == .own || shares.bytes[$0, default: 0] <= limit }
    }

    fileprivate mutating func take(_ id: AttachmentID, _ bytes: Int64) {
        ample -= bytes
        shares?.add(id, bytes)
    }
}

/// Which devices have named which attachments, and how many bytes are kept for each.
struct AttachmentShares: Sendable {
    private var authors: [AttachmentID: Set<Author>] = [:]
    private(set) var bytes: [Author: Int64] = [:]

    /// Looks at all rows, shown or not, with all values that were written at once, and with alternatives that are gone and kept for a while.
    init(_ ledger: RowLedger, kept: [AttachmentID: Int64]) throws {
        let authors = try Authors(ledger: ledger)
        var found: [AttachmentID: Set<Author>] = [:]
        func note(_ value: ColumnValue, _ replica: ReplicaID) {
            if case .text(let digits) = value, let id = AttachmentID(digits: digits) { found[id, default: []].insert(authors[replica]) }
        }
        try TableScan(ledger: ledger).read(after: nil) { row in
            for entry in row.state.cells {
                guard case .register(let register) = entry.cell else { continue }
                for write in register.writes { note(write.value, write.stamp.dot.replica) }
            }
            return true
        }
        try SupersededValues(ledger: ledger).readTexts(ofBytes: 2 * AttachmentID.byteCount, note)
        self.authors = found
        for (id, bytes) in kept where found[id] != nil { add(id, bytes) }
    }

    func authors(of id: AttachmentID) -> Set<Author> { authors[id] ?? [.unknown] }

    /// The bytes of what came because a row named it, and no row does now.
    fileprivate func bytesOfNobody(_ kept: [AttachmentID: Int64], in folder: AttachmentFolder) -> Int64 {
        kept.reduce(0) { $0 + (authors[$1.key] == nil && folder.isLeftOver($1.key) ? $1.value : 0) }
    }

    /// What each device has named.
    var named: [Author: [AttachmentID]] {
        var named: [Author: [AttachmentID]] = [:]
        for (id, devices) in authors { for device in devices { named[device, default: []].append(id) } }
        return named
    }

    fileprivate mutating func add(_ id: AttachmentID, _ count: Int64) {
        for author in authors(of: id) { bytes[author, default: 0] += count }
    }
}

extension SyncedDatabase {
    /// Whether so many bytes more of an attachment may be kept although nobody has asked for it.
    ///
    /// All rows are read at most once until ``wantedAttachments(max:)`` looks again, however many attachments wait.
    func hasAttachmentRoom(for id: AttachmentID, bytes: Int64) throws -> Bool {
        if options.attachmentBytesFetchedOfDevice == .max { return true }
        if attachmentRoom.withLock({ $0 == nil }) { try measureAttachmentRoom(byDevice: false) }
        let needed = AttachmentFolder.inBlocks(bytes)
        if let fits = attachmentRoom.withLock({ $0?.fits(id, needed) }) { return fits }
        try measureAttachmentRoom(byDevice: true)
        return attachmentRoom.withLock { $0?.fits(id, needed) } ?? false
    }

    /// So many bytes more of an attachment are kept.
    func takeAttachmentRoom(for id: AttachmentID, bytes: Int64) {
        attachmentRoom.withLock { $0?.take(id, AttachmentFolder.inBlocks(bytes)) }
    }

    private func measureAttachmentRoom(byDevice: Bool) throws {
        var kept = attachments?.keptBytes() ?? [:]
        // Half of Int64.max is more than any disk has, and sums with it do not overflow.
        let bytesMax = min(max(0, options.attachmentBytesFetchedOfDevice), .max / 2)
        let shares = byDevice ? try read { ledger in try AttachmentShares(ledger, kept: kept) } : nil
        if let attachments, let shares, shares.bytesOfNobody(kept, in: attachments) > bytesMax {
            try collectLeftOverAttachments(attachments)
            kept = attachments.keptBytes()
        }
        let room = AttachmentRoom(bytesMax: bytesMax, kept: kept.values.reduce(0, +), shares: shares)
        attachmentRoom.withLock { $0 = room }
    }
}
