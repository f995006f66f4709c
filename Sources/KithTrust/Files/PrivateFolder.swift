#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The folder of the identity files, in which only their owner may make, rename or remove files.
enum PrivateFolder {
    /// Makes the folder at `path` and what is missing above it, each with mode 0700, or checks the one that is there.
    /// - Throws: `.exposedFolder` if others may write into it, or `.fileSystem`.
    static func create(_ path: String) throws(TrustError) {
        try makeMissing(path)
        guard let status = FileStatus(path: path) else { throw TrustError(.fileSystem, "Cannot look at \(path).") }
        guard status.isFolder else {
            throw TrustError(.fileSystem, "\(path) is not a folder. Move it away.")
        }
        guard status.mode & 0o022 == 0 else {
            throw TrustError(
                .exposedFolder,
                "Other users of this machine can replace files in \(path), so no key is kept there. "
                    + "Mend it with: chmod 700 '\(path)'")
        }
    }

    private static func makeMissing(_ path: String) throws(TrustError) {
        guard !path.isEmpty, access(path, F_OK) != 0 else { return }
        if let slash = path.lastIndex(of: "/") { try makeMissing(String(path[..<slash])) }
        // Another process may have been faster.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .failed("make", path) }
    }
}
