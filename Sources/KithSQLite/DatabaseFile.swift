#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The file that holds a database; a database in memory has none.
package struct DatabaseFile: Sendable {
    package let path: String
    /// What the file system calls the file, whatever its name is.
    package let inode: UInt64

    /// `nil` if there is no regular file at `path`.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.path = path
        inode = UInt64(status.st_ino)
    }
}
