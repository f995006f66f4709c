import Dispatch
import GRDB
import Kith
import Synchronization

/// Looks after merges what notes that came back have left behind: their attachments, which go with a note that is deleted, also where another
/// device has changed the note at the same time so that it stays; and the warning of a large deletion that somebody has taken back.
final class ReturnWatch: Sendable {
    private let observation = Mutex<CommitObservation?>(nil)
    private let isAwaited = Atomic(false)

    /// Several merges are looked at together.
    private static let pause = DispatchTimeInterval.milliseconds(200)

    /// Looks soon after each merge from now on.
    func begin(_ notes: NotesStore) {
        let new = notes.store.observeCommitNews { [weak self, weak notes] news in
            if case .own = news { return }
            self?.look(at: notes)
        }
        observation.withLock { $0 = new }
    }

    func end() { observation.withLock { $0?.cancel() } }

    private func look(at notes: NotesStore?) {
        if isAwaited.exchange(true, ordering: .acquiringAndReleasing) { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.pause) { [weak self, weak notes] in
            // What is merged from now on needs another look. What fails is tried again after it.
            self?.isAwaited.store(false, ordering: .releasing)
            _ = try? notes?.bringBackAttachments()
            try? notes?.forgetMassDeletionsThatAreUndone()
        }
    }
}

extension NotesStore {
    /// Brings back the attachments that another device has deleted together with their notes, where the notes are there all the same.
    ///
    /// - Returns: how many.
    @discardableResult
    package func bringBackAttachments() throws(NotesError) -> Int {
        try NotesError.mapping {
            let (table, note) = (NotesSchema.attachmentTable, NotesSchema.table)
            if try store.leftBehind(table: table, by: "note", of: note).isEmpty { return 0 }
            return try database.write { db in
                let left = try store.leftBehind(db, table: table, by: "note", of: note)
                for id in left { try store.restore(db, table: table, id: id) }
                return left.count
            }
        }
    }
}
