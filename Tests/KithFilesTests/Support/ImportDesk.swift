import KithNotes

@testable import KithFiles

/// A folder in which a test puts what it imports, with notes of its own.
struct ImportDesk {
    let folder: TemporaryFolder
    let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try folder.notes()
    }

    func run(_ name: String) throws -> ImportReport { try NoteImport.run(folder.path(name), into: notes) }
}
