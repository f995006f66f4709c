import Foundation

/// A note, as a value: changing it changes nothing in the store.
public struct Note: Identifiable, Hashable, Sendable {
    /// A version-7 UUID, made when the note was added.
    public let id: UUID
    /// One line.
    public var title: String
    /// Any text, usually Markdown.
    public var body: String
    /// Its color, for people to tell notes apart.
    public var color: NoteColor
    /// Its tags, each once.
    public var tags: NoteTags
    /// When it was added, in milliseconds since 1970, by the clock of the machine that added it.
    public let createdMilliseconds: Int64
    /// When its title, body, color or tags last changed, likewise.
    public let updatedMilliseconds: Int64
    /// Whether it stands before all others.
    public let isPinned: Bool

    public init(
        id: UUID, title: String, body: String = "", color: NoteColor = .none, tags: NoteTags = [],
        createdMilliseconds: Int64, updatedMilliseconds: Int64, isPinned: Bool = false
    ) {
        self.id = id
        self.title = title
        self.body = body
        self.color = color
        self.tags = tags
        self.createdMilliseconds = createdMilliseconds
        self.updatedMilliseconds = updatedMilliseconds
        self.isPinned = isPinned
    }

    /// The fields of which `self` and `other` hold different values, compared byte by byte.
    public func fieldsThatDiffer(from other: Note) -> [NoteField] {
        NoteField.allCases.filter { field in
            switch field {
            // Swift's own equality takes two spellings of one accent for the same text.
            case .title: !title.utf8.elementsEqual(other.title.utf8)
            case .body: !body.utf8.elementsEqual(other.body.utf8)
            case .color: color != other.color
            case .tags: tags != other.tags
            }
        }
    }
}

/// A part of a note that people edit; the raw value is the name of its column.
public enum NoteField: String, CaseIterable, Codable, Hashable, Sendable {
    case title, body, color, tags
}
