import Foundation
import Kith
import KithNotes
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Keeps all folders of a store in step while it runs: a save is in the notes some tenths of a second later, and what changes in the
/// notes in the files.
package final class FolderKeeper: Sendable {
    /// A folder that is not there, or cannot be written, is tried again after so long.
    private static let retryMilliseconds: Int64 = 3_000
    /// How often it is looked which folders there are, and whether what is missing has come.
    private static let listMilliseconds: Int64 = 2_000

    private let notes: NotesStore
    private let options: NotesFolder.Options
    private let say: @Sendable (String) -> Void
    private let isStopped = Mutex(false)
    private let wake = WakePipe()

    /// - Parameter say: told what a person should know, once each.
    package convenience init(_ notes: NotesStore, say: @escaping @Sendable (String) -> Void) {
        self.init(notes, NotesFolder.Options(), say: say)
    }

    init(_ notes: NotesStore, _ options: NotesFolder.Options, say: @escaping @Sendable (String) -> Void) {
        (self.notes, self.options, self.say) = (notes, options, say)
    }

    /// Runs until the task is cancelled.
    package func run() async {
        let commits = notes.store.observeCommits { [wake] in wake.ring() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Files are read and written on a thread of its own, so that no other task waits for a disk.
                Thread.detachNewThread { [self] in
                    loop()
                    continuation.resume()
                }
            }
        } onCancel: {
            isStopped.withLock { $0 = true }
            wake.ring()
        }
        commits.cancel()
    }

    /// A folder that is kept in step.
    private struct Kept {
        let folder: NotesFolder
        var events: any FolderEvents
        var agenda = FolderAgenda()
        /// Nothing is done before.
        var due: Int64 = 0
        /// What was said last.
        var said = ""
        /// Notes with attachments of which the bytes are to come.
        var awaited: Set<UUID> = []
        /// Notes whose files are left, and when they are looked at again.
        var left: Set<UUID> = []
        var leftDue: Int64 = 0
        /// Whether it is looked for anew.
        var isGone = false
    }

    private func loop() {
        var kept: [Kept] = []
        var listed: Int64 = .min
        while !isStopped.withLock({ $0 }) {
            let now = options.nowMilliseconds()
            if listed == .min || now - listed >= Self.listMilliseconds || now < listed {
                listed = now
                refresh(&kept)
            }
            for index in kept.indices { step(&kept[index], now) }
            let next = kept.map(\.due).filter { $0 > now }.min() ?? .max
            wake.wait(for: kept.compactMap(\.events.descriptor), min(next, listed + Self.listMilliseconds) - options.nowMilliseconds())
        }
    }

    private func refresh(_ kept: inout [Kept]) {
        guard let folders = try? NotesFolder.all(of: notes) else { return }
        kept.removeAll { $0.isGone || !folders.contains($0.folder) }
        let now = options.nowMilliseconds()
        for index in kept.indices {
            kept[index].agenda.add(notes: kept[index].awaited)
            let isDue = now >= kept[index].leftDue || kept[index].leftDue - now > options.leftMilliseconds
            if isDue { kept[index].agenda.add(notes: kept[index].left) }
        }
        for folder in folders where !kept.contains(where: { $0.folder == folder }) && folder.isHere {
            kept.append(Kept(folder: folder, events: events(of: folder)))
        }
    }

    private func events(of folder: NotesFolder) -> any FolderEvents {
        #if os(Linux)
        if let events = InotifyEvents(folder.path, foldersMax: options.watchedMax) { return events }
        #endif
        return polledEvents(of: folder)
    }

    private func polledEvents(of folder: NotesFolder) -> any FolderEvents {
        #if os(Linux)
        say("The system does not watch \(folder.path); it is looked at every \(PolledEvents.pauseMilliseconds / 1_000) seconds instead.")
        #endif
        return PolledEvents(now: options.nowMilliseconds)
    }

    private func step(_ kept: inout Kept, _ now: Int64) {
        let change = kept.events.take()
        kept.agenda.add(change)
        if case .unknown = change { kept.events = polledEvents(of: kept.folder) }
        if kept.isGone || kept.due > now, kept.due - now <= Self.retryMilliseconds { return }
        kept.due = 0
        do {
            guard let scope = try kept.agenda.scope(notes) else { return }
            let report = try kept.folder.pass(notes, options, scope, kept.events.readers)
            kept.agenda.done(report)
            switch scope {
            case .everything: (kept.awaited, kept.left) = (report.awaited, report.notesLeft)
            case .some(_, let notes):
                kept.awaited = kept.awaited.subtracting(notes).union(report.awaited)
                kept.left = kept.left.subtracting(notes).union(report.notesLeft)
            }
            kept.leftDue = options.nowMilliseconds() + options.leftMilliseconds
            if report.busy > 0 { kept.due = options.nowMilliseconds() + options.quietMilliseconds }
            tell(report.sentence.map { "\(kept.folder.path): \($0)" } ?? "", &kept)
        } catch {
            kept.agenda.failed()
            // What comes back in its place is not what was watched.
            kept.isGone = !kept.folder.isHere
            kept.due = options.nowMilliseconds() + Self.retryMilliseconds
            tell((error as? FilesError)?.message ?? (error as? NotesError)?.message ?? "\(error)", &kept)
        }
    }

    private func tell(_ words: String, _ kept: inout Kept) {
        if words == kept.said { return }
        kept.said = words
        if !words.isEmpty { say(words) }
    }
}

extension FolderReport {
    /// What a person is to look at; `nil` if nothing is.
    fileprivate var sentence: String? {
        if held > 0 {
            let gone = held == 1 ? "1 file is gone, and its note was kept" : "\(held) files are gone, and their notes were kept"
            return "\(gone). Say what is to become of \(held == 1 ? "it" : "them"): kith folder sync --help"
        }
        guard let first = left.first else { return nil }
        return "\(first.path) was left as it is: \(first.words)\(left.count > 1 ? " (\(left.count) such files: kith folder list)" : "")"
    }
}

/// Ends a wait from another thread.
private final class WakePipe: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var pair: [Int32] = [-1, -1]
        _ = pipe(&pair)
        for end in pair where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        ends = (pair[0], pair[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func ring() {
        var byte: UInt8 = 1
        // If it is full it rings already.
        _ = write(ends.write, &byte, 1)
    }

    /// Until it rings, something happens in a folder, or so much time has passed.
    func wait(for others: [Int32], _ milliseconds: Int64) {
        var polled = ([ends.read] + others).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&polled, nfds_t(polled.count), Int32(clamping: max(0, milliseconds)))
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(ends.read, &bytes, bytes.count) > 0 {}
    }
}
