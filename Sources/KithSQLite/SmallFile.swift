#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads and replaces files of a few kilobytes, and brings files to the disk.
package enum SmallFile {
    static let bytesMax = 64 * 1_024

    /// The content of `path`, up to ``bytesMax``; `nil` if it cannot be read.
    package static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var count = 0
        while count < bytesMax {
            let got = bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return systemRead(descriptor, base + count, bytesMax - count)
            }
            if got < 0 { return nil }
            if got == 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }

    /// Puts `bytes` at `path`, whole or not at all.
    /// - Parameter isDurable: whether the file is on the disk when this returns.
    package static func replace(_ path: String, with bytes: [UInt8], isDurable: Bool) throws {
        let temporary = path + ".\(getpid()).new"
        // What is in the way, of an earlier run or a link that somebody made, is removed and never written to.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", path) }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let isWritten = written == bytes.count && (!isDurable || synchronize(descriptor))
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            unlink(temporary)
            throw failure("written", path)
        }
        if isDurable { try synchronizeFolder(of: path) }
    }

    /// Brings what was written to `path` to the disk; a file that does not exist has nothing to bring.
    ///
    /// Not for a file that SQLite locks: closing it here would drop the locks of the whole process.
    package static func synchronize(path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw failure("opened", path) }
        defer { close(descriptor) }
        guard synchronize(descriptor) else { throw failure("brought to the disk", path) }
    }

    package static func synchronizeFolder(of path: String) throws {
        try synchronize(path: folder(of: path))
    }

    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    private static func failure(_ verb: String, _ path: String) -> StoreError {
        let code = errno
        return StoreError(
            code == ENOSPC ? .diskFull : .readOnly, "\(path) could not be \(verb): \(String(cString: strerror(code))).")
    }
}

/// `read(2)`, by a name that a method may use.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
