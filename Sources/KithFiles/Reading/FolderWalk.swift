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

    /// Something that is no file, or has a name that cannot be told.
    struct Oddity: Hashable {
        let path: String
        let words: String
    }

    private(set) var files: [File] = []
    private(set) var oddities: [Oddity] = []
    /// Names of folders that are passed over.
    let skips: (String) -> Bool

    static let linkWords = "It is a symbolic link, which is not followed."
    static let otherWords = "It is neither a file nor a folder."
    static let depthMax = 64
    static let filesMax = 1_000_000

    /// - Parameter skips: whether a folder or file of this name is passed over without a word.
    /// - Throws: ``FilesError`` with code `notFound` if there is no such folder, `inputOutput` if it or one in it cannot be read.
    init(_ root: String, skips: @escaping (String) -> Bool) throws(FilesError) {
        self.skips = skips
        try walk(root, "", 0)
        files.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    private mutating func walk(_ root: String, _ folder: String, _ depth: Int) throws(FilesError) {
        let here = folder.isEmpty ? root : root + "/" + folder
        for name in try Self.names(in: here) {
            guard let name = String(validating: name, as: UTF8.self) else {
                oddities.append(Oddity(path: String(decoding: name, as: UTF8.self), words: "Its name is not UTF-8."))
                continue
            }
            if skips(name) { continue }
            let path = folder.isEmpty ? name : folder + "/" + name
            switch ForeignFile.kind(root + "/" + path) {
            case .file(let stamp):
                guard files.count < Self.filesMax else { throw FilesError(.data, "\(root) has more than \(Self.filesMax) files.") }
                files.append(File(path: path, stamp: stamp))
            case .folder where depth < Self.depthMax: try walk(root, path, depth + 1)
            case .folder: oddities.append(Oddity(path: path, words: "It is more than \(Self.depthMax) folders deep."))
            case .link: oddities.append(Oddity(path: path, words: Self.linkWords))
            case .other: oddities.append(Oddity(path: path, words: Self.otherWords))
            case .missing: continue
            }
        }
    }

    /// The names in a folder, as bytes.
    private static func names(in folder: String) throws(FilesError) -> [[UInt8]] {
        guard let stream = opendir(folder) else {
            throw FilesError(errno == ENOENT ? .notFound : .inputOutput, "\(folder) cannot be read (\(ForeignFile.systemMessage())).")
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
        if errno != 0 { throw FilesError(.inputOutput, "\(folder) cannot be read (\(ForeignFile.systemMessage())).") }
        return names
    }
}
