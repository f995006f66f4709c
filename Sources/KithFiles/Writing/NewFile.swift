import CFileFormats
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

/// Writes files that only their owner can read.
enum NewFile {
    /// Makes a file that is not there yet.
    ///
    /// - Parameter modifiedMilliseconds: the time of its last change; that of the writing if there is none.
    /// - Throws: ``FilesError`` with code `inputOutput` or `cannotCreate`; nothing is left of the file then.
    static func write(_ bytes: [UInt8], to path: String, modifiedMilliseconds: Int64? = nil) throws(FilesError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        do throws(FilesError) {
            try write(bytes, descriptor, path)
        } catch {
            unlink(path)
            throw error
        }
        if let modifiedMilliseconds { setTime(modifiedMilliseconds, 0, descriptor) }
    }

    /// Makes a file that was written at a time which no clock of the system gives it, so that its stamp tells it from any later one.
    ///
    /// - Parameter startsSync: begins to bring it to the disk; ``synchronize(_:)`` ends it.
    /// - Returns: the stamp; `nil` if the file system cannot hold such a time.
    static func writeStamped(_ bytes: [UInt8], to path: String, _ milliseconds: Int64, startsSync: Bool) throws(FilesError) -> FileStamp? {
        try write(bytes, to: path)
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        setTime(milliseconds, 1, descriptor)
        if startsSync { kith_start_sync(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        let stamp = FileStamp(status)
        return stamp.modifiedNanoseconds == milliseconds * 1_000_000 + 1 ? stamp : nil
    }

    /// Brings a file to the disk.
    static func synchronize(_ path: String) throws(FilesError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw failure(path) }
    }

    static func write(_ bytes: [UInt8], _ descriptor: Int32, _ path: String) throws(FilesError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: $0[written...])) }
            if count < 0, errno != EINTR { throw failure(path) }
            written += max(0, count)
        }
    }

    /// Copies a file to a place where nothing is.
    static func copy(_ source: URL, to path: String) throws(FilesError) {
        do {
            try FileManager.default.copyItem(at: source, to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            unlink(path)
            throw FilesError(.inputOutput, "\(path) cannot be written. Look at the room on the disk and the permissions of the folder.")
        }
    }

    static func makeFolder(_ path: String) throws(FilesError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw failure(path)
    }

    /// What the last call of the system says of a file that could not be written.
    static func failure(_ path: String) -> FilesError {
        switch errno {
        case ENOSPC, EDQUOT: .diskFull
        case EEXIST: FilesError(.cannotCreate, "\(path) exists already, and was left as it is. Name a new one.")
        default:
            FilesError(
                .cannotCreate, "\(path) cannot be written (\(ForeignFile.systemMessage())). Check the folder and its permissions.")
        }
    }

    private static func setTime(_ milliseconds: Int64, _ nanoseconds: Int, _ descriptor: Int32) {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let time = timespec(
            tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int((rest < 0 ? rest + 1_000 : rest) * 1_000_000) + nanoseconds)
        // A time that the file system cannot hold is no reason to fail.
        _ = futimens(descriptor, [time, time])
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
