import Foundation
import GRDB
import Kith
import KithNotes

// MARK: What a pass that was killed has left

extension FolderPass {
    mutating func recover() throws {
        let tables = tables
        let begun = try database.read { db in try tables.begun(db) }
        for record in begun { try recover(record) }
        guard case .everything = scope else { return }
        let kept = Set(try database.read { db in try tables.begun(db) }.map { temporary($0.note) })
        // Nothing refers to these any more, and no person's bytes are in them.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        for name in names where name.hasPrefix(NotesFolder.temporaryPrefix) && !kept.contains(name) { unlink(place(name)) }
    }

    private mutating func recover(_ record: FolderRecord) throws {
        let aside = place(temporary(record.note))
        let isThere = ForeignFile.kind(aside) != .missing
        touched.insert(record.note)
        switch record.intent {
        case .create where isThere:
            try forget(record.note)
            unlink(aside)
        case .remove where isThere: try finishRemoval(record)
        case .takeBack where isThere: try putAsideBack(record)
        case .exchange: try recoverExchange(record, isThere)
        default: try giveUp(record)
        }
    }

    private mutating func recoverExchange(_ record: FolderRecord, _ isThere: Bool) throws {
        let content = try content(record.pending, at: record.path, isOurs: true)
        let hash = Self.hash(record.pending)
        guard isThere else {
            let current = try? ForeignFile.read(place(record.path), bytesMax: MarkdownNote.bytesMax)
            guard let current, Self.hash(current) == hash else { return try giveUp(record) }
            var record = record
            record.take(content, hash: hash, stamp: nil)
            return try save(record)
        }
        let swapped = try? ForeignFile.read(place(temporary(record.note)), bytesMax: MarkdownNote.bytesMax)
        // As it was made: the places were not changed.
        if let swapped, Self.hash(swapped) == hash { return try giveUp(record) }
        guard let settled = try settle(record, content, nil) else { return }
        try save(settled)
        unlink(place(temporary(record.note)))
    }
}
