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
    let configuration: PageConfiguration
    let templates: Templates

    init(_ notes: NotesStore, _ configuration: PageConfiguration) throws {
        self.notes = notes
        self.configuration = configuration
        templates = try Templates()
    }

    /// A whole page with the list, in this order, and what is shown beside it.
    func page(_ place: Place, _ order: NoteQuery.Order, main: String) throws -> String {
        var query = NoteQuery()
        query.order = order
        let list = try notes.page(query, offset: 0, count: Self.firstRows)
        let count = try notes.conflicts().count
        let values: [String: Any] = [
            "heading": place.heading, "place": place.name, "software": configuration.software, "rows": rows(list), "main": main,
            "total": list.total, "isByHand": order == .hand,
            "conflicts": count, "hasConflicts": count > 0, "colors": NoteColor.named.map { ["name": $0.name] },
        ]
        return templates.render("page", values)
    }

    /// What is shown where no note is chosen, or what was asked for is not there.
    func empty(heading: String = "Your notes") -> String { templates.render("empty", ["heading": heading]) }

    func note(_ versioned: VersionedNote) throws -> String {
        let note = versioned.note
        let values: [String: Any] = [
            "id": note.id.uuidString.lowercased(), "title": note.title, "body": note.body, "reading": try reading(of: versioned),
            "isContested": try !notes.conflicts(of: note).isEmpty,
            "isPinned": note.isPinned, "tags": Array(note.tags).map { ["tag": $0] }, "updated": time(note.updatedMilliseconds),
            "colors": NoteColor.named.map { ["name": $0.name, "isChosen": $0.color == note.color] as [String: Any] },
        ]
        return templates.render("note", values)
    }

    /// The note as it reads: its text, its attachments, and the notes that link to it.
    func reading(of versioned: VersionedNote) throws -> String {
        let note = versioned.note
        let attachments = try notes.attachments(of: note.id)
        let links = try notes.notes(linkingTo: note)
        let files = attachments.map { attachment -> [String: Any] in
            var isHere = false
            if case .present = attachment.state { isHere = true }
            return [
                "id": attachment.id.uuidString.lowercased(), "name": attachment.name, "size": ByteText.text(attachment.sizeBytes),
                "isHere": isHere, "state": "on its way, \(Int(attachment.fractionReceived * 100)) %",
            ]
        }
        let safe = try safety(of: note, attachments)
        let (text, isCut) = NoteReading.beginning(of: note.body)
        return templates.render(
            "reading",
            [
                "safety": safe ?? "", "hasSafety": safe != nil,
                "html": NoteReading(notes: notes, attachments: attachments).html(text), "isCut": isCut,
                "version": versioned.version.description,
                "attachments": files, "hasAttachments": !files.isEmpty, "hasLinks": !links.isEmpty,
                "links": links.map { ["id": $0.id.uuidString.lowercased(), "title": Self.title(of: $0)] },
            ])
    }

    /// Which other machines have the note as it is now, in the words of `kith note show`; `nil` if none is trusted.
    func safety(of note: Note, _ attachments: [NoteAttachment]) throws -> String? {
        // Notes are shown whatever is wrong with the key or the list.
        guard let devices = try? configuration.trust().devices, !devices.isEmpty else { return nil }
        return try notes.safety(of: note.id, among: devices)
            .label(rows: "Text") { loose in attachments.first { $0.content?.description == loose.id }?.name }
    }

    func rows(_ page: NotePage) -> String {
        // Without them the list is shown all the same.
        let contested = Set((try? notes.conflicts().map(\.noteID)) ?? [])
        let rows = page.entries.enumerated().map { index, entry -> [String: Any] in
            let note = entry.note
            return [
                "id": note.id.uuidString.lowercased(), "title": Self.title(of: note), "place": page.offset + index + 1, "total": page.total,
                "excerpt": Self.excerpt(of: entry), "isPinned": note.isPinned, "tags": Array(note.tags).map { ["tag": $0] },
                "color": NoteColor.named.contains { $0.color == note.color } ? note.color.name : "none",
                "isContested": contested.contains(note.id), "updated": time(note.updatedMilliseconds),
            ]
        }
        return templates.render("rows", ["entries": rows])
    }

    static func title(of note: Note) -> String { title(note.title) }

    static func title(_ title: String) -> String { title.isEmpty ? "(no title)" : beginning(of: title, NoteLimits.titleBytesMax) }

    /// A text, or so many characters of it: another machine may have written any length.
    static func beginning(of text: String, _ scalarsMax: Int) -> String {
        if text.utf8.count <= scalarsMax { return text }
        let count = text.unicodeScalars.count
        return count <= scalarsMax
            ? text : String(text.unicodeScalars.prefix(scalarsMax)) + "\u{2026} (\(count - scalarsMax) more characters)"
    }

    /// What was found in the body, or its beginning.
    private static func excerpt(of entry: NotePage.Entry) -> [[String: Any]] {
        let pieces = entry.snippet?.pieces ?? []
        if pieces.isEmpty { return [["text": line(entry.note.body), "isMarked": false]] }
        return pieces.map { ["text": $0.text, "isMarked": $0.isMarked] }
    }

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
    static let conflicts = Place(name: "conflicts", heading: "Choices")
    static let trash = Place(name: "trash", heading: "Trash")
    static let devices = Place(name: "devices", heading: "Devices")
    static let history = Place(name: "history", heading: "History")
    static func note(_ note: Note) -> Place { Place(name: "note", heading: PageBuilder.title(of: note)) }
}
