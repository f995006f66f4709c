import Foundation
import GRDB
import Kith

/// One change of a note's body.
public struct NoteVersion: Hashable, Sendable {
    /// Names the version everywhere: the body as the author left it.
    public let id: TextVersion
    /// The replica that wrote it: 32 hexadecimal digits, another one after a store was copied or restored.
    public let author: String
    /// Whether this store wrote it.
    public let isOwn: Bool
    /// Whose it is, as far as this machine knows.
    public let writer: Author
    /// When, by the author's store, whose clock never goes back.
    public let written: HybridTimestamp
    /// Characters (Unicode scalars) that were inserted and deleted.
    public let inserted: Int
    /// Characters (Unicode scalars) that were deleted.
    public let deleted: Int

    /// The beginning of the author's name and the number of the commit: enough for ``NotesStore/body(of:at:)``.
    public var shortID: String {
        id.dots.map { "\($0.replica.description.prefix(8)).\($0.sequence)" }.joined(separator: ",")
    }
}

extension NotesStore {
    /// The changes that made a note's body, newest first.
    ///
    /// - Throws: ``NotesError`` with code `notFound` if the note is not there.
    public func history(of id: UUID) throws(NotesError) -> [NoteVersion] {
        try NotesError.mapping {
            let authors = try store.authors()
            return try store.textRevisions(table: NotesSchema.table, id: RowID(id), column: NoteField.body.rawValue).map { revision in
                NoteVersion(
                    id: revision.version, author: revision.stamp.dot.replica.description,
                    isOwn: authors[revision.stamp.dot.replica] == .own, writer: authors[revision.stamp.dot.replica],
                    written: revision.stamp.timestamp, inserted: revision.insertedScalars,
                    deleted: revision.deletedScalars)
            }
        }
    }

    /// The body that a note has now, by name: what an editor remembers until it saves.
    public func bodyVersion(of id: UUID) throws(NotesError) -> TextVersion {
        try NotesError.mapping {
            try store.textVersion(table: NotesSchema.table, id: RowID(id), column: NoteField.body.rawValue)
        }
    }

    /// The body that a note had.
    ///
    /// - Throws: ``NotesError`` with code `notFound` if the note or the version is not there.
    public func body(of id: UUID, at version: TextVersion) throws(NotesError) -> String {
        try NotesError.mapping {
            try store.text(table: NotesSchema.table, id: RowID(id), column: NoteField.body.rawValue, at: version)
        }
    }

    /// The version of a note's body that a person means: by its whole name, or by ``NoteVersion/shortID``.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous` if two authors' names begin alike.
    public func version(_ reference: String, of id: UUID) throws(NotesError) -> TextVersion {
        if let version = TextVersion(reference) { return version }
        let found = try history(of: id).filter { version in
            let fields = reference.split(separator: ".", omittingEmptySubsequences: false)
            return fields.count == 2 && !fields[0].isEmpty && version.author.hasPrefix(fields[0].lowercased())
                && version.id.dots.map { String($0.sequence) } == [String(fields[1])]
        }
        if let only = found.first, found.count == 1 { return only.id }
        let shown = reference.prefix(80)
        if found.isEmpty {
            throw NotesError(
                .notFound, "There is no version \u{201C}\(shown)\u{201D} of this note. `kith note history` lists its versions.")
        }
        throw NotesError(.ambiguous, "\u{201C}\(shown)\u{201D} could be several versions. Give more of the name.")
    }

    /// Saves a body that was made from the version `base`; what others wrote since stays.
    ///
    /// - Throws: ``NotesError`` with code `notFound` if the note or the version is not there, `valueRejected` for a body that
    ///   ``NoteLimits`` does not allow, `busy`, `diskFull`, `readOnly`.
    /// - Parameter change: what else is changed in the same transaction.
    @discardableResult
    public func saveBody(
        _ body: String, of id: UUID, base: TextVersion, and change: (inout Note) throws -> Void = { _ in }
    ) throws(NotesError) -> Note {
        try NotesError.mapping {
            try database.write { db in
                try step("Edit", try titles([id], db), db)
                let current = try saveBody(body, of: id, base: base, db)
                var edited = current
                try change(&edited)
                return try write(edited, over: current, base: current, db)
            }
        }
    }

    /// The same within a transaction.
    func saveBody(_ body: String, of id: UUID, base: TextVersion, _ db: Database) throws -> Note {
        let current = try Self.current(id, db)
        var edited = current
        edited.body = body
        try NoteLimits.check(edited, over: current)
        let (table, row, column) = (NotesSchema.table, RowID(id), NoteField.body.rawValue)
        var base = base
        let newest = try store.textVersion(db, table: table, id: row, column: column)
        if newest != base, !body.utf8.elementsEqual(current.body.utf8) {
            // If a note was deleted and restored, its letters are others, though the text is the same: what was typed belongs to these.
            let before = try store.text(db, table: table, id: row, column: column, at: base)
            if before.utf8.elementsEqual(current.body.utf8) { base = newest }
        }
        try store.saveText(db, table: table, id: row, column: column, body, base: base)
        let merged = try Self.current(id, db)
        if merged.fieldsThatDiffer(from: current).isEmpty { return current }
        try db.execute(sql: "UPDATE note SET updated = ? WHERE id = ?", arguments: [options.nowMilliseconds(), Data(id.bytes)])
        return try Self.current(id, db)
    }
}
