import Foundation
import KithNotes

/// Reads a folder of Markdown files and plain text: our own export, a vault of Obsidian, or any other.
struct MarkdownFolder {
    let root: String
    private let walk: FolderWalk
    private let paths: ForeignPaths
    /// The folders that are vaults of Obsidian; the outermost folder is the empty path.
    private let vaults: Set<String>
    /// Whether it is an export of Joplin as Markdown.
    private let isJoplin: Bool
    /// The names that earlier versions gave the files as attachments.
    private var formerNames = AttachmentNames()
    private var used: Set<FolderPath> = []
    /// The only note that is read; `nil` for all.
    private var only: FolderPath?
    /// The folder of an archive that all of this lies in, which is no part of a note's origin any more; `nil` for none.
    private let outer: String?

    static let noteEndings: Set<String> = ["md", "markdown", "txt", "html", "htm"]
    static let trashFolder = ".trash"

    /// - Throws: ``FilesError`` if the folder cannot be read.
    init(_ root: String, outer: String? = nil) throws(FilesError) {
        (self.root, self.outer) = (root, outer)
        walk = try FolderWalk(root) { $0.hasPrefix(".") && $0 != Self.trashFolder }
        isJoplin = ForeignFile.kind(root + "/_resources") == .folder
        vaults = Set(Self.folders(of: walk.files).filter { ForeignFile.kind("\(root)/\($0)/.obsidian") == .folder })
        let all = walk.files.map(\.path)
        // As Obsidian does.
        paths = ForeignPaths(all, ends: vaults.isEmpty ? [] : all.filter { !Self.isNote($0) })
    }

    /// One file, with what it links to beside it, or in its vault.
    ///
    /// - Throws: ``FilesError`` if the file's folder or vault cannot be read.
    init(file: String) throws(FilesError) {
        let url = URL(filePath: file)
        let folder = url.deletingLastPathComponent()
        let root = Self.vault(around: folder) ?? folder
        try self.init(root.path)
        let path = url.pathComponents.dropFirst(root.pathComponents.count).joined(separator: "/")
        only = FolderPath(paths.file(at: path) ?? path)
    }

    /// The outermost vault that a folder is in, as an import of that vault would find it. The home and what is around it are none.
    private static func vault(around folder: URL) -> URL? {
        let home = FileManager.default.homeDirectoryForCurrentUser.standardizedFileURL.path
        var (folder, found): (URL, URL?) = (folder, nil)
        while folder.path != "/", folder.path != home {
            if ForeignFile.kind(folder.path + "/.obsidian") == .folder { found = folder }
            folder.deleteLastPathComponent()
        }
        return found
    }

    /// The folders that files are in, with those around them.
    private static func folders(of files: [FolderWalk.File]) -> Set<String> {
        var folders: Set<String> = [""]
        for file in files {
            var folder = RelativePath.folder(of: file.path)
            while folders.insert(String(folder)).inserted { folder = RelativePath.folder(of: String(folder)) }
        }
        return folders
    }

    /// The innermost vault that a file is in.
    private func vault(of path: String) -> Substring? {
        if vaults.isEmpty { return nil }
        var folder = RelativePath.folder(of: path)
        while !vaults.contains(String(folder)) {
            if folder.isEmpty { return nil }
            folder = RelativePath.folder(of: String(folder))
        }
        return folder
    }

