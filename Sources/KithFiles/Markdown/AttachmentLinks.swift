import KithNotes

/// The links of a text to attachments that its file has otherwise. In Kith they say the name that the note has for an attachment, in
/// `attachments/`. In a file they say the name of its file, so that other programs show it and not what another note has under the same
/// name; and in a file that lies in a folder they say the way from there, but for those in the form of a wiki, which need none.
///
/// The front matter says of which files the names are so, by a path that begins with a dot, as in `[[./attachments/image (2).png|image.png]]`,
/// and of which both are, by one more: `[[././../attachments/image.png|image.png]]`.
struct AttachmentLinks {
    private static let mark = "./"
    /// The names of files by those of their attachments, and the other way round; byte by byte.
    private var files: [[UInt8]: String] = [:]
    private var names: [[UInt8]: String] = [:]
    /// What links to them in the text of a file begin with, the likeliest first; empty if they begin as in the note.
    private var folders: [String] = []

    /// Those that have a mark.
    init(_ attachments: [MarkdownNote.Attachment]) {
        for attachment in attachments where attachment.path.utf8.starts(with: Self.mark.utf8) {
            let unmarked = attachment.path.utf8.dropFirst(Self.mark.utf8.count)
            let saysWay = unmarked.starts(with: Self.mark.utf8)
            guard let parts = Self.parts(of: String(Substring(saysWay ? unmarked.dropFirst(Self.mark.utf8.count) : unmarked))) else {
                continue
            }
            if saysWay, !folders.contains(parts.folder) { folders.append(parts.folder) }
            let (fileKey, nameKey) = (Array(parts.name.utf8), Array(attachment.name.utf8))
            guard saysWay || fileKey != nameKey, files[nameKey] == nil, names[fileKey] == nil else { continue }
            (files[nameKey], names[fileKey]) = (parts.name, attachment.name)
        }
    }

    /// Whether all links are in a file as in the note.
    var isEmpty: Bool { files.isEmpty }

    /// A text of a note, as its file has it.
    func inFile(_ text: String) -> String {
        Self.replacing(text, files) { folder in folder == Self.folder ? folders.first ?? folder : folder }
    }

    /// A text of a file, as the note has it.
    func inNote(_ text: String) -> String {
        Self.replacing(text, names) { folder in folders.contains(folder) ? Self.folder : folder }
    }

    /// The attachments of a file whose links say ways of which `isWay` says that they lead to them.
    ///
    /// - Parameter isWay: is given a way, up to the last slash, and the name of a file.
    static func marked(in text: String, where isWay: (_ folder: String, _ name: String) -> Bool) -> [MarkdownNote.Attachment] {
        MarkdownLinks.links(in: text).compactMap { readings in
            readings.lazy.filter { !$0.isWiki }.compactMap { parts(of: $0.path) }.first { $0.folder != folder && isWay($0.folder, $0.name) }
        }.map { MarkdownNote.Attachment(path: "\(mark)\(mark)\($0.folder)\($0.name)", name: $0.name) }
    }

    private static let folder = MarkdownExport.attachmentFolder + "/"

    private static func replacing(_ text: String, _ others: [[UInt8]: String], _ other: (String) -> String) -> String {
        if others.isEmpty { return text }
        return MarkdownLinks.replacing(text) { link in
            let isName = link.isWiki && !link.path.utf8.contains(UInt8(ascii: "/"))
            guard let (folder, name) = isName ? ("", link.path) : parts(of: link.path), let new = others[Array(name.utf8)] else {
                return nil
            }
            let path = (link.isWiki ? folder : other(folder)) + new
            // A path that stays may be written in more than one way.
            return path.utf8.elementsEqual(link.path.utf8) ? nil : path
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
        guard rest.starts(with: folder.utf8), rest.count > folder.utf8.count else { return nil }
        rest = rest.dropFirst(folder.utf8.count)
        return (String(Substring(path.utf8[..<rest.startIndex])), String(Substring(rest)))
    }
}

extension MarkdownNote {
    /// Has the links to attachments say the names of files, unless the text could not be read again as it is.
    ///
    /// - Parameter withWay: whether they say the way there, too, if they can.
    mutating func nameFilesInLinks(withWay: Bool = false) {
        var seen: Set<[UInt8]> = []
        // Of several of one name, links mean the first.
        let isFirst = attachments.map { seen.insert(Array($0.name.utf8)).inserted }
        for saysWay in withWay ? [true, false] : [false] {
            let marked = zip(attachments, isFirst).map { $1 ? $0.marked(saysWay) : $0 }
            let links = AttachmentLinks(marked)
            let text = links.inFile(body)
            if text.utf8.count <= max(body.utf8.count, NoteLimits.bodyBytesMax), links.inNote(text).utf8.elementsEqual(body.utf8) {
                (body, attachments) = (text, marked)
                return
            }
        }
    }
}

extension MarkdownNote.Attachment {
    /// The same with a mark, if its file has another name, or is not in a folder beside the text.
    fileprivate func marked(_ saysWay: Bool) -> Self {
        if saysWay, path.utf8.starts(with: "../".utf8) { return Self(path: "././" + path, name: name) }
        let isSame = RelativePath.name(of: path).utf8.elementsEqual(name.utf8)
        return isSame ? self : Self(path: "./" + path, name: name)
    }
}
