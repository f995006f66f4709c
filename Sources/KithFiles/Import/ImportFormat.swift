import Foundation

/// What `kith import` recognises.
enum ImportFormat: String, CaseIterable, Sendable {
    /// A folder of Markdown files and plain text, or one such file.
    case markdown
    /// JSON lines that Kith wrote.
    case lines
    /// Joplin's own format, unpacked.
    case joplin
    /// Notes of Google Keep from a Takeout: a folder, or one file.
    case keep
    /// An export of Evernote.
    case evernote
    /// An archive with one of these in it: JEX of Joplin, or a Takeout as it is downloaded.
    case archive

    /// The format of what is at `path`.
    ///
    /// - Throws: ``FilesError`` with code `notFound`; `inputOutput` if it may not be read; `data` if it is nothing that can be imported.
    static func recognise(_ path: String) throws(FilesError) -> ImportFormat {
        switch ForeignFile.kind(path) {
        case .missing: throw FilesError(.notFound, "There is no file or folder \(path).")
        case .link: throw FilesError(.data, "\(path) is a symbolic link. Name what it leads to.")
        case .other: throw FilesError(.data, "\(path) is neither a file nor a folder.")
        case .hidden(let words): throw FilesError(.inputOutput, "\(path): \(words)")
        case .folder:
            if JoplinFolder.isOne(path) { return .joplin }
            return KeepFolder.place(in: path) == nil ? .markdown : .keep
        case .file: _ = try ForeignFile.requireFile(path)
        }
        if MarkdownFolder.isNote(path) { return .markdown }
        if JSONLinesFile.isOne(path) { return .lines }
        if KeepFolder.isNote(path) { return .keep }
        if EvernoteFile.isOne(path) { return .evernote }
        if Archive.isOne(path) { return .archive }
        if NotesBackup.isSealed(path) { throw isBackup(path) }
        throw FilesError(.data, "\(path) is nothing that can be imported, or damaged. \(known)")
    }

    private static let known = """
        Known are: Markdown, text and HTML, as files or folders; exports of Joplin (JEX), Google Keep (Takeout) and Evernote (ENEX); JSON \
        lines of Kith.
        """

    /// The import has found no note at `path`.
    static func nothing(in path: String) -> FilesError {
        FilesError(.data, "There is no note in \(path). \(known)")
    }

    static func isBackup(_ path: String) -> FilesError {
        FilesError(.data, "\(path) is a backup of Kith. It takes the place of notes that are lost: kith restore")
    }
}
