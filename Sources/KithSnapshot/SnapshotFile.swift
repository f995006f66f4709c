import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Replaces the file of a snapshot, whole or not at all.
package struct SnapshotFile: Sendable {
    package let url: URL

    package init(_ url: URL) { self.url = url }

    /// The folder's path, and the name in it.
    private var folder: String { url.deletingLastPathComponent().path }
    private static let ending = ".kith-new"
    private var beginning: String { "." + url.lastPathComponent + "." }

    /// What lies there, if it is a whole snapshot.
    ///
    /// - Throws: ``SnapshotError`` with code `notASnapshot` if it is something else: a file that is not empty and does not begin as a
    ///   snapshot does, or no file. A damaged snapshot is one.
    package func held() throws(SnapshotError) -> SnapshotFormat.Raw? {
        guard let (handle, bytes) = try open() else { return nil }
        defer { try? handle.close() }
        guard bytes <= SnapshotFormat.bytesMax, let rest = try? handle.readToEnd() else { return nil }
        return try? SnapshotFormat.raw(SnapshotFormat.beginning + rest)
    }

    /// Checks that a snapshot, an empty file or nothing lies there, so that it may be replaced.
    ///
    /// - Throws: as ``held()``.
    package func checkKind() throws(SnapshotError) {
        let opened = try open()
        try? opened?.handle.close()
    }

    /// The file behind its beginning, and its length in bytes; `nil` if there is none that can be read, or an empty one.
    private func open() throws(SnapshotError) -> (handle: FileHandle, bytes: Int64)? {
        var about = stat()
        guard stat(url.path, &about) == 0 else { return nil }
        let isFile = about.st_mode & S_IFMT == S_IFREG
        guard isFile, let handle = try? FileHandle(forReadingFrom: url) else {
            if isFile { return nil }
            throw foreign
        }
        let beginning = (try? handle.read(upToCount: SnapshotFormat.beginning.count)) ?? Data()
        if beginning == SnapshotFormat.beginning { return (handle, Int64(about.st_size)) }
        try? handle.close()
        if beginning.isEmpty { return nil }
        throw foreign
    }

    private var foreign: SnapshotError {
        SnapshotError(.notASnapshot, "\(url.path) is no snapshot, and is left as it is. Choose another name, or remove it.")
    }

    package var isThere: Bool { access(url.path, F_OK) == 0 }

    /// Two that write one file of this process at once would write the same temporary one.
    private static let turn = NSLock()

    /// Puts `bytes` there: they are on the disk before the file has its name, and the name is when this returns.
    package func replace(with bytes: Data) throws(SnapshotError) {
        Self.turn.lock()
        defer { Self.turn.unlock() }
        let temporary = "\(folder)/\(beginning)\(getpid())\(Self.ending)"
        // What is in the way, of an earlier run or a link that another program made, is removed and never written to.
        unlink(temporary)
        let descriptor = systemOpen(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno, url.path) }
        var code = write(bytes, to: descriptor)
        if code == 0, !synchronize(descriptor) { code = errno }
        close(descriptor)
        if code == 0, rename(temporary, url.path) != 0 { code = errno }
        if code != 0 {
            unlink(temporary)
            throw Self.failure(code, url.path)
        }
        let parent = systemOpen(folder, O_RDONLY | O_CLOEXEC, 0)
        if parent >= 0 {
            // The new content is there either way; after a power failure the old one may be.
            _ = fsync(parent)
            close(parent)
        }
    }

    /// Returns the system's error number, or 0.
    private func write(_ bytes: Data, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count, let base = buffer.baseAddress {
                let count = systemWrite(descriptor, base + done, buffer.count - done)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return count < 0 ? errno : EIO }
                done += count
            }
            return 0
        }
    }

    private func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Removes what processes have left that were killed while they wrote.
    package func tidy() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(beginning) && name.hasSuffix(Self.ending) {
            guard let process = pid_t(name.dropFirst(beginning.count).dropLast(Self.ending.count)) else { continue }
            if kill(process, 0) != 0, errno == ESRCH { unlink("\(folder)/\(name)") }
        }
    }

    /// What a number of the system's means for a snapshot.
    package static func failure(_ code: Int32, _ path: String) -> SnapshotError {
        let reason = String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT: SnapshotError(.diskFull, "\(path) could not be written: \(reason). Make room for it.")
        case EACCES, EPERM, EROFS, ENOENT, ENOTDIR:
            SnapshotError(.readOnly, "\(path) could not be written: \(reason). Choose a folder that is there and may be written.")
        default: SnapshotError(.failed, "\(path) could not be written: \(reason).")
        }
    }
}

/// `open(2)`, by a name that a method may use.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

/// `write(2)`, by a name that a method may use.
private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
