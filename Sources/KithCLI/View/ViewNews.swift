import Foundation
import Kith
import KithNotes
import Synchronization

/// Follows the notes for the full-screen view, beside the thread that waits for keys.
final class ViewNews: Sendable {
    /// What a search found, and the conflicts of all notes.
    struct List: Sendable {
        let search: String
        let notes: [Note]
        let conflicts: [NoteConflict]
    }

    /// More notes than a person scrolls through; a search finds the others.
    static let notesMax = 5_000
    /// Commits within this time are shown together.
    private static let pauseMilliseconds = 100

    private let notes: NotesStore
    private let waking: ViewWaking
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let news = Mutex<Result<List, any Error>?>(nil)

    init(_ notes: NotesStore, _ waking: ViewWaking) {
        self.notes = notes
        self.waking = waking
    }

    /// Looks for this from now on.
    func follow(_ search: String) {
        var query = NoteQuery(searching: search)
        query.readsBodies = false
        query.limit = Self.notesMax + 1
        let next = Task { [notes, query] in
            // Before the first answer, so that no commit falls between.
            let commits = notes.store.commits
            tell(search, query)
            for await _ in commits {
                // A decided conflict changes no note in the list.
                tell(search, query)
                try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            }
        }
        let former = task.withLock { task in
            defer { task = next }
            return task
        }
        former?.cancel()
    }

    /// What has become known since the last time; `nil` if nothing has.
    func take() throws -> List? {
        try news.withLock { news in
            defer { news = nil }
            return try news?.get()
        }
    }

    func stop() { task.withLock(\.self)?.cancel() }

    private func tell(_ search: String, _ query: NoteQuery) {
        let result = Result { List(search: search, notes: try notes.list(query), conflicts: try notes.conflicts()) }
        if Task.isCancelled { return }
        news.withLock { $0 = result }
        waking.wake()
    }
}
