#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
// Of which of these modules `stat` is taken for a part depends on which one the compiler has met first in other files.
#if canImport(CDispatch)
import CDispatch
#endif
#if canImport(CoreFoundation)
import CoreFoundation
#endif

/// What the file system says of a file, links followed.
///
/// Asked of the system itself: Foundation looks up the names of owner and group as well, in files that it opens each time, and
/// a node that stands idle looks at its files twice a second.
struct FileStatus: Sendable {
    /// What tells one version of a file from the next without reading it.
    struct Stamp: Hashable, Sendable {
        fileprivate let number: UInt64
        fileprivate let bytes: Int64
        fileprivate let modifiedSeconds: Int
        fileprivate let modifiedNanoseconds: Int
    }

    let isRegular: Bool
    let isFolder: Bool
    /// The user to whom it belongs.
    let owner: Int64
    /// The permission bits.
    let mode: Int64
    /// Size in bytes.
    let bytes: Int64
    let stamp: Stamp

    /// Of the file at `path`; `nil` if there is none to look at.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        owner = Int64(status.st_uid)
        mode = Int64(status.st_mode & 0o7777)
        bytes = Int64(status.st_size)
        #if canImport(Darwin)
        let modified = status.st_mtimespec
        #else
        let modified = status.st_mtim
        #endif
        stamp = Stamp(
            number: UInt64(status.st_ino), bytes: bytes, modifiedSeconds: Int(modified.tv_sec), modifiedNanoseconds: Int(modified.tv_nsec))
    }
}
