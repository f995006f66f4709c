import CFileFormats
import Foundation
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Says what happens in a folder, from the moment that it is made on.
protocol FolderEvents: AnyObject {
    /// Can be read when something has happened; `nil` if one has to ask.
    var descriptor: Int32? { get }
    /// What has happened since it was asked last; `unknown` means that it has ended, and no more is told.
    func take() -> FolderChange
    /// Tells which files are read; `nil` if that is not known.
    var readers: (any FileReaders)? { get }
}

/// Where the system does not tell, or not for so many folders: everything is looked at now and then.
final class PolledEvents: FolderEvents {
    static let pauseMilliseconds: Int64 = 2_000
    let descriptor: Int32? = nil
    let readers: (any FileReaders)? = nil
    private var due: Int64
    private let now: () -> Int64

    init(now: @escaping () -> Int64) {
        self.now = now
        due = now() + Self.pauseMilliseconds
    }

    func take() -> FolderChange {
        let now = now()
        if now < due { return .nothing }
        due = now + Self.pauseMilliseconds
        return .everything
    }
}

#if os(Linux)
/// See inotify(7).
final class InotifyEvents: FolderEvents, FileReaders {
    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
            | IN_DONT_FOLLOW | IN_ATTRIB)
    /// What changes which folders there are, and which can be read.
    private static let folderMask = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)
    private static let selfMask = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW)
    /// What tells that a file was read, or mapped into memory.
    private static let readMask = UInt32(IN_ACCESS | IN_CLOSE_NOWRITE)
    /// Of a file that Kith wrote: the first of these is told. Written first, it was not read.
    private static let readingMask = readMask | UInt32(IN_MODIFY) | IN_ONESHOT
    /// `wd`, `mask`, `cookie` and `len` of an event, before its name.
    private static let headBytes = 16

    private let root: String
    private var inotify: Int32 = -1
    /// The folders that are watched, from the root.
    private var folders: [Int32: String] = [:]
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var unread = UnreadFiles()
    /// What was read of the queue and is not taken yet.
    private var paths: Set<FolderPath> = []
    private var isEverything = false

    var descriptor: Int32? { inotify }
    var readers: (any FileReaders)? { self }

    private let foldersMax: Int

    /// `nil` if the system does not watch the folder: it may be too many.
    ///
    /// - Parameter foldersMax: folders that are watched; the system has a limit of its own.
    init?(_ root: String, foldersMax: Int) {
        (self.root, self.foldersMax) = (root, foldersMax)
        inotify = inotify_init1(O_NONBLOCK | O_CLOEXEC)
        if inotify < 0 || !watchAll() { return nil }
    }

    deinit {
        if inotify >= 0 { close(inotify) }
    }

    /// Watches the folders that are there now, and no others. One that is watched already stays so.
    private func watchAll() -> Bool {
        let before = folders
        (folders, paths, isEverything) = ([:], [], false)
        defer { end(before.keys.filter { folders[$0] == nil }) }
        return watch("", 0)
    }

    private func watch(_ folder: String, _ depth: Int) -> Bool {
        let path = folder.isEmpty ? root : "\(root)/\(folder)"
        if folders.count >= foldersMax { return false }
        let watch = inotify_add_watch(inotify, path, Self.mask)
        // A folder that vanished since it was listed has told so, and one that cannot be read will tell when it can; the root has not.
        if watch < 0 { return !folder.isEmpty && [ENOENT, ENOTDIR, EACCES].contains(errno) }
        folders[watch] = folder
        guard depth < FolderWalk.depthMax, let stream = opendir(path) else { return true }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            guard [Int(DT_DIR), Int(DT_UNKNOWN)].contains(Int(entry.pointee.d_type)) else { continue }
            guard let bytes = kith_entry_name(entry) else { continue }
            let name = String(cString: bytes)
            if name.hasPrefix(".") || ForeignFile.kind("\(path)/\(name)") != .folder { continue }
            if !self.watch(folder.isEmpty ? name : "\(folder)/\(name)", depth + 1) { return false }
        }
        return true
    }

    func take() -> FolderChange {
        drain()
        if isEverything { return watchAll() ? .everything : .unknown }
        defer { paths = [] }
        return paths.isEmpty ? .nothing : .some(paths)
    }

    /// Reads what has happened until now.
    private func drain() {
        while true {
            let count = read(inotify, &buffer, buffer.count)
            if count <= 0 { break }
            var start = 0
            while start + Self.headBytes <= count {
                let (watch, mask, length) = buffer.withUnsafeBytes { bytes in
                    (
                        bytes.loadUnaligned(fromByteOffset: start, as: Int32.self),
                        bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self),
                        Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
                    )
                }
                let name = buffer[(start + Self.headBytes)..<min(count, start + Self.headBytes + length)].prefix { $0 != 0 }
                start += Self.headBytes + length
                if unread.isKnown(watch) {
                    unread.take(watch, isRead: mask & Self.readMask != 0)
                    continue
                }
                // What was lost may have been a reading.
                if mask & UInt32(IN_Q_OVERFLOW) != 0 { end(unread.removeAll()) }
                if mask & Self.selfMask != 0 || mask & UInt32(IN_ISDIR) != 0 && mask & Self.folderMask != 0 { isEverything = true }
                guard let folder = folders[watch], name.first != UInt8(ascii: "."), !name.isEmpty,
                    mask & UInt32(IN_ATTRIB) == 0
                else { continue }
                guard let text = String(validating: name, as: UTF8.self) else {
                    // A whole pass names what cannot be a note, once and not with each write.
                    if mask & Self.folderMask != 0 { isEverything = true }
                    continue
                }
                paths.insert(FolderPath(folder.isEmpty ? text : "\(folder)/\(text)"))
            }
        }
    }

    // MARK: Who reads

    func basis(of record: FolderRecord) -> FolderRecord {
        drain()
        guard var basis = unread.basis(of: record) else { return record }
        basis.path = record.path
        return basis
    }

    func willRead(_ note: UUID) {
        drain()
        guard let watch = unread.watch(of: note) else { return }
        inotify_rm_watch(inotify, watch)
        unread.take(watch, isRead: false)
    }

    func watchAgain(_ note: UUID, at path: String) {
        if !unread.contains(note) { return }
        let watch = inotify_add_watch(inotify, path, Self.readingMask)
        if watch < 0 { forget(note) } else { unread.setWatch(watch, of: note) }
    }

    func wasSaved(_ record: FolderRecord) { unread.setBasis(record) }

    func willReplace(_ record: FolderRecord, by path: String) {
        drain()
        let watch = inotify_add_watch(inotify, path, Self.readingMask)
        if watch < 0 { return forget(record.note) }
        end(unread.insert(record, watch: watch))
    }

    func forget(_ note: UUID) { end([unread.remove(note)].compactMap { $0 }) }

    private func end(_ watches: [Int32]) {
        for watch in watches { inotify_rm_watch(inotify, watch) }
    }
}
#endif
