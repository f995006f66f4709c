import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Removes attachments that nothing has referred to for a while.
///
/// Everything happens under the write lock of the database, which whoever attaches takes as well. The only owner of `kith_orphan`.
struct AttachmentGarbage {
    static let sql = """
        -- Attachments that nothing refers to, and when that was first noticed, in milliseconds since 1970.
        CREATE TABLE IF NOT EXISTS kith_orphan (id BLOB PRIMARY KEY NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
        """

    let ledger: RowLedger
    let folder: AttachmentFolder

    private var connection: DatabaseConnection { ledger.connection }

    /// The attachment is about to be referred to: its time begins anew.
    func spare(_ id: AttachmentID) throws {
        let delete = try connection.statement("DELETE FROM kith_orphan WHERE id = ?")
        delete.bind(1, blob: id.bytes)
        try delete.run()
    }

    /// Notes what nothing refers to now, and removes what nothing referred to at `end` already.
    /// - Returns: how many were removed.
    func collect(nowMilliseconds now: Int64, until end: Int64) throws -> Int {
        let referred = try AttachmentReferences(connection: connection).all(ledger.catalog)
        let orphans = folder.ids().filter { !referred.contains($0) }
        let known = try orphansKnown()
        let all = Set(orphans)
        for id in known.keys where !all.contains(id) { try spare(id) }
        let insert = try connection.statement("INSERT INTO kith_orphan (id, since) VALUES (?, ?)")
        var count = 0
        for id in orphans {
            // A clock that was set back must not keep an attachment for ever, nor one that was set forward remove it at once.
            if let since = known[id], since <= now {
                if since > end { continue }
                try folder.remove(id)
                try spare(id)
                count += 1
            } else {
                try spare(id)
                insert.bind(1, blob: id.bytes)
                insert.bind(2, now)
                try insert.run()
            }
        }
        return count
    }

    /// Removes of what was fetched unasked and nothing refers to now what came first, until at most half of `bytesMax` is left of it.
    func collectLeftOvers(beyond bytesMax: Int64) throws {
        let referred = try AttachmentReferences(connection: connection).all(ledger.catalog)
        let left = folder.keptBytes().filter { !referred.contains($0.key) && folder.isLeftOver($0.key) }
        var bytes = left.values.reduce(0, +)
        guard bytes > bytesMax else { return }
        let age = left.keys.map { (OpenFile.modified(folder.content($0)) ?? 0, $0) }
        for (_, id) in age.sorted(by: <) {
            if bytes <= bytesMax / 2 { return }
            try folder.remove(id)
            try spare(id)
            bytes -= left[id] ?? 0
        }
    }

    private func orphansKnown() throws -> [AttachmentID: Int64] {
        let select = try connection.statement("SELECT id, since FROM kith_orphan")
        var known: [AttachmentID: Int64] = [:]
        while try select.step() {
            if let id = AttachmentID(bytes: select.blob(0)) { known[id] = select.integer(1) }
        }
        return known
    }
}

extension SyncedDatabase {
    /// How long an attachment stays after the last reference to it was noticed to be gone, in milliseconds. Also the time that an app
    /// has from ``attach(contentsOf:)`` to the row that refers to it.
    package static let attachmentGraceMilliseconds: Int64 = 24 * 60 * 60 * 1_000

    /// Removes what peers had named, was fetched unasked and is named no more, once that is more than one device may fill; in the write
    /// lock, as ``collectAttachments()``.
    func collectLeftOverAttachments(_ folder: AttachmentFolder) throws {
        try write { _, state in
            try AttachmentGarbage(ledger: state.ledger, folder: folder).collectLeftOvers(beyond: options.attachmentBytesFetchedOfDevice)
        }
    }

    /// Removes the bytes of attachments that nothing here has referred to for ``attachmentGraceMilliseconds``: no visible row, no
    /// alternative, no row in the trash or kept for another schema.
    ///
    /// The first call that finds an attachment without references only notes it. Takes the write lock while it reads all references.
    /// - Returns: how many were removed.
    @discardableResult
    package func collectAttachments() throws -> Int {
        guard let folder = attachments else { return 0 }
        folder.removeRemains(olderThan: Int(Self.attachmentGraceMilliseconds / 1_000))
        if folder.ids().isEmpty { return 0 }
        let now = options.clock().milliseconds
        return try write { _, state in
            try AttachmentGarbage(ledger: state.ledger, folder: folder)
                .collect(nowMilliseconds: now, until: now - Self.attachmentGraceMilliseconds)
        }
    }
}
