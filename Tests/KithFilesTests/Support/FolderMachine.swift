import Foundation
import GRDB
import KithCausality
import KithNotes
import KithStore
import Synchronization
import TestSupport
import Testing

@testable import KithFiles

// Swift takes what the C library declares of files for a part of a module that reads its headers first, and asks for that one by name.
#if canImport(CoreFoundation)
import CoreFoundation
#endif

/// A machine with notes and a folder that is kept in step with them. Its time and its ids follow from a seed.
final class FolderMachine {
    let notes: NotesStore
    let folder: NotesFolder
    let clock: HandClock
    var options = NotesFolder.Options()
    /// What the next pass looks at: what the system would have told.
    private var agenda = FolderAgenda()
    let writers = SlowWriters()
    /// Knows in ``pass(ofEverything:)`` what was read, from the moment that it is made.
    private(set) var readers: (any FileReaders)?

    init(
        _ place: TemporaryFolder, _ name: String, clock: HandClock = HandClock(), seed: UInt64 = 1, tag: String? = nil,
        tagsFolders: Bool = false
    ) throws {
        self.clock = clock
        let ids = SeededIDs(seed: seed)
        var settings = NotesStore.Options()
        settings.readsWhileWriting = false
        settings.nowMilliseconds = { clock.milliseconds }
        settings.makeID = { ids.make($0) }
        settings.storeOptions = SyncedDatabase.Options(
            clock: { HybridTimestamp(milliseconds: clock.milliseconds) }, makeReplicaID: { ids.makeReplica() })
        settings.storeOptions.watchesFile = false
        notes = try NotesStore.open(place.url.appending(path: "\(name)-store/notes.sqlite"), options: settings)
        folder = try NotesFolder.add(place.path("\(name)-folder"), tag: tag, tagsFolders: tagsFolders, to: notes)
        options.nowMilliseconds = { clock.milliseconds }
        options.wait = { clock.advance($0) }
        options.makeID = { ids.make($0) }
        options.synchronizes = false
    }

    @discardableResult
    func sync() throws -> FolderReport {
        guard let readers else { return try folder.sync(notes, options: options) }
        var report = FolderReport()
        repeat {
            options.wait(options.quietMilliseconds)
            report.add(try folder.pass(notes, options, .everything, readers))
        } while report.busy > 0
        return report
    }

    /// One pass, which leaves alone what somebody is writing.
    @discardableResult
    func pass(ofEverything: Bool = false) throws -> FolderReport? {
        if ofEverything { agenda.failed() }
        guard let scope = try agenda.scope(notes) else { return nil }
        agenda.failed()
        let report = try folder.pass(notes, options, scope, readers)
        agenda.done(report)
        return report
    }

    /// Begins to watch who reads files, without what was known of that.
    func watchReaders() throws {
        #if os(Linux)
        readers = InotifyEvents(folder.path, foldersMax: .max)
        try #require(readers != nil)
        #endif
    }

    /// Notes that the system tells of a change.
    func tell(_ names: String...) { agenda.add(.some(Set(names.map { FolderPath($0) }))) }

    /// Takes over what another machine knows.
    func pull(_ other: FolderMachine) throws {
        _ = try notes.store.apply(other.notes.store.delta(since: notes.store.vector()))
    }

    /// Takes over the attachments that are not here.
    func fetch(_ other: FolderMachine) throws {
        for id in try notes.store.wantedAttachments() {
            if let file = try other.notes.store.provenAttachment(id) { _ = try notes.store.attach(contentsOf: file.url) }
        }
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    func read(_ name: String) throws -> String { String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self) }

    /// The files of notes, by name.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") && !$0.hasPrefix(".") }.sorted()
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
        if name.contains("/") {
            let folder = URL(filePath: file).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
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
        tell(name)
    }

    /// The note that is known to be in a file, which is not read for it.
    func note(at name: String) throws -> UUID? {
        let tables = FolderTables(folder: folder.number)
        let known = try notes.store.database.read { db in try tables.known(at: name, db) }
        return known.count == 1 ? known[0].note : nil
    }

    /// Moves or renames a file.
    func move(_ name: String, to new: String) throws {
        try FileManager.default.createDirectory(
            at: URL(filePath: path(new)).deletingLastPathComponent(), withIntermediateDirectories: true)
        #expect(rename(path(name), path(new)) == 0)
        tell(name, new)
    }

    /// A socket, which is no file.
    func makeSocket(_ name: String) throws {
        let made = mknod(path(name), S_IFSOCK | 0o600, 0)
        try #require(made == 0)
    }

    func remove(_ name: String) {
        unlink(path(name))
        tell(name)
    }

    /// What each file says, by id.
    func contents() throws -> [UUID: [String]] {
        var contents: [UUID: [String]] = [:]
        for name in try files() {
            let content = try FolderContent([UInt8](Data(contentsOf: URL(filePath: path(name)))), path: name)
            let id = try #require(content.id, "\(name)")
            #expect(contents[id] == nil, "\(name) is a second file of its note")
            let place = folder.tagsFolders ? FolderTag.tag(at: name).map { [$0] } ?? [] : []
            let tags = Array(NoteTags(content.tags + place))
            contents[id] = [content.title, content.body, tags.joined(separator: " "), content.color.name]
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
        _ = utimensat(AT_FDCWD, file, times, AT_SYMLINK_NOFOLLOW)
    }

    func stamp(descriptor: Int32) { _ = futimens(descriptor, times) }

    private var times: [timespec] {
        let now = milliseconds
        let time = timespec(tv_sec: Int(now / 1_000), tv_nsec: Int(now % 1_000) * 1_000_000)
        return [time, time]
    }
}

/// Programs that have begun to write into a file and are not done.
final class SlowWriters: Sendable {
    private struct Writer {
        let path: String
        let descriptor: Int32
        let text: String
    }

    private let open = Mutex<[Writer]>([])

    deinit {
        open.withLock { for writer in $0 { close(writer.descriptor) } }
    }

    var paths: [String] { open.withLock { $0.map(\.path) } }

    /// Opens a file, which may be emptied by that.
    func begin(_ path: String, _ text: String, empties: Bool, _ clock: HandClock) {
        let descriptor = openFile(path, O_WRONLY | O_CLOEXEC | (empties ? O_TRUNC : 0))
        guard descriptor >= 0 else { return }
        clock.stamp(path)
        open.withLock { $0.append(Writer(path: path, descriptor: descriptor, text: text)) }
    }

    /// Lets those write all that they have to write that were begun first.
    /// - Returns: the files.
    func finish(_ count: Int, _ clock: HandClock) -> [String] {
        let writers = open.withLock { open in
            let writers = Array(open.prefix(count))
            open.removeFirst(writers.count)
            return writers
        }
        for writer in writers {
            let bytes = Array(writer.text.utf8)
            #expect(write(writer.descriptor, bytes, bytes.count) == bytes.count)
            ftruncate(writer.descriptor, off_t(bytes.count))
            clock.stamp(descriptor: writer.descriptor)
            close(writer.descriptor)
        }
        return writers.map(\.path)
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

private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
