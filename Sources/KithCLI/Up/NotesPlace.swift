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

    let file: URL
    let notes: NotesStore

    /// Returns when the task is cancelled.
    ///
    /// - Throws: ``CommandFailure`` once there has been no file at two looks: one that is exchanged is missing for a moment. What the notes
    ///   say is in a copy beside their place then, if they could be copied.
    func keep() async throws {
        var isMissing = false
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            let wasMissing = isMissing
            isMissing = isGone
            if isMissing, wasMissing, !Task.isCancelled { throw gone() }
        }
    }

    /// Not so where it cannot be looked at.
    private var isGone: Bool {
        var status = stat()
        return stat(file.path, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    private func gone() -> CommandFailure {
        let copy = "\(file.path).rescued-\(Int(Date().timeIntervalSince1970))"
        // SQLite has the file open still.
        let isRescued: Void? = try? notes.copy(to: copy)
        let rest =
            isRescued == nil
            ? "Put them back, and start again." : "What they say is in \(copy). Move that back, or what is there, and start again."
        return CommandFailure(.data, "The notes in \(file.path) were moved or deleted meanwhile, and nothing more is written. \(rest)")
    }
}
