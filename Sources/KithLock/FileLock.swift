#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock on a file or a folder among the processes of this machine, which the system releases when the process ends, however it ends.
/// See flock(2).
///
/// Two of one process keep each other out as two processes would. A file that is to be replaced is locked by another one beside it.
package final class FileLock: Sendable {
    package enum Kind {
        case shared
        case exclusive
    }

    /// Why a file cannot be locked at all.
    package struct Failure: Error {
        package let path: String
        /// Whether the file could not even be opened.
        package let isOpening: Bool
        /// The system's error number.
        package let code: Int32

        /// What the system says.
        package var reason: String { String(cString: strerror(code)) }
    }

    package static let textBytesMax = 64 * 1_024

    private let descriptor: Int32
    package let path: String

    /// Of the file at `path`, which is made, for its owner alone, if it is not there.
    package init(path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(path: path, isOpening: true, code: errno) }
    }

    /// Of a file or a folder that is there; `nil` if it is not, or cannot be read.
    package init?(reading path: String) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Takes the lock if nobody's is in the way. A lock of the other kind that this object holds is given up for it, and is
    /// gone if that fails.
    package func tryToTake(_ kind: Kind) throws(Failure) -> Bool {
        try take(kind, flags: LOCK_NB)
    }

    /// The same, again and again for about `milliseconds`, with a pause between.
    /// - Parameter pause: sleeps for so many milliseconds.
    package func tryToTake(
        _ kind: Kind, for milliseconds: Int64, pauseMilliseconds: Int64, pause: (Int64) -> Void = FileLock.sleep
    ) throws(Failure) -> Bool {
        var waited: Int64 = 0
        while try !tryToTake(kind) {
            if waited >= milliseconds { return false }
            pause(pauseMilliseconds)
            waited += pauseMilliseconds
        }
        return true
    }

    /// Waits for the lock.
    package func take(_ kind: Kind) throws(Failure) {
        while try !take(kind, flags: 0) {}
    }

    package func release() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Whether the path is still that of the file that is locked, and not of another one that was put in its place.
    package var isInPlace: Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }

    package static func sleep(_ milliseconds: Int64) {
        usleep(UInt32(clamping: milliseconds) * 1_000)
    }

    private func take(_ kind: Kind, flags: Int32) throws(Failure) -> Bool {
        if flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | flags) == 0 { return true }
        if errno == EWOULDBLOCK || errno == EINTR { return false }
        throw Failure(path: path, isOpening: false, code: errno)
    }

    // MARK: Content

    /// What the holder wrote about itself.
    package var text: String {
        var bytes = [UInt8](repeating: 0, count: Self.textBytesMax)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    package func write(_ text: String) {
        // For people only; a failure changes nothing.
        _ = ftruncate(descriptor, 0)
        overwrite(with: Array(text.utf8))
    }

    /// Writes over the beginning of the file; a failure changes nothing.
    package func overwrite(with bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    /// Writes over the beginning of the file, and returns when that is on the disk.
    package func store(_ bytes: [UInt8]) throws(Failure) {
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count, synchronize() else { throw Failure(path: path, isOpening: false, code: errno) }
    }

    private func synchronize() -> Bool {
        #if canImport(Darwin)
        return fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
        #else
        // Of what is known of the file only its length matters: times would take the file system's log, and all that waits for it.
        return fdatasync(descriptor) == 0
        #endif
    }
}
