import GRDB
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// An attachment that visible rows show, whether or not it is here, with the members that said they have it.
package struct HeldAttachment: Hashable, Sendable {
    package let id: AttachmentID
    /// 0 if it is not here and its size is not known yet.
    package let sizeBytes: Int64
    /// Whether it is here, whole.
    package let isHere: Bool
    /// Device ids, see ``Member/device``.
    package let holders: [[UInt8]]

    package init(id: AttachmentID, sizeBytes: Int64, isHere: Bool, holders: [[UInt8]]) {
        self.id = id
        self.sizeBytes = sizeBytes
        self.isHere = isHere
        self.holders = holders
    }
}

extension SyncedDatabase {
    /// The attachments that are here, whole and on the disk, whatever refers to them; sorted. Reads the names of files, not their content.
    package func attachmentsHere() -> [AttachmentID] {
        attachments?.held() ?? []
    }

    /// A member said this of the attachments that it has. Of a device that is no member nothing is noted.
    ///
    /// What it has no longer goes first, and all is noted some in each transaction, so that others write in between. What is known
    /// meanwhile, or when this fails, is less than what was said, and never more.
    ///
    /// - Parameter isCertain: whether nothing was said later; otherwise what is not in it is forgotten, and nothing else is noted.
    package func noteHoldings(_ news: HoldingNews, of device: [UInt8], isCertain: Bool = true) throws {
        func note<Result>(_ body: (HoldingRecords) throws -> Result) throws -> Result {
            try write { _, state in try body(HoldingRecords(connection: state.ledger.connection)) }
        }
        if news.replacesAll {
            var last: AttachmentID?
            repeat {
                last = try note { try $0.removeOthers(than: news.added, of: device, after: last, max: Self.holdingsAtOnce) }
            } while last != nil
        }
        try Self.inPortions(news.removed) { ids in try note { try $0.remove(ids, of: device) } }
        guard isCertain else { return }
        try Self.inPortions(news.added) { ids in try note { try $0.add(ids, of: device) } }
    }

    private static func inPortions(_ ids: Set<AttachmentID>, _ body: (ArraySlice<AttachmentID>) throws -> Void) throws {
        var rest = ids.sorted()[...]
        while !rest.isEmpty {
            try body(rest.prefix(holdingsAtOnce))
            rest = rest.dropFirst(holdingsAtOnce)
        }
    }

    /// What members said of so many attachments is noted in one transaction.
    private static let holdingsAtOnce = 2_048

    /// The attachments that visible rows show, here or not, each with the members that said they have it.
    package func heldAttachments() throws -> [HeldAttachment] { try heldAttachments(in: nil) }

    /// The same as a part of what is open on `db`.
    package func heldAttachments(_ db: Database) throws -> [HeldAttachment] { try heldAttachments(in: db) }

    private func heldAttachments(in db: Database?) throws -> [HeldAttachment] {
        let tables = writer.declarations.tables.filter { !$0.attachments.isEmpty }
        if tables.isEmpty || attachments == nil { return [] }
        return try read(in: db, rows: false) { ledger in
            let references = AttachmentReferences(connection: ledger.connection)
            let shown = try tables.flatMap { try references.shown(table: $0.name, columns: $0.attachments) }
            return try held(shown, ledger)
        }
    }

    /// The same of a single row, if it is shown.
    package func heldAttachments(table: String, id: RowID) throws -> [HeldAttachment] {
        guard let declared = writer.declarations.tables.first(where: { $0.name == table }), !declared.attachments.isEmpty,
            attachments != nil
        else { return [] }
        return try read(rows: false) { ledger in
            guard let (_, tracked) = ledger.tracked(table) else { return [] }
            let shown = try AttachmentReferences(connection: ledger.connection).shown(tracked, columns: declared.attachments, id: id)
            return try held(shown, ledger)
        }
    }

    private func held(_ shown: [AttachmentID], _ ledger: RowLedger) throws -> [HeldAttachment] {
        let records = HoldingRecords(connection: ledger.connection)
        return try Set(shown).sorted().map { id in
            let state = attachments?.state(id)
            var isHere = false
            if case .present = state { isHere = true }
            return HeldAttachment(id: id, sizeBytes: state?.sizeBytes ?? 0, isHere: isHere, holders: try records.holders(of: id))
        }
    }
}
