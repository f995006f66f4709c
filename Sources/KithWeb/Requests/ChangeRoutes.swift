import Foundation
import HTTPTypes
import Hummingbird
import Kith
import KithNotes

/// What the scripts of the page change, all as JSON.
struct ChangeRoutes: Sendable {
    let notes: NotesStore
    let limits: RequestLimits

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/note/:id") { _, context in
            let id = try context.noteID()
            return try Response.json(try await DiskWork.run { try NoteAnswer(of: id, in: notes) })
        }
        router.post("/api/note") { request, _ in
            let change = try await request.decode(NewNote.self, limits)
            let note = try await DiskWork.run { try change.add(to: notes) }
            return try Response.json(["id": note.id.uuidString.lowercased()])
        }
        router.post("/api/note/:id/body") { request, context in
            let id = try context.noteID()
            let change = try await request.decode(NewBody.self, limits)
            guard let base = TextVersion(change.base) else { throw ErrorAnswer(.badRequest, "badRequest", "This is no version.") }
            let answer = try await DiskWork.run {
                try NoteAnswer(try notes.saveVersioned(change.text, of: id, base: base, key: change.key), in: notes)
            }
            return try Response.json(answer)
        }
        router.post("/api/note/:id/fields") { request, context in
            let id = try context.noteID()
            let change = try await request.decode(NewFields.self, limits)
            let answer = try await DiskWork.run {
                try notes.edit(id, isStep: !change.isTitleAlone) { try change.apply(to: &$0) }
                if let isPinned = change.isPinned { try notes.pin([id], isPinned) }
                return try NoteAnswer(of: id, in: notes)
            }
            return try Response.json(answer)
        }
        router.post("/api/notes/change") { request, _ in
            let change = try await request.decode(ChosenChange.self, limits)
            let count = try await DiskWork.run { try change.make(in: notes) }
            return try Response.json(["changed": count])
        }
        router.post("/api/notes/move") { request, _ in
            let change = try await request.decode(NewPlace.self, limits)
            return try Response.json(MoveAnswer(try await DiskWork.run { try notes.shift(try change.notes.checked, try change.shift) }))
        }
        router.post("/api/notes/delete") { request, _ in
            let change = try await request.decode(ChosenNotes.self, limits)
            let ids = try change.checked
            let count = try await DiskWork.run { try notes.delete(ids) }
            return try Response.json(["deleted": count])
        }
    }
}

extension ErrorAnswer {
    /// What is said of a note that is not there: a page that is open may have asked another Kith before, at the same address.
    static func noNote(_ id: UUID, in notes: NotesStore) throws -> ErrorAnswer {
        if try notes.knows(id) { return ErrorAnswer(.notFound, "notFound", "This note was deleted.") }
        return ErrorAnswer(
            .notFound, "unknownNote",
            "There is no such note here. It was deleted long ago, or belongs to another Kith that had this address.")
    }
}

/// A note as the scripts get it.
struct NoteAnswer: Encodable {
    let id: String
    let title: String
    let text: String
    let version: String
    let color: String
    let tags: [String]
    let isPinned: Bool
    /// Whether several versions of it are kept, of which one is to be chosen.
    let isContested: Bool

    /// - Throws: an ``ErrorAnswer`` if the note is not there.
    init(of id: UUID, in notes: NotesStore) throws {
        guard let note = try notes.versionedNote(id) else { throw try ErrorAnswer.noNote(id, in: notes) }
        try self.init(note, in: notes)
    }

    init(_ versioned: VersionedNote, in notes: NotesStore) throws {
        let note = versioned.note
        (id, title, text, version) = (note.id.uuidString.lowercased(), note.title, note.body, versioned.version.description)
        (color, tags, isPinned) = (note.color.name, Array(note.tags), note.isPinned)
        isContested = try !notes.conflicts(of: note).isEmpty
    }
}

private struct NewNote: Decodable {
    let title: String
    let body: String?
    /// Under which the page may ask for it again, if it has heard no answer.
    let id: UUID?

    func add(to notes: NotesStore) throws -> Note {
        let body = body ?? ""
        return try id.map { try notes.add(once: $0, title: title, body: body) } ?? notes.add(title: title, body: body)
    }
}

private struct NewBody: Decodable {
    let text: String
    /// The version that the page began with.
    let base: String
    /// Names the save, for a page that gets no answer and sends it again.
    let key: UUID?
}

struct ChosenNotes: Decodable {
    /// Most notes for one action.
    static let countMax = 10_000

    let ids: [UUID]

    /// The notes, if they are not too many.
    var checked: [UUID] {
        get throws {
            if ids.count <= Self.countMax { return ids }
            throw ErrorAnswer(.badRequest, "badRequest", "More than \(Self.countMax) notes are too many at once.")
        }
    }
}

/// Where notes are to stand in the order by hand: one of the four.
private struct NewPlace: Decodable {
    let ids: [UUID]
    let before: UUID?
    let after: UUID?
    /// `first` or `last` of all.
    let end: String?
    /// `up` or `down`, by one note.
    let step: String?

    var notes: ChosenNotes { ChosenNotes(ids: ids) }

    var shift: NoteShift {
        get throws {
            switch (before, after, end, step) {
            case (let note?, nil, nil, nil): .to(.before(note))
            case (nil, let note?, nil, nil): .to(.after(note))
            case (nil, nil, "first", nil): .to(.first)
            case (nil, nil, "last", nil): .to(.last)
            case (nil, nil, nil, "up"): .up
            case (nil, nil, nil, "down"): .down
            default: throw ErrorAnswer(.badRequest, "badRequest", "This is no place in the list.")
            }
        }
    }
}

private struct MoveAnswer: Encodable {
    let moved: Int
    let place: Int
    let total: Int

    init(_ shifted: ShiftedNotes) { (moved, place, total) = (shifted.count, shifted.place, shifted.total) }
}

/// One thing that is done to several notes.
private struct ChosenChange: Decodable {
    let ids: [UUID]
    let color: String?
    let addTags: [String]?
    let removeTags: [String]?
    let isPinned: Bool?

    func make(in notes: NotesStore) throws -> Int {
        let ids = try ChosenNotes(ids: ids).checked
        let pinned = try isPinned.map { try notes.pin(ids, $0) }
        let fields = NewFields(title: nil, color: color, addTags: addTags, removeTags: removeTags, isPinned: nil)
        if color == nil, addTags == nil, removeTags == nil { return pinned ?? 0 }
        return try notes.edit(ids) { try fields.apply(to: &$0) }
    }
}

private struct NewFields: Decodable {
    struct Title: Decodable {
        let value: String
        /// What the page showed before.
        let base: String
    }

    let title: Title?
    let color: String?
    let addTags: [String]?
    let removeTags: [String]?
    let isPinned: Bool?

    /// The page saves titles, as texts, while they are typed.
    var isTitleAlone: Bool { title != nil && color == nil && addTags == nil && removeTags == nil }

    func apply(to note: inout Note) throws {
        if let title, !note.title.utf8.elementsEqual(title.value.utf8) {
            guard note.title.utf8.elementsEqual(title.base.utf8) else {
                throw NotesError(.changedMeanwhile, "The title was changed elsewhere: \(note.title)")
            }
            note.title = title.value
        }
        if let color {
            guard let color = NoteColor(named: color) else { throw NotesError(.valueRejected, "There is no such color.") }
            note.color = color
        }
        for tag in addTags ?? [] { note.tags.insert(tag) }
        for tag in removeTags ?? [] { note.tags.remove(tag) }
    }
}
