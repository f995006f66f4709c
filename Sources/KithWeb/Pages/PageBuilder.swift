import Foundation
import Kith
import KithFiles
import KithNotes
import KithProgram

/// Makes the HTML of the page from notes.
struct PageBuilder: Sendable {
    /// Rows that a page brings along.
    static let firstRows = 60

    let notes: NotesStore
    let software: String
    let templates: Templates

    init(_ notes: NotesStore, _ configuration: PageConfiguration) throws {
        self.notes = notes
        software = configuration.software
        templates = try Templates()
    }

    /// A whole page with the list and what is shown beside it.
    func page(_ place: Place, main: String) throws -> String {
        let list = try notes.page(NoteQuery(), offset: 0, count: Self.firstRows)
        let values: [String: Any] = [
            "heading": place.heading, "place": place.name, "software": software, "rows": rows(list), "main": main, "total": list.total,
            "isEmpty": list.total == 0,
        ]
        return templates.render("page", values)
    }

    /// What is shown where no note is chosen.
    func empty() -> String { templates.render("empty", [:]) }

    func note(_ versioned: VersionedNote) throws -> String {
        let note = versioned.note
        let values: [String: Any] = [
            "id": note.id.uuidString.lowercased(), "title": note.title, "body": note.body, "rendered": rendered(note),
            "isPinned": note.isPinned, "tags": Array(note.tags).map { ["tag": $0] }, "updated": time(note.updatedMilliseconds),
            "colors": NoteColor.named.map { ["name": $0.name, "isChosen": $0.color == note.color] as [String: Any] },
        ]
        return templates.render("note", values)
    }

    /// The body as HTML, in which nothing is but what Markdown can say.
    func rendered(_ note: Note) -> String { MarkdownHTML.html(note.body) }

    func rows(_ page: NotePage) -> String {
        let rows = page.entries.enumerated().map { index, entry -> [String: Any] in
            let note = entry.note
            return [
                "id": note.id.uuidString.lowercased(), "title": Self.title(of: note), "place": page.offset + index + 1, "total": page.total,
                "excerpt": Self.line(note.body), "isPinned": note.isPinned, "tags": Array(note.tags).map { ["tag": $0] },
                "color": NoteColor.named.contains { $0.color == note.color } ? note.color.name : "none",
                "updated": time(note.updatedMilliseconds),
            ]
        }
        return templates.render("rows", ["entries": rows])
    }

    static func title(of note: Note) -> String { note.title.isEmpty ? "(no title)" : note.title }

    /// The beginning of a body in one line.
    private static func line(_ body: String) -> String {
        body.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    func time(_ milliseconds: Int64) -> [String: Any] {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        guard let text = TimeText(milliseconds: milliseconds) else { return ["iso": "", "ago": "", "local": ""] }
        return ["iso": text.iso8601, "ago": text.ago(nowMilliseconds: now), "local": text.local]
    }
}

/// What the main part of the page shows.
struct Place: Sendable {
    let name: String
    let heading: String

    static let notes = Place(name: "notes", heading: "Notes")
    static func note(_ note: Note) -> Place { Place(name: "note", heading: PageBuilder.title(of: note)) }
}
