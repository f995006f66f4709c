import Dispatch
import GRDB
import Kith
import Synchronization

/// Looks after merges what notes that came back have left behind.
///
/// Who deletes a note deletes its attachments. If another device changes the note at the same time, the note stays, and its attachments are to
/// stay with it. If a person restores what a device has deleted, this machine is not to warn of that deletion any more.
final class ReturnWatch: Sendable {
    private let observation = Mutex<CommitObservation?>(nil)
    private let isAwaited = Atomic(false)
    /// How long merges are gathered, in milliseconds: nine times as long as the last look took, if that is more.
    private let pause = Atomic(pauseMilliseconds)

    private static let pauseMilliseconds = 200

    /// Looks soon after each merge from now on.
    func begin(_ notes: NotesStore) {
        let new = notes.store.observeCommitNews { [weak self, weak notes] news in
            if case .own = news { return }
            self?.look(at: notes)
        }
        observation.withLock { $0 = new }
    }

    /// Looks no more, but for what was merged and waits.
    func end(_ notes: NotesStore) {
        observation.withLock { $0?.cancel() }
        if isAwaited.exchange(false, ordering: .acquiringAndReleasing) { Self.look(at: notes) }
    }

    private func look(at notes: NotesStore?) {
        if isAwaited.exchange(true, ordering: .acquiringAndReleasing) { return }
        let pause = DispatchTimeInterval.milliseconds(pause.load(ordering: .relaxed))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause) { [weak self, weak notes] in
            // What is merged from now on needs another look.
            guard let self, let notes, isAwaited.exchange(false, ordering: .acquiringAndReleasing) else { return }
            let took: Duration = ContinuousClock().measure { Self.look(at: notes) }
            let pause = Int(took / Duration.milliseconds(1)) * 9
            self.pause.store(max(Self.pauseMilliseconds, pause), ordering: .relaxed)
        }
    }

    /// What fails is tried again after the next merge.
    private static func look(at notes: NotesStore) {
        _ = try? notes.bringBackAttachments()
        try? notes.forgetMassDeletionsThatAreUndone()
    }
}

extension NotesStore {
    /// Brings back the attachments that a device has deleted together with their notes, where the notes are shown all the same. An attachment
    /// that a rule of the database does not let in stays in the trash.
    ///
    /// - Returns: how many.
    @discardableResult
    package func bringBackAttachments() throws(NotesError) -> Int {
        try NotesError.mapping {
            let (table, note) = (NotesSchema.attachmentTable, NotesSchema.table)
            if try store.leftBehind(table: table, by: "note", of: note).isEmpty { return 0 }
            return try database.write { db in
                try store.leftBehind(db, table: table, by: "note", of: note).count { id in
                    do {
                        try store.restore(db, table: table, id: id)
                        return true
                    } catch let error as StoreError where [.valueRejected, .notFound].contains(error.code) {
                        return false
                    }
                }
            }
        }
    }
}
