#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Small files that belong to one user: read with a limit and a look at who else could reach them, replaced whole.
enum PrivateFile {
    /// The content of the file at `path`; `nil` if it does not exist.
    /// - Parameter forbiddenMode: permission bits that no one but the owner may have.
    /// - Throws: `.exposedFile` or `.fileSystem`.
    static func read(_ path: String, bytesMax: Int, forbiddenMode: Int64) throws(TrustError) -> [UInt8]? {
        // O_NONBLOCK: opening a FIFO by mistake must not hang.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .failed("open", path)
        }
        defer { close(descriptor) }
        let expected = try check(path, bytesMax: bytesMax, forbiddenMode: forbiddenMode)
        // One byte more than it has, to see that there is no more.
        var bytes = [UInt8](repeating: 0, count: expected + 1)
        var count = 0
        while count <= bytesMax {
            if count == bytes.count { bytes += [UInt8](repeating: 0, count: min(count, bytesMax + 1 - count)) }
            let read = bytes.withUnsafeMutableBytes { buffer in
                retrying { systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) }
            }
            guard read >= 0 else { throw .failed("read", path) }
            if read == 0 { break }
            count += read
        }
        guard count <= bytesMax else { throw tooLarge(path, bytesMax) }
        return Array(bytes[..<count])
    }

    /// Replaces the file at `path` by one with mode 0600 and this content. After a crash at any moment the file has its old
    /// content or the new one, whole. Whoever does this has the turn to (``EditTurn``).
    static func replace(_ path: String, with bytes: [UInt8]) throws(TrustError) {
        let temporary = path + ".tmp"
        // What a killed process has left there may be a secret.
        guard unlink(temporary) == 0 || errno == ENOENT else { throw .failed("write", path) }
        try make(temporary, for: path, with: bytes)
        guard rename(temporary, path) == 0 else {
            let error = TrustError.failed("write", path)
            unlink(temporary)
            throw error
        }
        try synchronize(folderOf: path)
    }

    /// Makes a file at `path` with mode 0600 and this content, where there is none. A crash on the way leaves a part of it.
    static func create(_ path: String, with bytes: [UInt8]) throws(TrustError) {
        try make(path, for: path, with: bytes)
        try synchronize(folderOf: path)
    }

    /// Puts the file at `source`, if it is still there, in the place of the one at `path`; whole or not at all.
    static func move(_ source: String, to path: String) throws(TrustError) {
        guard rename(source, path) == 0 || errno == ENOENT else { throw .failed("replace", path) }
        try synchronize(folderOf: path)
    }

    /// Removes the file at `path`, if there is one, for good.
    static func remove(_ path: String) throws(TrustError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .failed("remove", path) }
        try synchronize(folderOf: path)
    }

    // MARK: Steps

    /// - Returns: its size in bytes.
    private static func check(_ path: String, bytesMax: Int, forbiddenMode: Int64) throws(TrustError) -> Int {
        guard let status = FileStatus(path: path) else { throw TrustError(.fileSystem, "Cannot look at \(path).") }
        guard status.isRegular else {
            throw TrustError(.fileSystem, "\(path) is not a regular file. Move it away.")
        }
        guard status.bytes <= Int64(bytesMax) else { throw tooLarge(path, bytesMax) }
        let mine = status.owner == Int64(geteuid()) || status.owner == 0 || geteuid() == 0
        guard mine, status.mode & forbiddenMode == 0 else {
            throw TrustError(
                .exposedFile,
                "Other users of this machine can reach \(path), so it is not used. Mend it with: chmod 600 '\(path)'"
                    + (mine ? "" : " (as its owner, who is someone else)"))
        }
        return Int(status.bytes)
    }

    /// Makes a new file, whole or not at all unless the machine stops.
    private static func make(_ new: String, for path: String, with bytes: [UInt8]) throws(TrustError) {
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("write", path) }
        do throws(TrustError) {
            defer { close(descriptor) }
            try write(bytes, to: descriptor, path)
            guard fsync(descriptor) == 0 else { throw .failed("write", path) }
        } catch {
            unlink(new)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(TrustError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                retrying { systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[written...])) }
            }
            guard count > 0 else { throw .failed("write", path) }
            written += count
        }
    }

    /// Makes a rename to `path` survive a power cut.
    private static func synchronize(folderOf path: String) throws(TrustError) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        let descriptor = open(String(folder), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("open", path) }
        defer { close(descriptor) }
        // Some file systems cannot synchronize a folder and say EINVAL; they offer nothing better.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw .failed("write", path) }
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static func tooLarge(_ path: String, _ bytesMax: Int) -> TrustError {
        TrustError(.fileSystem, "\(path) is larger than \(bytesMax) bytes and cannot be what it should be. Move it away.")
    }
}

// The names `read` and `write` of the C library, told apart from the methods above.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    write(descriptor, buffer.baseAddress, buffer.count)
}

extension TrustError {
    /// The failure of the system call that just set `errno`.
    static func failed(_ verb: String, _ path: String) -> TrustError {
        let code = errno
        return TrustError(.fileSystem, "Cannot \(verb) \(path): \(String(cString: strerror(code))).", systemError: code)
    }
}
