import Foundation
import Kith
import KithNotes

/// What happened in a folder.
enum FolderChange: Hashable, Sendable {
    case nothing
    /// These files were written, made, renamed or removed.
    case some(Set<FolderPath>)
    /// Whatever there is may have changed.
    case everything
    /// The same, and what happens from now on is not told.
    case unknown
}

/// What is left to be brought in step: everything at first, and after something failed; else what changed.
struct FolderAgenda {
    private var isEverything = true
    private var paths: Set<FolderPath> = []
    private var ids: Set<UUID> = []
    /// What the store knew when its notes were looked at last.
    private var known: VersionVector?

    mutating func add(_ change: FolderChange) {
        switch change {
        case .nothing: return
        case .some(let paths): self.paths.formUnion(paths)
        case .everything, .unknown: isEverything = true
        }
    }

    mutating func add(notes: Set<UUID>) { ids.formUnion(notes) }

    /// What the next pass looks at; `nil` if there is nothing to do.
    mutating func scope(_ notes: NotesStore) throws -> FolderScope? {
        if !isEverything, let known {
            let changes = try notes.changes(since: known)
            self.known = changes.vector
            ids.formUnion(changes.changed.map(\.id) + changes.deleted)
            isEverything = changes.hasMore
        }
        if isEverything {
            known = try notes.store.vector()
            return .everything
        }
        return paths.isEmpty && ids.isEmpty ? nil : .some(paths: paths, notes: ids)
    }

    mutating func done(_ report: FolderReport) {
        isEverything = false
        (paths, ids) = (report.pathsAgain, report.notesAgain)
    }

    /// A pass ended before its end.
    mutating func failed() {
        isEverything = true
    }
}
