/// Reads notes that were exported as HTML: from Apple's Notes, or any other program.
enum HTMLNote {
    static let endings: Set<String> = ["html", "htm"]
    private static let bytesMax = 16 << 20

    /// - Throws: ``FilesError`` if it cannot be read, or is no text.
    static func note(_ root: String, _ path: String) throws(FilesError) -> ForeignNote {
        let bytes = try ForeignFile.read("\(root)/\(path)", bytesMax: bytesMax)
        if bytes.contains(0) { throw FilesError(.data, "It contains a NUL, so it is not text.") }
        if String(validating: bytes, as: UTF8.self) == nil {
            throw FilesError(.data, "It is not text in UTF-8. Convert it first, for instance with iconv.")
        }
        var pictures = EmbeddedPictures()
        let (title, text) = HTMLMarkdown.read(bytes) { pictures.keep($0) }
        let stem = FileName.parts(RelativePath.name(of: path)).stem
        var note = ForeignNote(origin: path, title: ForeignNote.line(title ?? stem), body: text)
        note.attachments = pictures.attachments
        return note
    }
}
