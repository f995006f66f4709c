import Foundation
import KithCausality
import KithNotes
import KithStore
import Synchronization
import TestSupport
import Testing

@testable import KithFiles

/// A machine with notes and a folder that is kept in step with them. Its time and its ids follow from a seed.
final class FolderMachine {
    let notes: NotesStore
    let folder: NotesFolder
    let clock: HandClock
    var options = NotesFolder.Options()

    init(_ place: TemporaryFolder, _ name: String, clock: HandClock = HandClock(), seed: UInt64 = 1) throws {
        self.clock = clock
        let ids = SeededIDs(seed: seed)
        var settings = NotesStore.Options()
        settings.readsWhileWriting = false
        settings.nowMilliseconds = { clock.milliseconds }
        settings.makeID = { ids.make($0) }
        settings.storeOptions = KithStore.Options(
            clock: { HybridTimestamp(milliseconds: clock.milliseconds) }, makeReplicaID: { ids.makeReplica() })
        settings.storeOptions.watchesFile = false
        notes = try NotesStore.open(place.url.appending(path: "\(name)-store/notes.sqlite"), options: settings)
        folder = try NotesFolder.add(place.path("\(name)-folder"), to: notes)
        options.nowMilliseconds = { clock.milliseconds }
        options.wait = { clock.advance($0) }
        options.makeID = { ids.make($0) }
    }

    @discardableResult
    func sync() throws -> FolderReport { try folder.sync(notes, options: options) }

    /// One pass, which leaves alone what somebody is writing.
    @discardableResult
    func pass() throws -> FolderReport { try folder.pass(notes, options) }

    /// Takes over what another machine knows.
    func pull(_ other: FolderMachine) throws {
        _ = try notes.store.apply(other.notes.store.delta(since: notes.store.vector()))
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    func read(_ name: String) throws -> String { String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self) }

    /// The files of notes, by name.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted()
    }

    /// Ways in which editors save.
    enum Editor: CaseIterable {
        /// Into the file that is there.
        case inPlace
        /// A new file in the place of the old one.
        case rename
        /// The old file is moved aside, a new one written, the old one removed: vim's way.
        case backup
        /// The file is emptied, then written: VS Code's way.
        case truncate
    }

    func save(_ text: String, as name: String, with editor: Editor = .inPlace) throws {
        let file = path(name)
        switch editor {
        case .inPlace, .truncate:
            let descriptor = open(file, O_WRONLY | O_CREAT | (editor == .truncate ? O_TRUNC : 0), 0o644)
            try #require(descriptor >= 0)
            let bytes = Array(text.utf8)
            #expect(write(descriptor, bytes, bytes.count) == bytes.count)
            ftruncate(descriptor, off_t(bytes.count))
            close(descriptor)
        case .rename: try Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
        case .backup:
            let old = file + "~"
            rename(file, old)
            try Data(text.utf8).write(to: URL(filePath: file))
            unlink(old)
        }
        clock.stamp(file)
    }

    /// What each file says, by id.
    func contents() throws -> [UUID: [String]] {
        var contents: [UUID: [String]] = [:]
        for name in try files() {
            let content = try FolderContent([UInt8](Data(contentsOf: URL(filePath: path(name)))), path: name)
            let id = try #require(content.id, "\(name)")
            #expect(contents[id] == nil, "\(name) is a second file of its note")
            contents[id] = [content.title, content.body, content.tags.joined(separator: " "), content.color.name]
        }
        return contents
    }

    /// The same of the notes.
    func noteContents() throws -> [UUID: [String]] {
        var contents: [UUID: [String]] = [:]
        for note in try notes.list() {
            contents[note.id] = [note.title, note.body, Array(note.tags).joined(separator: " "), note.color.name]
        }
        return contents
    }
}

/// A clock that stands until somebody moves it. Files are given its time, so that nothing depends on another.
final class HandClock: Sendable {
    private let now = Mutex<Int64>(1_767_225_600_000)

    var milliseconds: Int64 { now.withLock { $0 } }

    func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }

    /// Says that the file was written now.
    func stamp(_ file: String) {
        let now = milliseconds
        let time = timespec(tv_sec: Int(now / 1_000), tv_nsec: Int(now % 1_000) * 1_000_000)
        _ = utimensat(AT_FDCWD, file, [time, time], AT_SYMLINK_NOFOLLOW)
    }
}

/// Ids that follow from a seed.
final class SeededIDs: Sendable {
    private let random: Mutex<SplitMix64>

    init(seed: UInt64) {
        random = Mutex(SplitMix64(seed: seed))
    }

    func make(_ milliseconds: Int64) -> UUID { random.withLock { UUID.version7(milliseconds: milliseconds, using: &$0) } }

    func makeReplica() -> ReplicaID { random.withLock { ReplicaID.random(using: &$0) } }
}
