import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif
// Swift takes what the C library declares of files for a part of a module that reads its headers first, and asks for that one by name.
#if canImport(CDispatch)
import CDispatch
#endif
#if canImport(CoreFoundation)
import CoreFoundation
#endif

/// A file that is read or written by its descriptor, which is closed with the last reference.
final class CarryHandle {
    let descriptor: Int32
    private let name: String

    private init(_ descriptor: Int32, _ name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    deinit { close(descriptor) }

    /// Opens a regular file, without waiting where it is none, and without following a link.
    static func open(_ path: String) throws(CarryError) -> CarryHandle {
        let descriptor = systemOpen(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw CarryError(.notFound, "There is no file \(path).") }
            throw CarryError(.inputOutput, "\(path) cannot be read (\(message(errno))).")
        }
        let handle = CarryHandle(descriptor, path)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CarryError(.notCarried, "\(path) is not a regular file.")
        }
        return handle
    }

    /// Makes a file that is not there, for its owner alone.
    static func make(_ path: String) throws(CarryError) -> CarryHandle {
        let descriptor = systemOpen(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, errno) }
        return CarryHandle(descriptor, path)
    }

    /// Makes a file that has no name, so that nothing is left of it whatever happens.
    ///
    /// Where the file system makes none without a name, it has one for a moment: a process that is killed then leaves an empty file.
    static func makeNameless(in folder: URL) throws(CarryError) -> CarryHandle {
        if let handle = makeWithoutName(in: folder) { return handle }
        let path = folder.appending(path: ".kith-carry-\(UUID().uuidString)").path
        let handle = try make(path)
        unlink(path)
        return handle
    }

    /// Makes a file that never has a name; `nil` where that cannot be done.
    static func makeWithoutName(in folder: URL) -> CarryHandle? {
        #if os(Linux)
        // With `O_EXCL` nobody can give it one later. An old kernel sees a folder that is to be written, and refuses.
        let descriptor = systemOpen(folder.path, temporaryFile | O_RDWR | O_EXCL | O_CLOEXEC, 0o600)
        return descriptor >= 0 ? CarryHandle(descriptor, folder.path) : nil
        #else
        return nil
        #endif
    }

    #if os(Linux)
    /// `O_TMPFILE`, a macro that Swift does not see.
    private static let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
    #endif

    func size() throws(CarryError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CarryError(.inputOutput, "\(name) cannot be read (\(Self.message(errno))).") }
        return Int64(status.st_size)
    }

    /// As many bytes as there are, up to `count`.
    func read(at offset: Int64, count: Int) throws(CarryError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var held = 0
        while held < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + held }, count - held, off_t(offset) + off_t(held))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw CarryError(.inputOutput, "\(name) cannot be read (\(Self.message(errno))). Is it still there?") }
            if got == 0 { break }
            held += got
        }
        bytes.removeLast(count - held)
        return bytes
    }

    func append(_ bytes: [UInt8]) throws(CarryError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                write(descriptor, buffer.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(name, errno) }
            written += count
        }
    }

    /// Brings the file to the disk.
    func synchronize() throws(CarryError) {
        if fsync(descriptor) != 0 { throw Self.failure(name, errno) }
    }

    static func failure(_ path: String, _ code: Int32) -> CarryError {
        switch code {
        case ENOSPC, EDQUOT:
            CarryError(.diskFull, "There is no room left for \(path). What was there before is as it was; free some space and try again.")
        case EROFS: CarryError(.cannotCreate, "\(path) cannot be written: the disk is read only.")
        case ENOENT: CarryError(.cannotCreate, "\(path) cannot be written: there is no such folder. Is the stick in?")
        default: CarryError(.cannotCreate, "\(path) cannot be written (\(message(code))). Check the folder and its permissions.")
        }
    }

    static func message(_ code: Int32) -> String { String(cString: strerror(code)) }
}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

/// A file in the making: it takes its name when it is whole and on the disk, in the place of what had it.
final class CarryDraft {
    static let ending = ".part"
    private static let beginning = ".kith-"

    let handle: CarryHandle
    private let path: String
    private let draft: String
    private var isDone = false

    /// Begins one for `path`. What writers left behind there that died is removed.
    init(for path: String) throws(CarryError) {
        let folder = URL(filePath: path).deletingLastPathComponent()
        Self.removeOld(in: folder)
        draft = folder.appending(path: "\(Self.beginning)\(UUID().uuidString)\(Self.ending)").path
        self.path = path
        handle = try CarryHandle.make(draft)
        // As long as it lives: see above.
        _ = flock(handle.descriptor, LOCK_EX | LOCK_NB)
    }

    deinit {
        if !isDone { unlink(draft) }
    }

    /// - Parameter movesAside: whether the file that had this one's name gets another one; else it is replaced.
    /// - Returns: the other name.
    @discardableResult
    func finish(movingAside movesAside: Bool = false) throws(CarryError) -> String? {
        try handle.synchronize()
        let aside = movesAside ? try Self.moveAside(path) : nil
        guard rename(draft, path) == 0 else {
            let code = errno
            // Unless another process has put a file of its own there, the old one gets its name back.
            if let aside, (try? CarryHandle.make(path)) != nil { rename(aside, path) }
            throw CarryHandle.failure(path, code)
        }
        isDone = true
        let folder = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return aside }
        // Where a folder cannot be brought to the disk by itself, its file system does so.
        fsync(folder)
        close(folder)
        return aside
    }

    /// Gives the file at `path` a name beside it that no other file has.
    ///
    /// - Returns: the name; `nil` if the file is not there any more, because another process was faster.
    static func moveAside(_ path: String) throws(CarryError) -> String? {
        let base = path.hasSuffix(Carrier.fileEnding) ? String(path.dropLast(Carrier.fileEnding.count)) : path
        var number = 1
        while true {
            let aside = "\(base)-earlier-\(number)\(Carrier.fileEnding)"
            // Not each file system of sticks can rename without replacing. An empty file takes the name from all others.
            let descriptor = systemOpen(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                close(descriptor)
                if rename(path, aside) == 0 { return aside }
                let code = errno
                unlink(aside)
                if code == ENOENT { return nil }
                throw CarryHandle.failure(aside, code)
            }
            guard errno == EEXIST else { throw CarryHandle.failure(aside, errno) }
            number += 1
        }
    }

    private static func removeOld(in folder: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(beginning) && name.hasSuffix(ending) {
            let path = folder.appending(path: name).path
            guard let handle = try? CarryHandle.open(path) else { continue }
            if flock(handle.descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
        }
    }
}
