import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
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
