import CFileFormats
import Foundation
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

    /// The file was taken aside.
    mutating func finishRemoval(_ gone: FolderRecord) throws {
        var record = gone
        let aside = place(temporary(record.note))
        let bytes = try? ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax)
        if let bytes, Self.hash(bytes) == record.hash, !ForeignFile.isBeingWritten(aside) {
            try forget(record.note)
            report.removed += 1
            try options.step("removed")
            unlink(aside)
        } else {
            // An editor has saved: it goes back, and the note comes back with the next pass.
            if kith_rename_new(aside, place(record.path)) != 0 {
                _ = kith_rename_new(aside, place(try freePath(for: "\(record.title) (saved)", in: "")))
            }
            record.intent = nil
            again(record)
            try save(record)
        }
    }
}
