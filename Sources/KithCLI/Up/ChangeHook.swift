import Foundation
import Kith
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Runs a person's command after notes have changed, and gives it what changed as JSON on standard input.
struct ChangeHook: Sendable {
    /// Commits within this time are told together.
    private static let pauseMilliseconds = 200

    let command: String
    let notes: NotesStore
    /// Says what went wrong.
    let say: @Sendable (String) -> Void

    /// What the command is told.
    fileprivate struct News: Encodable {
        struct Changed: Encodable {
            let id: String
            let title: String
            let color: String
            let tags: [String]
            let updated: String?
        }

        let changed: [Changed]
        let deleted: [String]
        /// Whether some of it was written on other machines.
        let fromOthers: Bool
        /// Whether there is more than this.
        let more: Bool
    }

    /// Runs until the task is cancelled. One command runs at a time; the next one is told what changed while it ran.
    ///
    /// - Parameter start: what the store knew when the node began.
    func run(since start: VersionVector) async {
        var known = start
        let commits = notes.store.commits
        // What was committed since the start, and before anybody listened, has its turn at once.
        await tell(since: &known)
        for await _ in commits {
            try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
            if Task.isCancelled { return }
            await tell(since: &known)
        }
    }

    private func tell(since known: inout VersionVector) async {
        do {
            let changes = try notes.changes(since: known)
            known = changes.hasMore ? try notes.store.vector() : changes.vector
            if changes.changed.isEmpty, changes.deleted.isEmpty { return }
            let status = try await call(with: News(changes))
            if status != 0, !Task.isCancelled { say("The command of --on-change ended with status \(status).") }
        } catch {
            say("The command of --on-change could not be run: \(CommandFailure(error)?.message ?? "\(error)")")
        }
    }

    /// - Returns: its exit status, or 128 and the signal that ended it.
    private func call(with news: News) async throws -> Int32 {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A file, so that the node does not wait for a command that reads nothing.
        let file = FileManager.default.temporaryDirectory.appending(path: "kith-change-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: file.path, contents: try encoder.encode(news), attributes: [.posixPermissions: 0o600])
        else { throw CommandFailure(.cannotCreate, "\(file.path) cannot be written. Set TMPDIR.") }
        let input = try FileHandle(forReadingFrom: file)
        try? FileManager.default.removeItem(at: file)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = input
        // Standard output is the status of the node.
        process.standardOutput = FileHandle.standardError
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { process in
                    let isExit = process.terminationReason == .exit
                    continuation.resume(returning: isExit ? process.terminationStatus : 128 + process.terminationStatus)
                }
                do {
                    try process.run()
                    // Cancelled before there was something to end.
                    if Task.isCancelled { Self.end(process) }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            if process.isRunning { Self.end(process) }
        }
    }

    /// Ends the shell with all that it has started, if these are a group of their own.
    private static func end(_ process: Process) {
        let id = process.processIdentifier
        if getpgid(id) == id { kill(-id, SIGTERM) } else { process.terminate() }
    }
}

extension ChangeHook.News {
    fileprivate init(_ changes: NoteChanges) {
        self.init(
            changed: changes.changed.map { note in
                let record = NoteRecord(note)
                return Changed(id: record.id, title: record.title, color: record.color, tags: record.tags, updated: record.updated)
            },
            deleted: changes.deleted.map { $0.uuidString.lowercased() }, fromOthers: changes.isFromOthers, more: changes.hasMore)
    }
}
