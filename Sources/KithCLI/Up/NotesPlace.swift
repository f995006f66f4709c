import Foundation
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// Swift takes what the C library declares of files for a part of a module that reads its headers first, and asks for that one by name.
#if canImport(CoreFoundation)
import CoreFoundation
#endif

/// Looks whether the file of the notes is still where it was opened: what is written into one that was deleted, or for which another one was
/// put there, is nowhere afterwards.
struct NotesPlace: Sendable {
    private static let pauseMilliseconds = 2_000

    /// The file was not there at two looks: some programs take one away for a moment.
    struct Gone: Error {}

    let file: URL
    let notes: NotesStore

    /// Returns when the task is cancelled.
    ///
    /// - Throws: ``Gone``.
    func keep() async throws {
        // A file system that gives a file another number each time does not tell.
        let tells = await !notes.haveMoved
        var isMissing = false
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            let wasMissing = isMissing
            isMissing = await isGone(tells)
            if isMissing, wasMissing, !Task.isCancelled { throw Gone() }
        }
    }

    /// - Parameter tells: whether the file system tells one file from another.
    private func isGone(_ tells: Bool) async -> Bool {
        guard let isThere else { return false }
        if !isThere { return true }
        return tells ? await notes.haveMoved : false
    }

    /// Whether some file is there; `nil` where it cannot be looked at.
    private var isThere: Bool? {
        var status = stat()
        if stat(file.path, &status) == 0 { return true }
        return [ENOENT, ENOTDIR].contains(errno) ? false : nil
    }

    /// Copies what the notes say beside their place, if that can be done. Whoever calls it has stopped all that writes.
    func rescue() -> CommandFailure {
        let copy = "\(file.path).rescued-\(Int(Date().timeIntervalSince1970))"
        // SQLite has the file open still.
        let isRescued: Void? = try? notes.copy(to: copy)
        let place = isThere == true ? "Others are there now. " : ""
        let rest =
            isRescued == nil ? "Put them back, and start again." : "What they say is in \(copy). Put what is right there, and start again."
        return CommandFailure(.data, "The notes in \(file.path) were moved, deleted or exchanged meanwhile. \(place)\(rest)")
    }
}
