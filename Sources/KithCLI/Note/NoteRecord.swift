import Foundation
import Kith
import KithNotes

/// A note in the JSON that commands print.
struct NoteRecord: Encodable {
    let id: String
    let title: String
    let body: String
    let color: String
    let tags: [String]
    let pinned: Bool
    /// `nil` for a time that no calendar shows.
    let created: String?
    let updated: String?
    /// The version of the body; `nil` where it was not asked for.
    let version: String?
    /// The machines that would still have it as it is now without this one; `nil` where it was not asked for.
    let safeOn: [Safety.Holder]?
    /// Fields of which several versions are kept; `nil` where it was not asked for.
    let conflicts: [String]?

    init(_ note: Note) {
        self.init(note, version: nil, safety: nil)
    }

    init(_ note: Note, version: String?, safety: Safety?, conflicts: [NoteConflict]? = nil) {
        self.version = version
        // Several places of the body are one field.
        self.conflicts = conflicts.map { all in NoteField.allCases.filter { field in all.contains { $0.field == field } }.map(\.rawValue) }
        safeOn = safety?.holders
        id = note.id.uuidString.lowercased()
        title = note.title
        body = note.body
        color = note.color.name
        tags = Array(note.tags)
        pinned = note.isPinned
        created = TimeText(milliseconds: note.createdMilliseconds)?.iso8601
        updated = TimeText(milliseconds: note.updatedMilliseconds)?.iso8601
    }
}

extension [Note] {
    /// Writes the notes as a table or as JSON.
    ///
    /// - Parameter conflicts: of whichever notes; those with some are marked.
    func write(to console: Console, asJSON: Bool, conflicts: [NoteConflict]) throws {
        let conflicts = Dictionary(grouping: conflicts, by: \.noteID)
        if asJSON {
            return try console.write(json: map { NoteRecord($0, version: nil, safety: nil, conflicts: conflicts[$0.id] ?? []) })
        }
        var table = TextTable(header: ["ID", "CHANGED", "TITLE", "COLOR", "TAGS"], flexibleColumns: 2)
        table.rows = map { note in
            [
                .init(note.shortID, .dim),
                .init(TimeText(milliseconds: note.updatedMilliseconds)?.local ?? "unknown", .dim),
                .init((conflicts[note.id] == nil ? "" : "! ") + (note.title.isEmpty ? "(no title)" : note.title), .bold),
                .init(note.color == .none ? "" : note.color.name, TextStyle(note.color)),
                .init(((note.isPinned ? ["pinned"] : []) + note.tags.map { "#" + $0 }).joined(separator: " ")),
            ]
        }
        try table.write(to: console)
        if console.isTerminal, contains(where: { conflicts[$0.id] != nil }) {
            try Console.error.writeLine("! several versions are kept: kith conflicts list")
        }
    }
}

extension Note {
    /// For people, in messages.
    var label: String { "\u{201C}\(title.isEmpty ? "(no title)" : title)\u{201D} (\(shortID))" }
}
