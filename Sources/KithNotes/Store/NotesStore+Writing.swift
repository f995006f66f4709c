import Foundation
import GRDB
import Kith

extension NotesStore {
    /// Adds a note.
    ///
    /// - Throws: ``NotesError`` with code `valueRejected` for what ``NoteLimits`` does not allow, `busy`, `diskFull`, `readOnly`.
    @discardableResult
    public func add(
        title: String, body: String = "", color: NoteColor = .none, tags: NoteTags = []
    ) throws(NotesError) -> Note {
        try add(id: nil, title: title, body: body, color: color, tags: tags)
    }

    /// Adds a note once, however often that is asked for under one id: if the note is there as it was added, it is the answer. If it was
    /// changed or deleted since, another one is added.
    package func add(once id: UUID, title: String, body: String) throws(NotesError) -> Note {
        if let note = try note(id), note.title == title, note.body == body { return note }
        return try add(id: try knows(id) ? nil : id, title: title, body: body, color: .none, tags: [])
    }

    private func add(id: UUID?, title: String, body: String, color: NoteColor, tags: NoteTags) throws(NotesError) -> Note {
        let now = options.nowMilliseconds()
        let note = Note(
            id: id ?? options.makeID(now), title: title, body: body, color: color, tags: tags,
            createdMilliseconds: now, updatedMilliseconds: now)
        try NoteLimits.check(note)
        try NotesError.mapping {
            try database.write { db in
                try step("Add", [title], db)
                try db.execute(
                    sql: "INSERT INTO note (\(Note.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                    arguments: [Data(note.id.bytes), title, body, color.rawValue, try tags.json(), now, now])
            }
        }
        return note
    }

    /// Changes a note as it is now, in one transaction. Only what `change` made different is written.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, and as ``add(title:body:color:tags:)``.
    @discardableResult
    public func edit(_ id: UUID, _ change: (inout Note) throws -> Void) throws(NotesError) -> Note {
        try edit(id, isStep: true, change)
    }

    @discardableResult
    package func edit(_ id: UUID, isStep: Bool, _ change: (inout Note) throws -> Void) throws(NotesError) -> Note {
        try NotesError.mapping {
            try database.write { db in
                let current = try Self.current(id, db)
                if isStep { try step("Edit", [current.title], db) }
                var edited = current
                try change(&edited)
                return try write(edited, over: current, base: current, db)
            }
        }
    }

    /// Changes several notes as they are now, in one transaction, and so in one commit; those that are gone are left out.
    ///
    /// - Returns: how many there were.
    /// - Throws: as ``edit(_:_:)-(UUID,_)``; none is changed then.
    @discardableResult
    public func edit(_ ids: [UUID], _ change: (inout Note) throws -> Void) throws(NotesError) -> Int {
        try NotesError.mapping {
            try database.write { db in
                try step("Edit", try titles(ids, db), db)
                var count = 0
                for id in ids {
                    guard let current = try Self.fetch(id, db) else { continue }
                    var edited = current
                    try change(&edited)
                    _ = try write(edited, over: current, base: current, db)
                    count += 1
                }
                return count
            }
        }
    }

    /// Writes what is different in `edited` from `base`, the note as it was when the editing began.
    ///
    /// What others changed meanwhile in the body or in other fields stays.
    /// - Throws: ``NotesError`` with code `changedMeanwhile` if another field that differs was changed by others too,
    ///   `notFound` if the note was deleted meanwhile, and as ``add(title:body:color:tags:)``.
    @discardableResult
    public func save(_ edited: Note, base: Note) throws(NotesError) -> Note {
        let fields = edited.fieldsThatDiffer(from: base)
        return try NotesError.mapping {
            try database.write { db in
                let current = try Self.current(base.id, db)
                try step("Edit", [current.title], db)
                let changed = current.fieldsThatDiffer(from: base).filter { fields.contains($0) && $0 != .body }
                // Others may have come to the same.
                guard edited.fieldsThatDiffer(from: current).allSatisfy({ !changed.contains($0) }) else {
                    let names = changed.map(\.rawValue).joined(separator: " and ")
                    throw NotesError(
                        .changedMeanwhile, "The \(names) of \u{201C}\(current.title.prefix(80))\u{201D} changed while you were editing.")
                }
                var merged = current
                merged.take(fields, from: edited)
                return try write(merged, over: current, base: base, db)
            }
        }
    }

    /// Deletes these notes in one transaction; those that are gone already are left out.
    ///
    /// - Returns: how many were there.
    @discardableResult
    public func delete(_ ids: [UUID]) throws(NotesError) -> Int { try delete(ids, isStep: true) }

    @discardableResult
    func delete(_ ids: [UUID], isStep: Bool) throws(NotesError) -> Int {
        try NotesError.mapping {
            try database.write { db in
                let exists = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM note WHERE id = ?)")
                let there = try Set(ids).filter { try Bool.fetchOne(exists, arguments: [Data($0.bytes)]) ?? false }
                // Of what is gone already nothing is to be taken back.
                if isStep, !there.isEmpty { try step("Delete", try titles(ids, db), db) }
                for id in ids {
                    try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [Data(id.bytes)])
                    try Self.deleteAttachments(of: id, db)
                }
                return there.count
            }
        }
    }

    static func current(_ id: UUID, _ db: Database) throws -> Note {
        guard let note = try fetch(id, db) else {
            throw NotesError(.notFound, "The note \(id.uuidString.lowercased()) was deleted.")
        }
        return note
    }

    /// - Parameter base: what the editor had loaded, with which its body is merged into the current one.
    func write(_ edited: Note, over current: Note, base: Note, _ db: Database) throws -> Note {
        let fields = edited.fieldsThatDiffer(from: current)
        if fields.isEmpty { return current }
        try NoteLimits.check(edited, over: current)
        let assignments = fields.map { $0 == .body ? "body = kith_text(?, ?, body), " : "\($0.rawValue) = ?, " }.joined()
        let values = try fields.flatMap { field in
            let value = try edited.databaseValue(of: field)
            return field == .body ? [value, base.body.databaseValue] : [value]
        }
        try db.execute(
            sql: "UPDATE note SET \(assignments)updated = ? WHERE id = ?",
            arguments: StatementArguments(values + [options.nowMilliseconds().databaseValue, Data(edited.id.bytes).databaseValue]))
        return try Self.current(edited.id, db)
    }
}

extension Note {
    fileprivate mutating func take(_ fields: [NoteField], from other: Note) {
        for field in fields {
            switch field {
            case .title: title = other.title
            case .body: body = other.body
            case .color: color = other.color
            case .tags: tags = other.tags
            }
        }
    }
}

extension NotesStore {
    /// Pins notes before all others, or no longer, in one transaction. It is no edit: the time of the last change stays.
    ///
    /// - Returns: how many of them are there.
    /// - Throws: ``NotesError`` with code `busy`, `diskFull`, `readOnly`.
    @discardableResult
    public func pin(_ ids: [UUID], _ isPinned: Bool) throws(NotesError) -> Int {
        try NotesError.mapping {
            try database.write { db in
                try step(isPinned ? "Pin" : "Unpin", try titles(ids, db), db)
                var count = 0
                for id in ids.map({ Data($0.bytes) }) {
                    try db.execute(sql: "UPDATE note SET pinned = ?1 WHERE id = ?2 AND pinned <> ?1", arguments: [isPinned ? 1 : 0, id])
                    let isThere = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM note WHERE id = ?)", arguments: [id])
                    count += isThere == true ? 1 : 0
                }
                return count
            }
        }
    }
}
