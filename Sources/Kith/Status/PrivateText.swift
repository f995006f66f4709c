import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Small files that concern nobody but their owner.
package enum PrivateText {
    /// Replaces the file by one with mode 0600 and this content, in one step.
    package static func write(_ data: Data, to file: URL) throws {
        let temporary = file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).\(getpid())")
        try? FileManager.default.removeItem(at: temporary)
        let isMade = FileManager.default.createFile(atPath: temporary.path, contents: data, attributes: [.posixPermissions: 0o600])
        guard isMade, rename(temporary.path, file.path) == 0 else {
            let reason = errno
            try? FileManager.default.removeItem(at: temporary)
            throw CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(reason))])
        }
    }
}
