import CFileFormats
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The regular files below a folder, in the order of their paths; links are not followed.
struct FolderWalk {
    /// A regular file.
    struct File: Hashable {
        /// From the folder, with `/` between the names.
        let path: String
        let stamp: FileStamp
    }

    /// Something that is no file, has a name that cannot be told, or cannot be looked into.
    struct Oddity: Hashable {
        let path: String
        let words: String
        /// Whether something else has taken the place of what was there, which may be elsewhere now; otherwise it may be there still.
        var isOther = false
    }

    private(set) var files: [File] = []
    private(set) var oddities: [Oddity] = []
    /// Names of folders that are passed over.
    let skips: (String) -> Bool

    static let linkWords = "It is a symbolic link, which is not followed."
    static let nameWords = "Its name is not UTF-8."
    static let otherWords = "It is neither a file nor a folder."
    static let diskWords = "It is on another disk, and is passed over."
    static let depthMax = 64
    static let filesMax = 1_000_000

    /// - Parameters:
    ///   - staysOnDisk: whether a folder in it that is on another disk is an oddity.
    ///   - skips: whether a folder or file of this name is passed over without a word.
    /// - Throws: ``FilesError`` with code `notFound` if there is no such folder, `inputOutput` if it cannot be read. One in it that cannot
    ///   be read is an oddity.
    init(_ root: String, staysOnDisk: Bool = false, skips: @escaping (String) -> Bool) throws(FilesError) {
        self.skips = skips
        let found = Self.look(into: root, isRoot: true) { descriptor throws(Refusal) in
            (device: try Self.device(descriptor), names: try Self.names(descriptor))
        }
        switch found {
        case .success(let found): try walk(root, "", found.names, staysOnDisk ? found.device : nil, 0)
        case .failure(let error):
            throw FilesError(error.number == ENOENT ? .notFound : .inputOutput, "\(root) cannot be read (\(error.words)).")
        }
        files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// - Parameter device: the disk that is not left; `nil` if any may be walked.
    private mutating func walk(
        _ root: String, _ folder: String, _ names: [[UInt8]], _ device: dev_t?, _ depth: Int
    ) throws(FilesError) {
        for name in names {
            guard let name = String(validating: name, as: UTF8.self) else {
                let shown = String(decoding: name, as: UTF8.self)
                oddities.append(Oddity(path: folder.isEmpty ? shown : "\(folder)/\(shown)", words: Self.nameWords))
                continue
            }
            if skips(name) { continue }
            let path = folder.isEmpty ? name : folder + "/" + name
            switch ForeignFile.kind(root + "/" + path) {
            case .file(let stamp):
                guard files.count < Self.filesMax else { throw FilesError(.data, "\(root) has more than \(Self.filesMax) files.") }
                files.append(File(path: path, stamp: stamp))
            case .folder where depth < Self.depthMax:
                let found = Self.look(into: root + "/" + path) { descriptor throws(Refusal) in
                    let here = try Self.device(descriptor)
                    return device == nil || device == here ? try Self.names(descriptor) : nil
                }
                switch found {
                case .success(let names?): try walk(root, path, names, device, depth + 1)
                case .success(nil): oddities.append(Oddity(path: path, words: Self.diskWords))
                // It has gone since.
                case .failure(let error) where error.number == ENOENT: continue
                case .failure(let error): oddities.append(Oddity(path: path, words: Self.words(error)))
                }
            case .folder: oddities.append(Oddity(path: path, words: Self.depthWords))
            case .link: oddities.append(Oddity(path: path, words: Self.linkWords, isOther: true))
            case .other: oddities.append(Oddity(path: path, words: Self.otherWords, isOther: true))
            case .hidden(let words): oddities.append(Oddity(path: path, words: words))
            case .missing: continue
            }
        }
    }

    private static let depthWords = "It is more than \(depthMax) folders deep."

    /// What the system says of a folder that cannot be looked into.
    private struct Refusal: Error {
        let number = errno
        let words = ForeignFile.systemMessage()
    }

    private static func words(_ refusal: Refusal) -> String { "It cannot be read (\(refusal.words))." }

    /// Opens a folder; one that is a link now is not followed, but for the outermost.
    private static func look<Found>(
        into folder: String, isRoot: Bool = false, _ body: (Int32) throws(Refusal) -> Found
    ) -> Result<Found, Refusal> {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isRoot ? 0 : O_NOFOLLOW))
        if descriptor < 0 { return .failure(Refusal()) }
        defer { close(descriptor) }
        do throws(Refusal) { return .success(try body(descriptor)) } catch { return .failure(error) }
    }

    /// The disk of a folder that may be entered.
    private static func device(_ folder: Int32) throws(Refusal) -> dev_t {
        var status = stat()
        // Without the dot, the system would not ask whether it may be entered.
        if fstatat(folder, ".", &status, 0) != 0 { throw Refusal() }
        return status.st_dev
    }

    /// The names in a folder, as bytes.
    private static func names(_ folder: Int32) throws(Refusal) -> [[UInt8]] {
        let descriptor = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else {
            let refusal = Refusal()
            if descriptor >= 0 { close(descriptor) }
            throw refusal
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        errno = 0
        while let entry = readdir(stream) {
            guard let bytes = kith_entry_name(entry) else { continue }
            let name = [UInt8](UnsafeRawBufferPointer(start: bytes, count: strlen(bytes)))
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
            errno = 0
        }
        // A folder that breaks off half-way must not look like one with fewer files.
        if errno != 0 { throw Refusal() }
        return names
    }

    /// What a walk of `root` that stays on its disk would find odd on the way to `path`; `nil` if it would get there, or nothing is there.
    static func oddity(above path: String, in root: String) -> Oddity? {
        let names = RelativePath.names(of: path).dropLast()
        if names.isEmpty { return nil }
        let disk = look(into: root, isRoot: true, device)
        var folder = ""
        for (depth, name) in names.enumerated() {
            folder += folder.isEmpty ? name : "/" + name
            switch ForeignFile.kind(root + "/" + folder) {
            case .folder where depth < depthMax:
                switch look(into: root + "/" + folder, device) {
                case .success(let here):
                    if case .success(let disk) = disk, here != disk { return Oddity(path: folder, words: diskWords) }
                case .failure(let error) where error.number == ENOENT: return nil
                case .failure(let error): return Oddity(path: folder, words: words(error))
                }
            case .folder: return Oddity(path: folder, words: depthWords)
            case .link: return Oddity(path: folder, words: linkWords, isOther: true)
            case .other: return Oddity(path: folder, words: otherWords, isOther: true)
            case .hidden(let words): return Oddity(path: folder, words: words)
            // Nothing can be below a file.
            case .missing, .file: return nil
            }
        }
        return nil
    }
}
