import Foundation

/// What a synchronisation of a folder did.
package struct FolderReport: Hashable, Sendable {
    /// A file that is left as it is, and why.
    package struct LeftFile: Hashable, Sendable {
        package let path: String
        package let words: String
    }

    /// Changes of files that became changes of notes.
    package internal(set) var read = 0
    /// Files that became notes.
    package internal(set) var added = 0
    /// Notes that went to the trash since their files are gone.
    package internal(set) var deleted = 0
    /// Files that were written, made or renamed.
    package internal(set) var written = 0
    /// Files that were removed since their notes are gone.
    package internal(set) var removed = 0
    /// Files that cannot be understood, or written.
    package internal(set) var left: [LeftFile] = []
    /// Files that are neither notes nor in the folder of attachments, which stay on this machine; known only after all was looked at.
    package internal(set) var others = 0
    /// Files that are gone, of which the notes were kept: more than are deleted without asking.
    package internal(set) var held = 0

    /// Files that a program is writing right now, or that are missing since a moment ago, and notes that wait for them: the next pass is to
    /// look at them again.
    var pathsAgain: Set<FolderPath> = []
    var notesAgain: Set<UUID> = []
    /// How many these are.
    package var busy: Int { pathsAgain.count + notesAgain.count }

    /// Notes with attachments of which the bytes are not here yet, or with files that programs have open for long.
    var awaited: Set<UUID> = []
    /// Notes whose files are left.
    var notesLeft: Set<UUID> = []

    /// Takes over what was done after all this.
    mutating func add(_ later: FolderReport) {
        read += later.read
        added += later.added
        deleted += later.deleted
        written += later.written
        removed += later.removed
        (left, held, awaited, notesLeft, others) = (later.left, later.held, later.awaited, later.notesLeft, later.others)
        (pathsAgain, notesAgain) = (later.pathsAgain, later.notesAgain)
    }

    /// Whether the folder and the notes were the same already, and nothing had to be done.
    package var isQuiet: Bool { read + added + deleted + written + removed == 0 }
}
