import CFileFormats
import Foundation

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

/// Reads files that anybody may have made, and that may change or vanish meanwhile.
enum ForeignFile {
    /// What stands at a path; symbolic links are not followed.
    enum Kind: Hashable {
        case file(FileStamp)
        case folder
        case link
        /// A pipe, a socket or a device.
        case other
        case missing
        /// Something may be there, but the system does not say what: these are its words.
        case hidden(String)
    }

    static func kind(_ path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // Anything else, such as a folder that may not be entered or a disk that fails, does not say that nothing is there.
            return errno == ENOENT || errno == ENOTDIR ? .missing : .hidden("It cannot be looked at (\(systemMessage())).")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(FileStamp(status))
        case S_IFDIR: return .folder
        case S_IFLNK: return .link
        default: return .other
        }
    }

    static func stamp(_ path: String) -> FileStamp? {
        if case .file(let stamp) = kind(path) { stamp } else { nil }
    }

    /// Where the links lead that a person has named; others are not followed.
    static func resolved(_ path: String) -> String {
        kind(path) == .link ? URL(filePath: path).resolvingSymlinksInPath().path : path
    }

    /// - Throws: ``FilesError`` with code `notFound` if there is nothing, or no regular file; `inputOutput` if it may not be read.
    static func requireFile(_ path: String) throws(FilesError) -> FileStamp {
        switch kind(path) {
        case .file(let stamp):
            guard access(path, R_OK) == 0 else { throw FilesError(.inputOutput, "\(path) cannot be read (\(systemMessage())).") }
            return stamp
        case .missing: throw FilesError(.notFound, "There is no file \(path).")
        case .hidden(let words): throw FilesError(.inputOutput, "\(path): \(words)")
        case .folder, .link, .other: throw FilesError(.notFound, "\(path) is not a regular file.")
        }
    }

    /// All bytes of a regular file.
    ///
    /// - Throws: ``FilesError`` with code `notFound`; `data` if it is no regular file, or larger than `bytesMax`; `inputOutput`.
    static func read(_ path: String, bytesMax: Int) throws(FilesError) -> [UInt8] {
        // Without waiting for a writer, should it be a pipe.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw FilesError(.notFound, "It is not there any more.") }
            if errno == ELOOP { throw FilesError(.data, "It is a symbolic link, which is not followed.") }
            throw FilesError(.inputOutput, "It cannot be read (\(systemMessage())).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FilesError(.data, "It is not a regular file.")
        }
        var bytes: [UInt8] = []
        let expected = min(Int(status.st_size), bytesMax) + 1
        while bytes.count <= bytesMax {
            let room = max(expected - bytes.count, 64 << 10)
            var count = 0
            let start = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: room))
            bytes.withUnsafeMutableBytes { buffer in
                count = systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
            }
            let failed = count < 0 && errno != EINTR
            bytes.removeLast(room - max(0, count))
            if failed { throw FilesError(.inputOutput, "It cannot be read (\(systemMessage())).") }
            if count == 0 { return bytes }
        }
        throw FilesError(.data, "It has more than \(bytesMax) bytes.")
    }

    /// Whether some program has the file open to write into it, as far as the system tells.
    static func isBeingWritten(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return kith_is_being_written(descriptor) == 1
    }

    static func systemMessage() -> String { String(cString: strerror(errno)) }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
