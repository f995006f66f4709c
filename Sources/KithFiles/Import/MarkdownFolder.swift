import Foundation
import KithNotes

/// Reads a folder of Markdown files and plain text: our own export, a vault of Obsidian, or any other.
struct MarkdownFolder {
    let root: String
    private let walk: FolderWalk
    private let paths: ForeignPaths
    private let isVault: Bool
    /// Whether it is an export of Joplin as Markdown.
    private let isJoplin: Bool
    /// How each file is called as an attachment: links in notes name it so.
    private var names: [FolderPath: String] = [:]
    private var register = NameRegister()
    private var used: Set<FolderPath> = []
    /// The only note that is read; `nil` for all.
    private var only: FolderPath?

    static let noteEndings: Set<String> = ["md", "markdown", "txt", "html", "htm"]
    static let trashFolder = ".trash"

    /// - Throws: ``FilesError`` if the folder cannot be read.
    init(_ root: String) throws(FilesError) {
        self.root = root
        walk = try FolderWalk(root) { $0.hasPrefix(".") && $0 != Self.trashFolder }
        paths = ForeignPaths(walk.files.map(\.path))
        isJoplin = ForeignFile.kind(root + "/_resources") == .folder
        isVault = ForeignFile.kind(root + "/.obsidian") == .folder
    }

    /// One file, with what it links to beside it.
    ///
    /// - Throws: ``FilesError`` if the file's folder cannot be read.
    init(file: String) throws(FilesError) {
        let url = URL(filePath: file)
        try self.init(url.deletingLastPathComponent().path)
        only = FolderPath(paths.file(at: url.lastPathComponent) ?? url.lastPathComponent)
    }

    /// Hands every note to `importer`.
    mutating func read(into importer: NoteImport) throws {
        if only == nil { for oddity in walk.oddities { importer.report.remark(oddity.path, oddity.words) } }
        // What lies among the attachments is a note only if it is no attachment, which the other notes say.
        let candidates = walk.files.filter { file in only.map { $0 == FolderPath(file.path) } ?? Self.isNote(file.path) }
        let isAttachment = { (file: FolderWalk.File) in file.path.hasPrefix(MarkdownExport.attachmentFolder + "/") }
        for file in candidates.filter({ !isAttachment($0) }) + candidates.filter(isAttachment) where !used.contains(FolderPath(file.path)) {
            do {
                try importer.add(try note(file, importer))
            } catch let error as FilesError {
                importer.report.remark(file.path, error.message)
            }
        }
        if only == nil { remarkLeftFiles(importer) }
    }

    /// Files that are named of those that are left out.
    private static let leftNamed = 5

    private func remarkLeftFiles(_ importer: NoteImport) {
        let left = walk.files.map(\.path).filter { !Self.isNote($0) && !used.contains(FolderPath($0)) }
        if left.isEmpty { return }
        let files =
            left.count == 1
            ? "1 file that is no note, and that no note has or links to, was"
            : "\(left.count) files that are no notes, and that no note has or links to, were"
        let names = left.prefix(Self.leftNamed).joined(separator: ", ")
        let more = left.count > Self.leftNamed ? " and \(left.count - Self.leftNamed) more" : ""
        importer.report.remark(root, "\(files) left out: \(names)\(more).", isLeftOut: false)
    }

    static func isNote(_ path: String) -> Bool {
        FileName.parts(RelativePath.name(of: path)).ending.map { noteEndings.contains($0.lowercased()) } ?? false
    }