    private static func isTrash(_ path: String) -> Bool { RelativePath.names(of: path).dropLast().contains(trashFolder) }

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
        let left = walk.files.map(\.path).filter { !Self.isNote($0) && !used.contains(FolderPath($0)) && !describesBundle($0) }
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
        let isParted = isJoplin && parsed.id == nil && parsed.title != nil && parsed.body.hasPrefix("\n")
        if isParted { parsed.body.removeFirst() }
        var note = ForeignNote(origin: file.path, title: parsed.title ?? bundle(of: file.path) ?? stem, body: parsed.body)
        // Earlier versions knew no bundles.
        if parsed.title == nil, !note.title.utf8.elementsEqual(stem.utf8) { note.formerTitle = stem }
        // Nor the vault around a file that is imported by itself.
        if only != nil, file.path.utf8.contains(UInt8(ascii: "/")) { note.formerOrigin = RelativePath.name(of: file.path) }
        if let outer { note.formerOrigin = "\(outer)/\(file.path)" }
        if parsed.hasBrokenFrontMatter {
            importer.report.remark(file.path, "Its front matter cannot be read as YAML, and was kept as text.", isLeftOut: false)
        }
        note.id = parsed.id
        note.tags = parsed.tags
        note.color = parsed.color ?? .none
        note.isPinned = parsed.isPinned ?? false
        note.updatedMilliseconds = parsed.updatedMilliseconds ?? parsed.createdMilliseconds ?? file.stamp.modifiedMilliseconds
        note.createdMilliseconds = parsed.createdMilliseconds
        note.zonelessCreatedMilliseconds = parsed.zonelessCreatedMilliseconds
        note.isTrashed = parsed.deletedMilliseconds != nil || Self.isTrash(file.path)
        let names = try takeAttachments(of: parsed, &note, importer)
        // In a file that Kith has written, links lead to attachments already, and tags are Kith's.
        if parsed.id.map({ Self.isOurs($0) || !parsed.attachments.isEmpty }) == true {
            note.body = AttachmentLinks(parsed.attachments).inNote(parsed.body)
        } else {
            note.hasForeignTags = true
            if vault(of: file.path) != nil { note.tags += InlineTags.tags(in: parsed.body) }
            let former = former(bytes, parsed, stem)
            for path in former?.otherAttachments ?? [] where find(MarkdownLinks.Link(path: path, isWiki: true), in: file.path) == nil {
                Self.remarkMissing(path, note.origin, importer)
            }
            takeLinks(&note, names, former, importer)
            note.tags += importer.tags(ofFolder: Self.folder(of: file.path))
            // Earlier versions took it for no export of Joplin then.
            if isParted, outer != nil {
                note.formerBodies = (note.formerBodies.isEmpty ? [note.body] : note.formerBodies) + ["\n" + parsed.body]
            }
        }
        return note
    }

    /// The name of the TextBundle that a file is the text of, such as Bear writes; `nil` for any other file.
    private func bundle(of path: String) -> String? {
        let folder = RelativePath.folder(of: path)
        let (stem, ending) = FileName.parts(RelativePath.name(of: folder.isEmpty ? root : String(folder)))
        let isText = FileName.parts(RelativePath.name(of: path)).stem == "text"
        return isText && ending?.lowercased() == "textbundle" ? stem : nil
    }

    private func describesBundle(_ path: String) -> Bool {
        RelativePath.names(of: "\(root)/\(path)").suffix(2).joined(separator: "/").lowercased().hasSuffix(".textbundle/info.json")
    }

    /// What earlier versions of Kith read in a file without an id.
    private struct Former {
        let title: String
        let body: String
        /// Whether they found attachments in the front matter. Then they left all links of the text as they were.
        let hasAttachments: Bool
        /// The paths of files that another program listed, and that they took for Kith's attachments.
        let otherAttachments: [String]
    }

    /// - Returns: `nil` if earlier versions read the same as this one.
    private func former(_ bytes: [UInt8], _ parsed: MarkdownNote, _ stem: String) -> Former? {
        // Only if front matter is left in the text, earlier versions may have read something else in it.
        let isLeft = ["-", "\u{FEFF}"].contains(parsed.body.unicodeScalars.first)
        guard parsed.id == nil, isLeft || !parsed.attachments.isEmpty, var former = try? MarkdownNote(former: bytes) else { return nil }
        if isJoplin, former.title != nil, former.body.hasPrefix("\n") { former.body.removeFirst() }
        let body = AttachmentLinks(former.attachments).inNote(former.body)
        let isSame = former.title == parsed.title && former.body.utf8.elementsEqual(parsed.body.utf8)
        if isSame, former.attachments.isEmpty { return nil }
        let others = former.attachments.filter { !parsed.attachments.contains($0) }.map(\.path)
        return Former(title: former.title ?? stem, body: body, hasAttachments: !former.attachments.isEmpty, otherAttachments: others)
    }

    /// Whether Kith makes ids like this one, of version 7 or 8 (RFC 9562). Other programs know an entry `id`, too.
    private static func isOurs(_ id: UUID) -> Bool { [7, 8].contains(id.uuid.6 >> 4) }

    private mutating func htmlNote(_ file: FolderWalk.File, _ importer: NoteImport) throws -> ForeignNote {
        var note = try HTMLNote.note(root, file.path)
        note.updatedMilliseconds = file.stamp.modifiedMilliseconds
        if let outer { note.formerOrigin = "\(outer)/\(file.path)" }
        takeLinks(&note, AttachmentNames(), nil, importer)
        note.tags += importer.tags(ofFolder: Self.folder(of: file.path))
        return note
    }

    /// The folder of a note; `nil` for the trash.
    private static func folder(of path: String) -> String? {
        isTrash(path) ? nil : String(RelativePath.folder(of: path))
    }

    /// The files that the front matter names.
    private mutating func takeAttachments(
        of parsed: MarkdownNote, _ note: inout ForeignNote, _ importer: NoteImport
    ) throws -> AttachmentNames {
        var names = AttachmentNames()
        for attachment in parsed.attachments {
            let named = RelativePath.resolved(attachment.path, in: RelativePath.folder(of: note.origin))
            // Or it says it as before it was moved to another folder.
            guard let path = named.flatMap(paths.file(at:)) ?? AttachmentLinks.outermost(attachment.path).flatMap(paths.file(at:)) else {
                Self.remarkMissing(attachment.path, note.origin, importer)
                continue
            }
            used.insert(FolderPath(path))
            names.take(attachment.name, for: path)
            note.attachments.append(ForeignNote.Attachment(name: attachment.name, source: .file(path: root + "/" + path)))
        }
        return names
    }

    private static func remarkMissing(_ path: String, _ origin: String, _ importer: NoteImport) {
        importer.report.remark(origin, "Its attachment \u{201C}\(path)\u{201D} is not there.", isLeftOut: false)
    }

    /// Files that the text links to are attached, and the links lead to where an export will put them.
    ///
    /// - Parameters:
    ///   - own: the names of files that are attached already.
    ///   - former: what earlier versions read in the file; `nil` if they read the same.
    private mutating func takeLinks(_ note: inout ForeignNote, _ own: AttachmentNames, _ former: Former?, _ importer: NoteImport) {
        let origin = note.origin
        var (names, attachments, text) = (own, [ForeignNote.Attachment](), note.body)
        var (isLinked, outside) = (false, [String]())
        note.body = MarkdownLinks.replacing(text) { link in
            guard let path = target(of: link, in: origin) else {
                if only != nil, liesOutside(link, of: origin) { outside.append(link.path) }
                return nil
            }
            isLinked = true
            let isNew = !names.contains(path)
            let name = names.name(of: path)
            if isNew { attachments.append(ForeignNote.Attachment(name: name, source: .file(path: root + "/" + path))) }
            return Self.replacement(of: link, name)
        }
        note.attachments += attachments
        if let first = outside.first {
            let what = outside.count == 1 ? "a file" : "\(outside.count) files"
            importer.report.remark(
                origin, "It links to \(what) outside of its folder, such as \(first), not attached. Import the folder that has both.",
                isLeftOut: false)
        }
        if !note.body.utf8.elementsEqual(text.utf8) { note.said = text }
        (note.formerTitle, text) = (former?.title ?? note.formerTitle, former?.body ?? text)
        // If earlier versions found attachments in the front matter, they left the links of the text as they were.
        if former?.hasAttachments == true {
            note.formerBodies = [text]
        } else if isLinked || former != nil {
            var (all, alone) = (AttachmentNames(), AttachmentNames())
            // The names of all files are swapped, since a copy for each note takes long.
            swap(&all, &formerNames)
            note.formerBodies = [formerBody(text, origin, &all), formerBody(text, origin, &alone)]
            swap(&all, &formerNames)
        }
    }

    /// The text as an earlier version has made it.
    ///
    /// - Parameter names: the names of attachments until then: those of all notes before this one, or none, if this one was the first.
    private func formerBody(_ text: String, _ origin: String, _ names: inout AttachmentNames) -> String {
        MarkdownLinks.replacing(text, isFormer: true) { link in
            guard let path = find(link, in: origin, isFormer: true), !Self.isNote(path) else { return nil }
            return Self.replacement(of: link, names.name(of: path), isFormer: true)
        }
    }

    /// What a link says in place of its path; `nil` if it stays as it is, for a file of that name is found in any folder.
    ///
    /// - Parameter isFormer: whether it stays as earlier versions let it: also with the name of a folder that is not there any more.
    private static func replacement(of link: MarkdownLinks.Link, _ name: String, isFormer: Bool = false) -> String? {
        let path = isFormer ? RelativePath.name(of: link.path) : link.path
        let isSame = link.isWiki && path.utf8.elementsEqual(name.utf8)
        return isSame ? nil : "\(MarkdownExport.attachmentFolder)/\(name)"
    }

    /// Whether a link leads to a file outside of the folder that is read.
    private func liesOutside(_ link: MarkdownLinks.Link, of note: String) -> Bool {
        guard !link.isWiki, !RelativePath.isAbsolute(link.path), !Self.isNote(link.path) else { return false }
        let isInside = RelativePath.resolved(link.path, in: RelativePath.folder(of: note)) != nil
        if !isInside, case .file = ForeignFile.kind("\(root)/\(RelativePath.folder(of: note))/\(link.path)") { return true }
        return false
    }

    /// The file that a link means, if it is one that is no note.
    private mutating func target(of link: MarkdownLinks.Link, in note: String) -> String? {
        guard let found = find(link, in: note), !Self.isNote(found) else { return nil }
        used.insert(FolderPath(found))
        return found
    }

    /// The file that a link means.
    ///
    /// - Parameter isFormer: whether only what earlier versions found is found.
    private func find(_ link: MarkdownLinks.Link, in note: String, isFormer: Bool = false) -> String? {
        if RelativePath.isAbsolute(link.path), !isFormer {
            return RelativePath.resolved(String(Substring(link.path.utf8.dropFirst())), in: vault(of: note) ?? "").flatMap(paths.file(at:))
        }
        var found = RelativePath.resolved(link.path, in: RelativePath.folder(of: note)).flatMap(paths.file(at:))
        if found == nil, let path = RelativePath.resolved(link.path, in: "") {
            found = paths.file(at: path) ?? (link.isWiki ? paths.file(named: link.path) : nil)
            if found == nil, !isFormer, let vault = vault(of: note) {
                found = RelativePath.resolved(link.path, in: vault).flatMap(paths.file(at:))
                if found == nil { found = paths.file(endingIn: path) }
            }
        }
        return found
    }
}
