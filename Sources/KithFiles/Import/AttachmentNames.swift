/// The names that files get as attachments of one note. If the note links to several files of one name, each but the first gets a number.
struct AttachmentNames {
    private var names: [FolderPath: String] = [:]
    private var register = NameRegister()

    /// Whether the file at `path` has got a name.
    func contains(_ path: String) -> Bool { names[FolderPath(path)] != nil }

    /// Gives the file at `path` the name that the note's front matter says, unless it has got one.
    mutating func take(_ name: String, for path: String) {
        names[FolderPath(path)] = names[FolderPath(path)] ?? name
        _ = register.take(name)
    }

    /// The name of the file at `path`, which gets one if it has none.
    ///
    /// - Parameter name: the name that it gets if it is free; otherwise the last part of the path.
    mutating func name(of path: String, called name: String? = nil) -> String {
        if let name = names[FolderPath(path)] { return name }
        let name = register.takeFree(name ?? FileName.name(for: path))
        names[FolderPath(path)] = name
        return name
    }
}
