import Foundation
import GRDB
import Kith

/// What of the notes a snapshot shows; see ``NotesStore/snapshot(_:to:options:)``.
public enum NoteSnapshot: Hashable, Sendable {
    /// The notes that a query asks for.
    case notes(NoteQuery)
    /// Of these, what is open in their check lists.
    case tasks(NoteQuery)

    /// How many rows a snapshot has without a limit of its own.
    public static let rowsMax = 20

    /// A note as it stands in a snapshot.
    public struct Entry: Codable, Hashable, Sendable {
        /// The note.
        public let id: UUID
        /// One line.
        public let title: String
        /// The beginning of the text.
        public let text: String
        /// By name.
        public let color: String
        /// In their order.
        public let tags: [String]
        /// When it was changed last, by the clock of the machine that did.
        public let updated: Date
        /// Whether it stands before all others.
        public let pinned: Bool

        /// With the id in lower case, as `kith` prints it.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(id.uuidString.lowercased(), forKey: .id)
            try values.encode(title, forKey: .title)
            try values.encode(text, forKey: .text)
            try values.encode(color, forKey: .color)
            try values.encode(tags, forKey: .tags)
            try values.encode(updated, forKey: .updated)
            try values.encode(pinned, forKey: .pinned)
        }
    }

    /// An open line of a check list.
    public struct Task: Codable, Hashable, Sendable {
        /// The note.
        public let note: UUID
        /// What the note is called.
        public let title: String
        /// What is to be done.
        public let task: String

        /// With the id in lower case, as `kith` prints it.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(note.uuidString.lowercased(), forKey: .note)
            try values.encode(title, forKey: .title)
            try values.encode(task, forKey: .task)
        }
    }
}

extension NotesStore {
    /// Keeps a list of notes or of open tasks in a file that other programs read with `SnapshotReader`: rewritten only when it shows something
    /// else, also by what other machines have written. Words to search for are left out: they need an index, which a snapshot does not mend.
    public func snapshot(_ content: NoteSnapshot, to file: URL, options: SnapshotOptions = SnapshotOptions()) -> SnapshotWriter {
        switch content {
        case .notes(var query):
            query.limit = query.limit ?? NoteSnapshot.rowsMax
            query.text = nil
            return store.snapshot("notes", to: file, options: options) { [query] db in
                try query.fetch(db).map(NoteSnapshot.Entry.init)
            }
        case .tasks(var query):
            let limit = query.limit ?? NoteSnapshot.rowsMax
            (query.limit, query.text, query.bodyPart) = (nil, nil, "[ ]")
            return store.snapshot("tasks", to: file, options: options) { [query] db in
                Array(try query.fetch(db).lazy.flatMap(NoteSnapshot.Task.open).prefix(limit))
            }
        }
    }
}

extension NoteSnapshot.Entry {
    init(_ note: Note) {
        self.init(
            id: note.id, title: note.title, text: String(note.body.unicodeScalars.prefix(NotesStore.excerptScalars)),
            color: note.color.name, tags: Array(note.tags),
            updated: Date(timeIntervalSince1970: (Double(note.updatedMilliseconds) / 1_000).rounded(.down)), pinned: note.isPinned)
    }
}

extension NoteSnapshot.Task {
    /// The open lines of check lists in a note, as Markdown has them (`- [ ] Milk`), but not in blocks of code.
    static func open(in note: Note) -> [NoteSnapshot.Task] {
        var tasks: [NoteSnapshot.Task] = []
        var fence: Character?
        for line in note.body.split(whereSeparator: \.isNewline) {
            var rest = line.drop { $0 == " " || $0 == "\t" }
            for mark in ["`", "~"] as [Character] where rest.hasPrefix(String(repeating: mark, count: 3)) {
                if fence == nil { fence = mark } else if fence == mark { fence = nil }
                rest = ""
            }
            if fence == nil, let task = open(rest) { tasks.append(.init(note: note.id, title: note.title, task: task)) }
        }
        return tasks
    }

    /// What an open line of a check list says, without its indentation.
    private static func open(_ line: Substring) -> String? {
        let digits = line.prefix { $0.isASCII && $0.isWholeNumber }
        let mark = line.dropFirst(digits.count).first
        guard digits.isEmpty ? ["-", "*", "+"].contains(mark) : digits.count < 10 && [".", ")"].contains(mark) else { return nil }
        let item = line.dropFirst(digits.count + 1)
        let box = item.drop { $0 == " " || $0 == "\t" }
        guard box.startIndex > item.startIndex, box.hasPrefix("[ ]") else { return nil }
        let rest = box.dropFirst(3)
        let task = rest.trimmingCharacters(in: .whitespaces)
        return rest.first?.isWhitespace == true && !task.isEmpty ? task : nil
    }
}
