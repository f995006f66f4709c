import Foundation
import GRDB
import Kith

/// A note together with the name of its body: what an editor begins with, and gets back when it has saved.
public struct VersionedNote: Hashable, Sendable {
    /// The note as it is.
    public let note: Note
    /// The version that its body is.
    public let version: TextVersion
}

extension NotesStore {
    /// The note with this id and the version of its body, as of one moment; `nil` if it is not there.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func versionedNote(_ id: UUID) throws(NotesError) -> VersionedNote? {
        try NotesError.mapping {
            try database.read { db in
                guard let note = try Self.fetch(id, db) else { return nil }
                return VersionedNote(note: note, version: try bodyVersion(of: id, db))
            }
        }
    }

    /// Saves a body that was made from the version `base`; what others wrote since stays, and is in what comes back.
    ///
    /// - Parameter key: names this save: it is done once, however often it is sent. Of the last ten thousand saves with a name that is known.
    /// - Throws: as ``saveBody(_:of:base:)``.
    public func saveVersioned(_ body: String, of id: UUID, base: TextVersion, key: UUID? = nil) throws(NotesError) -> VersionedNote {
        try NotesError.mapping {
            try database.write { db in
                if let key, try DoneSaves.contains(key, db) {
                    return VersionedNote(note: try Self.current(id, db), version: try bodyVersion(of: id, db))
                }
                let note = try saveBody(body, of: id, base: base, db)
                if let key { try DoneSaves.add(key, db) }
                return VersionedNote(note: note, version: try bodyVersion(of: id, db))
            }
        }
    }

    private func bodyVersion(of id: UUID, _ db: Database) throws -> TextVersion {
        try store.textVersion(db, table: NotesSchema.table, id: RowID(id), column: NoteField.body.rawValue)
    }
}
