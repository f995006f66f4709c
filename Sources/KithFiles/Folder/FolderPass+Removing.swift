import CFileFormats
import Foundation
import GRDB
import Kith
import KithNotes

// MARK: Files of notes that are gone

extension FolderPass {
    mutating func remove(_ gone: FolderRecord) throws {
        var record = gone
        record.intent = .remove
        try save(record)
        try options.step("remove")
        guard kith_rename_new(place(record.path), place(temporary(record.note))) == 0 else {
            let words = cannotBeWritten().message
            record.intent = nil
            try save(record)
            if ForeignFile.kind(place(record.path)) == .missing { try forget(record.note) } else { leave(record.path, words, record.note) }
            return
        }
        try options.step("aside")
        synchronizeFolders(of: [record.path])
        try finishRemoval(record)
    }

    /// A file that a program has saved under the name that Kith took away takes the place of the one under the new name, if that one says
    /// what it said.
    ///
    /// - Returns: what the file was before that name was taken away, which the program has changed; `nil` for any other file.
    mutating func takeBack(_ file: ChangedFile) throws -> KnownFile? {
        let (tables, now) = (tables, options.nowMilliseconds())
        guard let note = file.id, var record = try record(of: note), record.intent == nil,
            let former = try database.read({ [record] db in try tables.former(of: record, at: file.path, now, db) }),
            case .file(let stamp) = ForeignFile.kind(place(record.path)), isQuiet(place(record.path), stamp),
            isUnchanged(record, at: place(record.path))
        else { return nil }
        record.intent = .takeBack
        try save(record)
        try options.step("former")
        let aside = place(temporary(note))
        guard kith_rename_new(place(record.path), aside) == 0 else {
            record.intent = nil
            try save(record)
            return nil
        }
        try options.step("former aside")
        guard isUnchanged(record, at: aside), !ForeignFile.isBeingWritten(aside) else {
            try putAsideBack(record)
            return nil
        }
        readers?.forget(note)
        try save(former)
        try options.step("taken back")
        unlink(aside)
        return KnownFile(former)
    }

    /// The file was taken aside.
    mutating func finishRemoval(_ gone: FolderRecord) throws {
        let (record, aside) = (gone, place(temporary(gone.note)))
        if isUnchanged(record, at: aside), !ForeignFile.isBeingWritten(aside) {
            try forget(record.note)
            freed.insert(FileName.key(record.path))
            report.removed += 1
            try options.step("removed")
            unlink(aside)
        } else {
            // An editor has saved: the note comes back with the next pass.
            try putAsideBack(record)
        }
    }

    /// A file that was taken aside goes back.
    mutating func putAsideBack(_ taken: FolderRecord) throws {
        var record = taken
        let aside = place(temporary(record.note))
        if kith_rename_new(aside, place(record.path)) != 0 {
            _ = kith_rename_new(aside, place(try freePath(for: "\(record.title) (saved)", in: "")))
        }
        record.intent = nil
        again(record)
        try save(record)
    }

    /// Whether a file says what the note's file said.
    private func isUnchanged(_ record: FolderRecord, at place: String) -> Bool {
        (try? ForeignFile.read(place, bytesMax: MarkdownNote.bytesMax)).map { Self.hash($0) == record.hash } ?? false
    }
}
