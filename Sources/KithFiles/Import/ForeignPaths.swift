/// The files of a folder that another program has made, found by what links say: a file system may have written the accents of a name in
/// another form than the program that linked to it, as those of Apple do.
struct ForeignPaths {
    /// Texts with the same accents in two forms are equal.
    private let byPath: [String: [String]]
    private let byName: [String: [String]]
    /// By each end of a path, the file in the fewest folders; case and the form of accents do not count. Its keys are parts of one text for
    /// each file.
    private var byEnd: [Substring: String] = [:]

    /// So many names of folders and files an end has at most: an archive may have thousands of paths with hundreds of folders each.
    private static let endNamesMax = 16

    /// - Parameter ends: those that are also found by the end of their path.
    init(_ paths: [String], ends: [String] = []) {
        byPath = Dictionary(grouping: paths) { $0 }
        byName = Dictionary(grouping: paths, by: RelativePath.name)
        for (path, _) in ends.map({ ($0, RelativePath.names(of: $0).count) }).sorted(by: { $0.1 < $1.1 }) {
            let key = FileName.key(path)
            var slash: String.Index? = key.endIndex
            for _ in 0..<Self.endNamesMax {
                guard let end = slash else { break }
                slash = key.utf8[..<end].lastIndex(of: UInt8(ascii: "/"))
                let part = key[(slash.map(key.utf8.index(after:)) ?? key.startIndex)...]
                if byEnd[part] == nil { byEnd[part] = path }
            }
        }
    }

    /// The path of the file that is meant, as the file system has it.
    func file(at path: String) -> String? { byPath[path].flatMap { Self.nearest(path, in: $0) { $0 } } }

    /// The file of this name, wherever it is.
    func file(named name: String) -> String? { byName[name].flatMap { Self.nearest(name, in: $0, RelativePath.name) } }

    /// The file whose path ends so, with capital letters or without. Of several, the one that is in the fewest folders.
    func file(endingIn path: String) -> String? { byEnd[FileName.key(path)[...]] }

    /// The one that is written the same way, byte by byte, if there is one.
    private static func nearest(_ text: String, in paths: [String], _ part: (String) -> String) -> String? {
        paths.first { part($0).utf8.elementsEqual(text.utf8) } ?? paths.first
    }
}
