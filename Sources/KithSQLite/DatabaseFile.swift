#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The file that holds a database; a database in memory has none.
package struct DatabaseFile: Sendable {
    /// Its one name: see ``path(of:)``.
    package let path: String
    /// What the file system calls the file, whatever its name is.
    package let inode: UInt64

    /// `nil` if there is no regular file at `path`, or if that is SQLite's name for a database in memory.
    package init?(_ path: String) {
        guard path != ":memory:", let inode = Self.inode(ofFileAt: path) else { return nil }
        (self.path, self.inode) = (Self.path(of: path), inode)
    }

    /// Whether this very file is still found at its path.
    package var isInPlace: Bool { Self.inode(ofFileAt: path) == inode }

    private static func inode(ofFileAt path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(status.st_ino)
    }

    /// The one name of the file that `name` leads to, from the root on and without symbolic links, as SQLite finds it: the files beside a
    /// database belong to it by whichever name it is opened, and wherever the process goes afterwards. The file may be missing.
    package static func path(of name: String) -> String { path(of: name, linksMax: 100) }

    private static func path(of name: String, linksMax: Int) -> String {
        if let whole = resolved(name) { return whole }
        // There is no such file yet.
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !last.isEmpty, linksMax > 0 else { return name }
        let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/"
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        if readlink(name, &target, target.count - 1) > 0 {
            let link = target.withUnsafeBufferPointer { $0.baseAddress.flatMap(String.init(validatingCString:)) }
            guard let link else { return name }
            return path(of: link.hasPrefix("/") ? link : "\(folder)/\(link)", linksMax: linksMax - 1)
        }
        return resolved(folder).map { $0 == "/" ? "/\(last)" : "\($0)/\(last)" } ?? name
    }

    /// `nil` if there is nothing at `path`, or its whole name is no text.
    private static func resolved(_ path: String) -> String? {
        guard let whole = realpath(path, nil) else { return nil }
        defer { free(whole) }
        return String(validatingCString: whole)
    }
}
