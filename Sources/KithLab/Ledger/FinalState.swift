import Foundation
import KithNotes
import KithSync

/// What a node shows and keeps in the end.
struct FinalState: Equatable, Sendable {
    struct Note: Equatable, Sendable {
        var title: String
        var body: String
        var color: String
        var tags: [String]
        /// The hash of each attachment, by its name.
        var attachments: [String: String] = [:]
        /// The values that lost and are kept, by field.
        var alternatives: [WriteRecord.Field: [String]] = [:]

        /// Everything that is shown or kept in a field.
        func values(_ field: WriteRecord.Field) -> [String] {
            let shown =
                switch field {
                case .title: title
                case .color: color
                case .body: body
                }
            return [shown] + alternatives[field, default: []]
        }
    }

    /// By the id of the note, in lowercase.
    var notes: [String: Note]

    init(notes: [String: Note]) {
        self.notes = notes
    }

    /// Everything that the file of a node shows.
    init(_ store: NotesStore) throws {
        notes = [:]
        for note in try store.list() {
            var kept = Note(title: note.title, body: note.body, color: note.color.name, tags: note.tags.map { $0 }.sorted())
            for attachment in try store.attachments(of: note.id) {
                kept.attachments[attachment.name] = attachment.content?.description ?? ""
            }
            // Of texts the oracle knows what the merge shows.
            for conflict in try store.conflicts(of: note) where conflict.lines == nil {
                guard let field = WriteRecord.Field(rawValue: conflict.field.rawValue) else { continue }
                kept.alternatives[field] = conflict.versions.dropFirst().map(\.text)
            }
            notes[note.id.uuidString.lowercased()] = kept
        }
    }
}
