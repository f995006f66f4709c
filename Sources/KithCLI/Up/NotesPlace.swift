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

/// Looks whether the file of the notes is still where it was opened: what is written into one that was deleted is nowhere afterwards.
struct NotesPlace: Sendable {
    private static let pauseMilliseconds = 2_000

    /// The file has been missing at two looks: one that is exchanged is missing for a moment.
    struct Gone: Error {}

    let file: URL
    let notes: NotesStore

    /// Returns when the task is cancelled.
    ///
    /// - Throws: ``Gone``.
    func keep() async throws {
        var isMissing = false
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            let wasMissing = isMissing
            isMissing = isGone
            if isMissing, wasMissing, !Task.isCancelled { throw Gone() }
        }
    }

    /// Not so where it cannot be looked at.
    private var isGone: Bool {
        var status = stat()
        return stat(file.path, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    /// Copies what the notes say beside their place, if that can be done. Whoever calls it has stopped all that writes.
    func rescue() -> CommandFailure {
        let copy = "\(file.path).rescued-\(Int(Date().timeIntervalSince1970))"
        // SQLite has the file open still.
        let isRescued: Void? = try? notes.copy(to: copy)
        let rest =
            isRescued == nil
            ? "Put them back, and start again." : "What they say is in \(copy). Move that back, or what is there, and start again."
        return CommandFailure(.data, "The notes in \(file.path) were moved or deleted meanwhile. \(rest)")
    }
}
