import Foundation
import Kith
import KithNotes
import KithReport

/// Tells the person in front of `kith up` of conflicts and of large deletions by other machines: those that wait when it starts, and each
/// new one, with a bell on a terminal.
struct ConflictWatch: Sendable {
    /// Commits within this time are looked at together.
    private static let pauseMilliseconds = 500

    private let notes: NotesStore
    private let display: StatusDisplay
    private let names: @Sendable () -> DeviceNames

    init(_ notes: NotesStore, _ display: StatusDisplay, names: @escaping @Sendable () -> DeviceNames) {
        self.notes = notes
        self.display = display
        self.names = names
    }

    /// Runs until the task is cancelled.
    func run() async {
        let commits = notes.store.commits
        // What cannot be read now is read after the next commit.
        var known = (try? notes.conflicts()) ?? []
        if let sentence = NoteConflict.line(ofCount: known.count) { display.show(line: sentence) }
        var massive: Set<String> = []
        warn(of: &massive)
        for await _ in commits {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            warn(of: &massive)
            guard !Task.isCancelled, let conflicts = try? notes.conflicts() else { continue }
            let new = conflicts.filter { conflict in
                !known.contains {
                    $0.noteID == conflict.noteID && $0.field == conflict.field && $0.versions.count >= conflict.versions.count
                        && $0.lines == conflict.lines
                }
            }
            for conflict in new.prefix(Self.linesMax) { display.show(line: conflict.sentence(names())) }
            if new.count > Self.linesMax, let sentence = NoteConflict.line(ofCount: conflicts.count) { display.show(line: sentence) }
            if !new.isEmpty { display.ring() }
            known = conflicts
        }
    }

    /// Tells of large deletions by devices of which it was not told yet.
    private func warn(of known: inout Set<String>) {
        guard let all = try? notes.massDeletions() else { return }
        let names = names()
        let new = all.filter { known.insert("\($0.author)").inserted }
        for deletion in new { display.show(line: deletion.warning(names)) }
        if !new.isEmpty { display.ring() }
        known.formIntersection(all.map { "\($0.author)" })
    }

    /// More than these at once are counted.
    private static let linesMax = 3
}
