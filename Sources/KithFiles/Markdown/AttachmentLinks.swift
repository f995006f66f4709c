import KithNotes

/// The links of a text to attachments whose files are called otherwise. In Kith they say the name that the note has for an attachment; in a
/// file they say the name of its file, so that other programs show it and not what another note has under the same name.
///
/// The front matter says of which files this is so, by a path that begins with a dot: `[[./attachments/image (2).png|image.png]]`.
struct AttachmentLinks {
    private static let mark = "./"
    /// The names of files by those of their attachments, and the other way round; byte by byte.
    private var files: [[UInt8]: String] = [:]
    private var names: [[UInt8]: String] = [:]

    /// Those that have the mark.
    init(_ attachments: [MarkdownNote.Attachment]) {
        for attachment in attachments where attachment.path.utf8.starts(with: Self.mark.utf8) {
            guard let file = Self.parts(of: attachment.path)?.name else { continue }
            let (fileKey, nameKey) = (Array(file.utf8), Array(attachment.name.utf8))
            guard fileKey != nameKey, files[nameKey] == nil, names[fileKey] == nil else { continue }
            (files[nameKey], names[fileKey]) = (file, attachment.name)
        }
    }

    /// Whether all links are in a file as in the note.
    var isEmpty: Bool { files.isEmpty }

    /// A text of a note, as its file has it.
    func inFile(_ text: String) -> String { Self.replacing(text, files) }

    /// A text of a file, as the note has it.
    func inNote(_ text: String) -> String { Self.replacing(text, names) }

    private static func replacing(_ text: String, _ others: [[UInt8]: String]) -> String {
        if others.isEmpty { return text }
        return MarkdownLinks.replacing(text) { link in
            let isName = link.isWiki && !link.path.utf8.contains(UInt8(ascii: "/"))
            guard let (folder, name) = isName ? ("", link.path) : parts(of: link.path) else { return nil }
            return others[Array(name.utf8)].map { folder + $0 }
        }
    }

    /// Whether a path leads to the folder of attachments.
    static func isOne(_ path: String) -> Bool { parts(of: path) != nil }

    /// A path to the folder of attachments as from the folder that has it; `nil` for a path to something else.
    static func outermost(_ path: String) -> String? { parts(of: path).map { "\(MarkdownExport.attachmentFolder)/\($0.name)" } }

    /// The way to the folder of attachments, and what is behind it; `nil` for a path to something else.
    private static func parts(of path: String) -> (folder: String, name: String)? {
        var rest = path.utf8[...]
        while let up = ["../", "./"].first(where: { rest.starts(with: $0.utf8) }) { rest = rest.dropFirst(up.utf8.count) }
        let folder = MarkdownExport.attachmentFolder + "/"
        guard rest.starts(with: folder.utf8), rest.count > folder.utf8.count else { return nil }
        rest = rest.dropFirst(folder.utf8.count)
        return (String(Substring(path.utf8[..<rest.startIndex])), String(Substring(rest)))
    }
}

extension MarkdownNote {
    /// Has the links to attachments say the names of files, unless the text could not be read again as it is.
    mutating func nameFilesInLinks() {
        var seen: Set<[UInt8]> = []
        // Of several of one name, links mean the first.
        let marked = attachments.map { attachment in
            let isFirst = seen.insert(Array(attachment.name.utf8)).inserted
            return isFirst ? attachment.marked : attachment
        }
        let links = AttachmentLinks(marked)
        if links.isEmpty { return }
        let text = links.inFile(body)
        guard text.utf8.count <= max(body.utf8.count, NoteLimits.bodyBytesMax), links.inNote(text).utf8.elementsEqual(body.utf8) else {
            return
        }
        (body, attachments) = (text, marked)
    }
}

extension MarkdownNote.Attachment {
    /// The same with the mark, if its file has another name.
    fileprivate var marked: Self {
        let isSame = RelativePath.name(of: path).utf8.elementsEqual(name.utf8)
        return isSame ? self : Self(path: "./" + path, name: name)
    }
}
