import Foundation
import HTTPTypes
import Hummingbird
import Kith
import KithNotes

/// Versions to choose between, the trash, the history of a text.
struct SheetRoutes: Sendable {
    let notes: NotesStore
    let limits: RequestLimits

    func add(to router: Router<BasicRequestContext>) {
        router.post("/api/conflict") { request, _ in
            let choice = try await request.decode(Choice.self, limits)
            let note = try await DiskWork.run { try choice.make(in: notes) }
            return try Response.json(["id": note.id.uuidString.lowercased()])
        }
        router.post("/api/trash/restore") { request, _ in
            let chosen = try await request.decode(ChosenNotes.self, limits)
            let ids = try chosen.checked
            try await DiskWork.run { _ = try notes.restore(ids) }
            return try Response.json(["restored": ids.count])
        }
        router.post("/api/trash/large") { request, _ in
            let answer = try await request.decode(LargeDeletionAnswer.self, limits)
            return try Response.json(["restored": try await DiskWork.run { try answer.give(to: notes) }])
        }
        router.post("/api/trash/empty") { request, _ in
            _ = try await request.decode(Nothing.self, limits)
            return try Response.json(["notes": try await DiskWork.run { try notes.emptyTrash() }])
        }
        router.get("/api/note/:id/at") { request, context in
            let id = try context.noteID()
            guard let version = TextVersion(request.word("version")) else {
                throw ErrorAnswer(.badRequest, "badRequest", "This is no version.")
            }
            return try Response.json(["text": try await DiskWork.run { try notes.body(of: id, at: version) }])
        }
        router.post("/api/day") { request, _ in
            let day = try await request.decode(Day.self, limits)
            let note = try await DiskWork.run { try notes.note(ofDay: day.day) }
            return try Response.json(["id": note.id.uuidString.lowercased()])
        }
    }
}

struct Nothing: Decodable {}

private struct Day: Decodable {
    let day: String
}

/// What somebody says of all that one machine deleted.
private struct LargeDeletionAnswer: Decodable {
    /// The id of the machine; empty if nobody knows whose the deletion was.
    let device: String
    let isMeant: Bool

    /// Returns how many notes came back.
    func give(to notes: NotesStore) throws -> Int {
        guard let deletion = try notes.massDeletions().first(where: { PageBuilder.device(of: $0) == device }) else {
            throw ErrorAnswer(.notFound, "notFound", "Nothing that this machine deleted waits for an answer.")
        }
        if !isMeant { return try notes.restoreAll(deletedBy: [deletion.author]).count }
        try notes.dismissMassDeletions(by: deletion.author)
        return 0
    }
}

private struct Choice: Decodable {
    let note: UUID
    /// The choice as the page showed it.
    let mark: String
    /// Which version; -1 for lines as they stand.
    let index: Int

    func make(in notes: NotesStore) throws -> Note {
        guard let current = try notes.note(note) else { throw try ErrorAnswer.noNote(note, in: notes) }
        guard let conflict = try notes.conflicts(of: current).first(where: { PageBuilder.mark(of: $0) == mark }) else {
            throw NotesError(.changedMeanwhile, "The versions changed in the meantime. Look at them again before you choose.")
        }
        return index < 0 ? try notes.keepMerged(conflict) : try notes.keep(index, of: conflict)
    }
}
