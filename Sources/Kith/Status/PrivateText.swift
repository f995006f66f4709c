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

/// Small files that only their owner may read.
package enum PrivateText {
    /// Replaces the file by one with mode 0600 and this content, in one step.
    ///
    /// Others may be able to write into the folder: what they have put in the way is not written to, and at no moment can they read.
    package static func write(_ data: Data, to file: URL) throws {
        let temporary = file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).\(getpid())").path
        // An earlier run may have left a file here, or another user a link. The link itself is removed, not the file that it leads to.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        let isWritten = data.withUnsafeBytes { write(all: $0, to: descriptor) }
        let reason = errno
        close(descriptor)
        guard isWritten else {
            unlink(temporary)
            throw failure(reason)
        }
        guard rename(temporary, file.path) == 0 else {
            let reason = errno
            unlink(temporary)
            throw failure(reason)
        }
    }

    /// Writes this content and spaces into the blocks that the file has already, without asking for another one. Whoever reads at that moment
    /// may see a part of both.
    ///
    /// - Returns: whether it could: there is such a file, of this user and of no other name, and its blocks are enough.
    static func overwrite(_ file: URL, with data: Data) -> Bool {
        // O_NONBLOCK: a pipe that somebody has put there is not waited for.
        let descriptor = open(file.path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1 else {
            return false
        }
        guard data.count <= Int(status.st_blocks) * 512 else { return false }
        let padding = Data(repeating: UInt8(ascii: " "), count: max(0, Int(status.st_size) - data.count))
        return (data + padding).withUnsafeBytes { write(all: $0, to: descriptor) }
    }

    private static func write(all bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private static func failure(_ reason: Int32 = errno) -> CocoaError {
        CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(reason))])
    }
}

/// `write(2)`, by a name that a method may use.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
