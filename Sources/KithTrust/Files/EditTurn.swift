import KithLock

/// One editor of a file at a time, among all processes of the machine, by a lock on a file beside it, since the file itself is
/// replaced. A process that dies lets go of it.
enum EditTurn {
    /// How long to wait for another process.
    static let waitMilliseconds: Int64 = 5_000
    private static let pauseMilliseconds: Int64 = 5

    /// Runs `body` while no other process edits.
    /// - Throws: what `body` throws, `.busy`, or `.fileSystem`.
    static func take<Value>(
        beside path: String, _ body: () throws(TrustError) -> Value
    ) throws(TrustError) -> Value {
        let lock: FileLock
        let isTaken: Bool
        do throws(FileLock.Failure) {
            lock = try FileLock(path: path + ".lock")
            isTaken = try lock.tryToTake(.exclusive, for: waitMilliseconds, pauseMilliseconds: pauseMilliseconds)
        } catch {
            throw TrustError(
                .fileSystem, "Cannot \(error.isOpening ? "open" : "lock") \(error.path): \(error.reason).", systemError: error.code)
        }
        guard isTaken else { throw TrustError(.busy, "Another process is busy with \(path). Try again when it has finished.") }
        defer { lock.release() }
        return try body()
    }
}
