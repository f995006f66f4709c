#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `write(2)`: how many of the bytes were written, or less than 0 with the reason in `errno`.
package typealias FileWriting = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int

package let systemWrite: FileWriting = { write($0, $1.baseAddress, $1.count) }

/// Bytes that whoever runs this process may still write into a folder; `nil` where the system does not say. See statvfs(3).
package let systemFreeBytes: @Sendable (_ folder: String) -> Int64? = { folder in
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflows ? nil : Int64(clamping: bytes)
}

/// A file of the system, closed when nobody holds it any more. Its failures are ``StoreError``s that name it.
package final class OpenFile {
    package let path: String
    package let descriptor: Int32

    /// Opens a file to read it; `nil` if there is none.
    package init?(reading path: String) throws {
        self.path = path
        // A pipe would otherwise wait for a writer.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor >= 0 { return }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw FileFailure.error("opened", path)
    }

    /// Opens a file to read and write it, made if it is not there and `isMade`.
    package init(writing path: String, isMade: Bool = true) throws {
        self.path = path
        descriptor = open(path, O_RDWR | (isMade ? O_CREAT : 0) | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw FileFailure.error("opened", path) }
    }

    deinit {
        close(descriptor)
    }

    // MARK: Of a path

    /// Bytes of a file; `nil` if there is none.
    package static func size(of file: String) -> Int64? {
        var status = stat()
        return stat(file, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// When a file or folder was last changed, in nanoseconds since 1970 by the system's clock; `nil` if there is none.
    package static func modified(_ file: String) -> Int64? {
        var status = stat()
        return stat(file, &status) == 0 ? modified(status) : nil
    }

    fileprivate static func modified(_ status: stat) -> Int64 {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    // MARK: Of what is open

    /// Bytes of a regular file; `nil` for a folder, a pipe or the like.
    package func size() throws -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.error("read", path) }
        return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    /// What changes when the file is written.
    package func stamp() throws -> FileStamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.error("read", path) }
        return FileStamp(status)
    }

    /// Whether its name is still that of this file, and not of another one that was put in its place.
    package func isInPlace() throws -> Bool {
        let own = try stamp()
        var status = stat()
        return stat(path, &status) == 0 && FileStamp(status).isOfSameFile(as: own)
    }

    /// Up to `count` bytes from `offset` on; fewer at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return pread(descriptor, base + filled, count - filled, off_t(offset) + off_t(filled))
            }
            if got < 0, errno == EINTR { continue }
            if got < 0 { throw FileFailure.error("read", path) }
            if got == 0 { break }
            filled += got
        }
        if filled < count { bytes.removeLast(count - filled) }
        return bytes
    }

    /// Writes `bytes` at `offset`, and cuts off what came after.
    package func write(_ bytes: [UInt8], at offset: Int64, by writeFile: FileWriting) throws {
        guard ftruncate(descriptor, off_t(offset)) == 0, lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else {
            throw FileFailure.error("written", path)
        }
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = writeFile(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw FileFailure.error("written", path) }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Brings the file to the disk, readable for its owner alone and no longer writable.
    package func seal() throws {
        guard fchmod(descriptor, 0o400) == 0 else { throw FileFailure.error("protected", path) }
        try SmallFile.synchronize(path: path)
    }
}

/// Which file it is, and what changes when it is written.
package struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    package let size: Int64
    /// When it was last changed, in nanoseconds since 1970.
    private let modified: Int64

    fileprivate init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = OpenFile.modified(status)
    }

    package func isOfSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }
}

package enum FileFailure {
    /// What the system said last, of a file that could not be opened, read or written.
    package static func error(_ verb: String, _ path: String) -> StoreError {
        let code = errno
        let detail = "\(path) could not be \(verb): \(String(cString: strerror(code)))."
        switch code {
        case ENOSPC, EDQUOT: return StoreError(.diskFull, detail + " Nothing was changed; free some space and try again.")
        case ENOENT: return StoreError(.notFound, detail)
        case EACCES, EPERM, EROFS: return StoreError(.readOnly, detail + " Check the permissions of the file and its folder.")
        default: return StoreError(.failed, detail)
        }
    }
}
