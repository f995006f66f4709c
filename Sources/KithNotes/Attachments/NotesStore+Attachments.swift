import Foundation
import GRDB
import Kith

extension NotesStore {
    /// Attaches a copy of a file to a note. It is an edit of the note: one that was deleted elsewhere meanwhile comes back.
    ///
    /// - Parameter old: an attachment of that note, which is detached in the same commit.
    /// - Throws: ``NotesError`` with code `notFound` if there is no such note or file; `valueRejected` if it is no regular file, too
    ///   large, or its name longer than ``NoteLimits/attachmentNameBytesMax``, or the note has ``NoteLimits/attachmentsMax``
    ///   already; `diskFull`, `readOnly`, `busy`.
    @discardableResult
    public func attach(_ file: URL, to note: UUID, name: String? = nil, replacing old: NoteAttachment? = nil) throws(NotesError)
        -> NoteAttachment
    {
        try attach(file, to: note, name: name, replacing: old, isStep: true)
    }

    /// - Parameters:
    ///   - isStep: whether ``undo()`` may take it back.
    ///   - isFound: whether another machine may have both, the note and its attachment, as a file says.
    @discardableResult
    package func attach(
        _ file: URL, to note: UUID, name: String? = nil, replacing old: NoteAttachment? = nil, isStep: Bool, isFound: Bool = false
    ) throws(NotesError) -> NoteAttachment {
        let name = name ?? file.lastPathComponent
        try NoteLimits.checkAttachmentName(name)
        return try NotesError.mapping {
            // Before a large file is copied in vain.
            if old == nil { _ = try database.read { try Self.checkRoom(for: note, $0) } }
            let content = try store.attach(contentsOf: file)
            let now = options.nowMilliseconds()
            let id = try database.write { db in
                if let old { try db.execute(sql: "DELETE FROM attachment WHERE id = ?", arguments: [Data(old.id.bytes)]) }
                let note = try Self.checkRoom(for: note, db)
                if isStep { try step("Attach \u{201C}\(name.prefix(80))\u{201D} to", [note.title], db) }
                var number = 1
                var id = NoteAttachment.id(of: content, name, in: note)
                while try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM attachment WHERE id = ?)", arguments: [Data(id.bytes)]) == true
                {
                    number += 1
                    id = NoteAttachment.id(of: content, name, in: note, number: number)
                }
                func insert() throws {
                    try db.execute(
                        sql: "INSERT INTO attachment (\(NoteAttachment.columns)) VALUES (?, ?, ?, ?, ?)",
                        arguments: [
                            Data(id.bytes), Data(note.id.bytes), name, store.attachmentState(content).sizeBytes, content.description,
                        ])
                }
                if isFound {
                    try store.findingRows(db, insert)
                    return id
                }
                try insert()
                try db.execute(sql: "UPDATE note SET updated = max(?, updated + 1) WHERE id = ?", arguments: [now, Data(note.id.bytes)])
                return id
            }
            guard let attachment = try attachments(of: note).first(where: { $0.id == id }) else {
                throw NotesError(.notFound, "The attachment was removed as soon as it was made.")
            }
            return attachment
        }
    }

    /// Whether a file of this name may be attached to the note: to know it before a large one is received.
    ///
    /// - Throws: as ``attach(_:to:name:)``.
    package func checkCanAttach(name: String, to note: UUID) throws(NotesError) {
        try NoteLimits.checkAttachmentName(name)
        _ = try NotesError.mapping { try database.read { try Self.checkRoom(for: note, $0) } }
    }

    /// The note, to which one more attachment may be added.
    @discardableResult
    private static func checkRoom(for note: UUID, _ db: Database) throws -> Note {
        let note = try current(note, db)
        let sql = "SELECT count(*) FROM attachment WHERE note = ?"
        let count = try Int.fetchOne(db, sql: sql, arguments: [Data(note.id.bytes)]) ?? 0
        try NoteLimits.checkAttachmentCount(count + 1)
        return note
    }

    /// The attachments of a note, by name.
    public func attachments(of note: UUID) throws(NotesError) -> [NoteAttachment] {
        try NotesError.mapping {
            try database.read { db in
                let sql = "SELECT \(NoteAttachment.selection) FROM attachment WHERE note = ? ORDER BY name, id"
                return try Row.fetchAll(db, sql: sql, arguments: [Data(note.bytes)]).compactMap { NoteAttachment(row: $0, in: store) }
            }
        }
    }

    /// The attachment of a note that a person means: by its name, or the beginning or end of its id, from four digits on.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous`.
    public func findAttachment(_ reference: String, of note: Note) throws(NotesError) -> NoteAttachment {
        let all = try attachments(of: note.id)
        let digits = reference.lowercased().filter { $0 != "-" }
        let matching = all.filter { attachment in
            let id = attachment.id.uuidString.lowercased().filter { $0 != "-" }
            return attachment.name.utf8.elementsEqual(reference.utf8) || digits.count >= 4 && (id.hasPrefix(digits) || id.hasSuffix(digits))
        }
        guard let attachment = matching.first else {
            let names = all.isEmpty ? "It has none." : "It has: " + all.map(\.name).joined(separator: ", ")
            throw NotesError(.notFound, "No attachment of \u{201C}\(note.title)\u{201D} is called \u{201C}\(reference)\u{201D}. \(names)")
        }
        if matching.count > 1 {
            let ids = matching.map { $0.id.uuidString.lowercased().suffix(8) }.joined(separator: ", ")
            throw NotesError(
                .ambiguous, "\(matching.count) attachments are meant by \u{201C}\(reference)\u{201D}. Name one by its id: \(ids)")
        }
        return attachment
    }

    /// The content of an attachment, after it was read and compared with its hash; `nil` if it is not here or was found damaged. What is
    /// damaged is set aside, and fetched again.
    public func provenFile(of attachment: NoteAttachment) throws(NotesError) -> AttachmentFile? {
        guard let content = attachment.content else { return nil }
        return try NotesError.mapping { try store.provenAttachment(content) }
    }

    /// The attachments that have this content, of whichever notes.
    public func attachments(withContent id: AttachmentID) throws(NotesError) -> [NoteAttachment] {
        try NotesError.mapping {
            try database.read { db in
                let sql = "SELECT \(NoteAttachment.selection) FROM attachment WHERE file = ? ORDER BY name, id"
                return try Row.fetchAll(db, sql: sql, arguments: [id.description]).compactMap { NoteAttachment(row: $0, in: store) }
            }
        }
    }

    /// Removes an attachment from its note. Its bytes go some time later, if nothing else refers to them.
    public func detach(_ attachment: NoteAttachment) throws(NotesError) { try detach(attachment, isStep: true) }

    /// - Parameter isStep: whether ``undo()`` may take it back.
    package func detach(_ attachment: NoteAttachment, isStep: Bool) throws(NotesError) {
        try NotesError.mapping {
            try database.write { db in
                if isStep { try step("Detach \u{201C}\(attachment.name.prefix(80))\u{201D} from", try titles([attachment.note], db), db) }
                try db.execute(sql: "DELETE FROM attachment WHERE id = ?", arguments: [Data(attachment.id.bytes)])
                let now = options.nowMilliseconds()
                try db.execute(
                    sql: "UPDATE note SET updated = max(?, updated + 1) WHERE id = ?", arguments: [now, Data(attachment.note.bytes)])
            }
        }
    }

    /// Asks for an attachment that is not here, whatever its size. The node fetches it from whichever device has it.
    public func fetch(_ attachment: NoteAttachment) throws(NotesError) {
        guard let content = attachment.content else { return }
        try NotesError.mapping { try store.fetchAttachment(content) }
    }
}

extension NotesStore {
    /// Deletes the attachments of a note that is being deleted.
    static func deleteAttachments(of note: UUID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM attachment WHERE note = ?", arguments: [Data(note.bytes)])
    }
}
