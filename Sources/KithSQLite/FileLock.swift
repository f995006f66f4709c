#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock on a file of its own that the system releases when the process ends, however it ends. See flock(2).
///
/// Two of one process keep each other out as two processes would.
package final class FileLock: Sendable {
    package enum Kind {
        case shared
        case exclusive
    }

    private let descriptor: Int32
    package let path: String

    package init(path: String) throws {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Of a file that is there, without making it; `nil` if it is not.
    package init?(reading path: String) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Takes the lock if nobody's is in the way. A lock of the other kind that this object holds is given up for it, and is
    /// gone if that fails.
    package func tryToTake(_ kind: Kind) throws -> Bool {
        try take(kind, flags: LOCK_NB)
    }

    /// Waits for the lock.
    package func take(_ kind: Kind) throws {
        while try !take(kind, flags: 0) {}
    }

    package func release() {
        _ = flock(descriptor, LOCK_UN)
    }

    private func take(_ kind: Kind, flags: Int32) throws -> Bool {
        if flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | flags) == 0 { return true }
        if errno == EWOULDBLOCK || errno == EINTR { return false }
        throw Self.failure(path)
    }

    // MARK: Content

    /// What the holder wrote about itself.
    package var text: String? {
        SmallFile.read(path).map { String(decoding: $0, as: UTF8.self) }
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

    private static func failure(_ path: String) -> StoreError {
        StoreError(
            .readOnly,
            "\(path) cannot be locked: \(String(cString: strerror(errno))). A store needs a folder that can be written, on a file system of this machine."
        )
    }
}
