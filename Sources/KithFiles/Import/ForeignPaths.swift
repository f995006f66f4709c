/// The files of a folder that another program has made, found by what links say: a file system may have written the accents of a name in
/// another form than the program that linked to it, as those of Apple do.
struct ForeignPaths {
    /// Texts with the same accents in two forms are equal.
    private let byPath: [String: [String]]
    private let byName: [String: [String]]
    /// By what file systems take for one name.
    private let byKey: [String: [String]]

    init(_ paths: [String]) {
        byPath = Dictionary(grouping: paths) { $0 }
        byName = Dictionary(grouping: paths, by: RelativePath.name)
        byKey = Dictionary(grouping: paths) { FileName.key(RelativePath.name(of: $0)) }
    }

    /// The path of the file that is meant, as the file system has it.
    func file(at path: String) -> String? { byPath[path].flatMap { Self.nearest(path, in: $0) { $0 } } }

    /// The file of this name, wherever it is.
    func file(named name: String) -> String? { byName[name].flatMap { Self.nearest(name, in: $0, RelativePath.name) } }

    /// The file whose path ends so, with capital letters or without. Of several, the one that is in the fewest folders.
    func file(endingIn path: String) -> String? {
        let end = "/" + FileName.key(path)
        let found = (byKey[FileName.key(RelativePath.name(of: path))] ?? []).filter { file in
            "/\(FileName.key(file))".utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
        }
        return found.min { RelativePath.names(of: $0).count < RelativePath.names(of: $1).count }
    }

    /// The one that is written the same way, byte by byte, if there is one.
    private static func nearest(_ text: String, in paths: [String], _ part: (String) -> String) -> String? {
        paths.first { part($0).utf8.elementsEqual(text.utf8) } ?? paths.first
    }
}
