/// The names that files get as attachments of one note, in the order in which it names them: two files of one name have two names then.
struct AttachmentNames {
    private var names: [FolderPath: String] = [:]
    private var register = NameRegister()

    /// Whether the file has a name yet.
    func contains(_ path: String) -> Bool { names[FolderPath(path)] != nil }

    /// Notes a name that a note itself says.
    mutating func take(_ name: String, for path: String) {
        names[FolderPath(path)] = names[FolderPath(path)] ?? name
        _ = register.take(name)
    }

    /// The name of the file at `path`.
    ///
    /// - Parameter name: what it is called, if that is not the last part of the path.
    mutating func name(of path: String, called name: String? = nil) -> String {
        if let name = names[FolderPath(path)] { return name }
        let name = register.takeFree(name ?? FileName.name(for: path))
        names[FolderPath(path)] = name
        return name
    }
}
