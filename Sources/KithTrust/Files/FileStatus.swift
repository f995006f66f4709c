import Foundation

#if canImport(Darwin)
    import Darwin
#else
    // With Foundation in the module, the compiler may count the members of `stat` to any of these.
    import CoreFoundation
    import Dispatch
    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif
#endif

/// What the operating system says of a file.
struct FileStatus: Sendable {
    /// What tells one version of a file from the next without reading it.
    struct Stamp: Hashable, Sendable {
        fileprivate let inode: UInt64
        fileprivate let bytes: Int64
        fileprivate let seconds: Int
        fileprivate let nanoseconds: Int
    }

    let isRegular: Bool
    let isFolder: Bool
    let owner: uid_t
    /// The permission bits.
    let mode: mode_t
    /// Size in bytes.
    let bytes: Int64
    let stamp: Stamp

    /// Of the file at `path`; `nil` with `errno` set if there is none to look at.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of an open file.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        owner = status.st_uid
        mode = status.st_mode & 0o7777
        bytes = Int64(status.st_size)
        #if canImport(Darwin)
            let modified = status.st_mtimespec
        #else
            let modified = status.st_mtim
        #endif
        stamp = Stamp(
            inode: UInt64(status.st_ino), bytes: bytes, seconds: Int(modified.tv_sec), nanoseconds: Int(modified.tv_nsec))
    }
}
