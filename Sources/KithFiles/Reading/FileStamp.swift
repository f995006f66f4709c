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

/// What the file system says of a file without reading it. While it stays the same, the file most likely does.
struct FileStamp: Hashable, Sendable {
    let bytes: Int64
    /// When the file was last written, since 1970.
    let modifiedNanoseconds: Int64
    /// Another number after a file was written by putting a new one in its place.
    let inode: UInt64

    var modifiedMilliseconds: Int64 { modifiedNanoseconds / 1_000_000 }
}

extension FileStamp {
    init(_ status: stat) {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        let nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        self.init(bytes: Int64(status.st_size), modifiedNanoseconds: nanoseconds, inode: UInt64(status.st_ino))
    }

    /// As a table keeps it.
    var text: String { "\(bytes) \(modifiedNanoseconds) \(inode)" }

    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let bytes = Int64(parts[0]), let time = Int64(parts[1]), let inode = UInt64(parts[2]) else { return nil }
        self.init(bytes: bytes, modifiedNanoseconds: time, inode: inode)
    }
}