    private mutating func note(_ file: FolderWalk.File, _ importer: NoteImport) throws -> ForeignNote {
        let (stem, ending) = FileName.parts(RelativePath.name(of: file.path))
        if let ending, HTMLNote.endings.contains(ending.lowercased()) { return try htmlNote(file, importer) }
        let bytes = try ForeignFile.read(root + "/" + file.path, bytesMax: MarkdownNote.bytesMax)
        var parsed = try MarkdownNote(bytes)
        // Joplin parts its front matter from the text with an empty line.
        if isJoplin, parsed.id == nil, parsed.title != nil, parsed.body.hasPrefix("\n") { parsed.body.removeFirst() }
        var note = ForeignNote(origin: file.path, title: parsed.title ?? stem, body: parsed.body)
        if parsed.hasBrokenFrontMatter {
            importer.report.remark(file.path, "Its front matter cannot be read as YAML, and was kept as text.", isLeftOut: false)
        }
        note.id = parsed.id
        note.tags = parsed.tags
        note.color = parsed.color ?? .none
        note.isPinned = parsed.isPinned ?? false
        note.updatedMilliseconds = parsed.updatedMilliseconds ?? parsed.createdMilliseconds ?? file.stamp.modifiedMilliseconds
        note.createdMilliseconds = parsed.createdMilliseconds
        note.isTrashed = parsed.deletedMilliseconds != nil || file.path.hasPrefix(Self.trashFolder + "/")
        try takeAttachments(of: parsed, &note, importer)
        // Our own links and tags are as they should be.
        if parsed.id.map(Self.isOurs) == true || !parsed.attachments.isEmpty {
            note.body = AttachmentLinks(parsed.attachments).inNote(parsed.body)
        } else {
            note.hasForeignTags = true
            if isVault { note.tags += InlineTags.tags(in: parsed.body) }
            takeLinks(&note)
            note.tags += importer.tags(ofFolder: Self.folder(of: file.path))
        }
        return note
    }

    /// Whether Kith makes ids like this one, of version 7 or 8 (RFC 9562). Other programs know an entry `id`, too.
    private static func isOurs(_ id: UUID) -> Bool { [7, 8].contains(id.uuid.6 >> 4) }

    private mutating func htmlNote(_ file: FolderWalk.File, _ importer: NoteImport) throws -> ForeignNote {
        var note = try HTMLNote.note(root, file.path)
        note.updatedMilliseconds = file.stamp.modifiedMilliseconds
        takeLinks(&note)
        note.tags += importer.tags(ofFolder: Self.folder(of: file.path))
        return note
    }

    /// The folder of a note; `nil` for the trash.
    private static func folder(of path: String) -> String? {
        path.hasPrefix(trashFolder + "/") ? nil : String(RelativePath.folder(of: path))
    }

    /// The files that the front matter names.
    private mutating func takeAttachments(of parsed: MarkdownNote, _ note: inout ForeignNote, _ importer: NoteImport) throws {
        for attachment in parsed.attachments {
            let named = RelativePath.resolved(attachment.path, in: RelativePath.folder(of: note.origin))
            guard let path = named.flatMap(paths.file(at:)) else {
                importer.report.remark(note.origin, "Its attachment \u{201C}\(attachment.path)\u{201D} is not there.", isLeftOut: false)
                continue
            }
            used.insert(FolderPath(path))
            note.attachments.append(ForeignNote.Attachment(name: attachment.name, source: .file(path: root + "/" + path)))
        }
    }

    /// Files that the text links to are attached, and the links lead to where an export will put them.
    private mutating func takeLinks(_ note: inout ForeignNote) {
        var taken: Set<FolderPath> = []
        let origin = note.origin
        var attachments: [ForeignNote.Attachment] = []
        note.body = MarkdownLinks.replacing(note.body) { link in
            guard let path = target(of: link, in: RelativePath.folder(of: origin)) else { return nil }
            let name = attachmentName(of: path)
            if taken.insert(FolderPath(path)).inserted {
                attachments.append(ForeignNote.Attachment(name: name, source: .file(path: root + "/" + path)))
            }
            let isSame = link.isWiki && RelativePath.name(of: link.path).utf8.elementsEqual(name.utf8)
            return isSame ? nil : "\(MarkdownExport.attachmentFolder)/\(name)"
        }
        note.attachments += attachments
    }

    /// The file that a link means, if it is one that is no note.
    private mutating func target(of link: MarkdownLinks.Link, in folder: Substring) -> String? {
        var found = RelativePath.resolved(link.path, in: folder).flatMap(paths.file(at:))
        if found == nil, let path = RelativePath.resolved(link.path, in: "") {
            found = paths.file(at: path) ?? (link.isWiki ? paths.file(named: link.path) : nil)
        }
        guard let found, !Self.isNote(found) else { return nil }
        used.insert(FolderPath(found))
        return found
    }

    private mutating func attachmentName(of path: String) -> String {
        if let name = names[FolderPath(path)] { return name }
        let name = register.takeFree(FileName.name(for: path))
        names[FolderPath(path)] = name
        return name
    }
}
