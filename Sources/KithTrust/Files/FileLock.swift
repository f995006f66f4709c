#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One editor of a file at a time, among all processes of the machine (flock(2) on a file beside it, since the
/// file itself is replaced). A process that dies lets go of it.
enum FileLock {
    /// How long to wait for another process, in milliseconds.
    static let waitMilliseconds = 5000
    private static let pauseMilliseconds = 5

    /// Runs `body` with the lock held.
    /// - Throws: what `body` throws, `.busy`, or `.fileSystem`.
    static func withLock<Value>(
        beside path: String, _ body: () throws(TrustError) -> Value
    ) throws(TrustError) -> Value {
        let lock = path + ".lock"
        let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("open", lock) }
        defer { close(descriptor) }
        var pauses = waitMilliseconds / pauseMilliseconds
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .failed("lock", lock) }
            guard pauses > 0 else {
                throw TrustError(.busy, "Another process is busy with \(path). Try again when it has finished.")
            }
            pauses -= 1
            usleep(UInt32(pauseMilliseconds) * 1000)
        }
        return try body()
    }
}
