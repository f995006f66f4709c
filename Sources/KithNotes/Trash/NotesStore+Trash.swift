import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The notes that can be restored, most recently deleted first: those that were deleted in the last
    /// ``SyncedDatabase/trashMilliseconds``.
    public func trash() throws(NotesError) -> [TrashedNote] {
        try NotesError.mapping {
            let authors = try store.authors()
            let held = try store.massDeletions().map(\.sinceMilliseconds).min()
            return try store.trash(table: NotesSchema.table, max: .max).compactMap { TrashedNote($0, authors, heldSince: held) }
        }
    }

    /// Whether a note is there, or is known to have been deleted. It is not known for ever.
    package func knows(_ id: UUID) throws(NotesError) -> Bool {
        try NotesError.mapping { try store.knows(RowID(id), in: NotesSchema.table) }
    }

    /// The notes in the trash that a person means, as in ``find(_:)``.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous` with the notes that could be meant.
    public func findInTrash(_ references: [String]) throws(NotesError) -> [Note] {
        let notes = try trash().map(\.note)
        var found: [Note] = []
        for reference in references.map(NoteReference.init) {
            let note = try reference.theOnly(of: notes.filter(reference.matches), in: "the trash")
            if !found.contains(where: { $0.id == note.id }) { found.append(note) }
        }
        return found
    }

    /// Brings a note back as it was last shown, here and on all devices, with the attachments that went with it.
    ///
    /// - Throws: ``NotesError`` with code `notFound` if it is not in the trash.
    @discardableResult
    public func restore(_ id: UUID) throws(NotesError) -> Note { try restore(id, isStep: true) }

    /// - Parameter isStep: whether ``undo()`` may take it back.
    @discardableResult
    package func restore(_ id: UUID, isStep: Bool) throws(NotesError) -> Note {
        guard let note = try restore([id], isStep: isStep).first else {
            throw NotesError(.notFound, "The note went again as soon as it was back.")
        }
        return note
    }

    /// The same for several notes: all of them, or none.
    @discardableResult
    public func restore(_ ids: [UUID]) throws(NotesError) -> [Note] { try restore(ids, isStep: true) }

    /// - Parameter mayBeBack: whether a note that is in the trash no more is passed over: a peer may have brought it back since.
    private func restore(_ ids: [UUID], isStep: Bool, mayBeBack: Bool = false) throws(NotesError) -> [Note] {
        try NotesError.mapping {
            try database.write { db in
                let notes = Dictionary(uniqueKeysWithValues: try store.trash(db, table: NotesSchema.table, max: .max).map { ($0.id, $0) })
                let attachments = Dictionary(
                    grouping: try store.trash(db, table: NotesSchema.attachmentTable, max: .max), by: { $0.values["note"] ?? .null })
                if isStep { try step("Restore", ids.compactMap { notes[RowID($0)].flatMap(Self.title) }, db) }
                for id in ids {
                    guard let note = notes[RowID(id)] else {
                        if mayBeBack { continue }
                        throw NotesError(.notFound, "The note is not in the trash any more.")
                    }
                    try store.restore(db, table: NotesSchema.table, id: note.id)
                    for attachment in attachments[.blob(id.bytes)] ?? [] where attachment.isDeleted(with: note) {
                        try store.restore(db, table: NotesSchema.attachmentTable, id: attachment.id)
                    }
                }
                return try ids.compactMap { try mayBeBack ? Self.fetch($0, db) : Self.current($0, db) }
            }
        }
    }

    /// Brings back all that `author` deleted and that is in the trash; it is nothing to be warned of any more.
    ///
    /// - Returns: the notes that came back.
    @discardableResult
    public func restoreAll(deletedBy authors: Set<Author>) throws(NotesError) -> [Note] {
        let restored = try restore(trash().filter { authors.contains($0.deletedBy) }.map(\.id), isStep: true, mayBeBack: true)
        for author in authors { try dismissMassDeletions(by: author) }
        return restored
    }

    /// Where another device has deleted so many notes within a day that people may not have meant it.
    public func massDeletions() throws(NotesError) -> [MassDeletion] {
        try NotesError.mapping {
            let found = try store.massDeletions().filter { $0.table == NotesSchema.table }
            if found.isEmpty { return [] }
            // If a person has brought the notes back, on whichever machine, there is nothing to warn of.
            let authors = Set(try trash().map(\.deletedBy))
            return found.filter { authors.contains($0.author) }
        }
    }

    /// Forgets the large deletions of which the trash has nothing any more, so that what the same device deletes next is not added to them.
    package func forgetMassDeletionsThatAreUndone() throws(NotesError) {
        try NotesError.mapping {
            let all = try store.massDeletions().filter { $0.table == NotesSchema.table }
            if all.isEmpty { return }
            let left = try massDeletions()
            for deletion in all where !left.contains(deletion) { try store.dismiss(deletion) }
        }
    }

    /// Somebody has looked at what `author`, or anybody, deleted: it is nothing to be warned of, and leaves the trash when it is due.
    public func dismissMassDeletions(by author: Author? = nil) throws(NotesError) {
        try NotesError.mapping {
            for deletion in try store.massDeletions() where author == nil || deletion.author == author { try store.dismiss(deletion) }
        }
    }

    /// Empties the trash of this machine: what is in it cannot be restored here any more.
    ///
    /// - Returns: how many notes that were.
    @discardableResult
    public func emptyTrash() throws(NotesError) -> Int {
        try NotesError.mapping {
            try store.emptyTrash(table: NotesSchema.attachmentTable)
            return try store.emptyTrash(table: NotesSchema.table)
        }
    }
}

extension TrashedRow {
    /// Whether the same commits have deleted both, or the same device's word.
    fileprivate func isDeleted(with other: TrashedRow) -> Bool {
        other.removedBy.map { $0 == removedBy } ?? deletions.contains(where: other.deletions.contains)
    }
}
