import CFileFormats
import Foundation
import GRDB
import Kith
import KithNotes

// MARK: Attachments, from notes to files

extension FolderPass {
    /// Writes the attachments of a note that have no file yet.
    ///
    /// - Returns: where they are.
    mutating func placeAttachments(of whole: WholeNote) throws -> [(path: String, name: String)] {
        let tables = tables
        var placed: [(path: String, name: String)] = []
        for attachment in whole.attachments {
            let known = try database.read { db in try tables.path(of: attachment, db) }
            if let known, ForeignFile.kind(place(known)) != .missing {
                placed.append((known, attachment.name))
            } else if FolderWalk.oddity(above: known ?? MarkdownExport.attachmentFolder + "/x", in: root) == nil,
                let file = try notes.store.provenAttachment(attachment.content)
            {
                placed.append((try place(file, of: attachment, at: known), attachment.name))
            } else {
                report.awaited.insert(whole.id)
                if let known { placed.append((known, attachment.name)) }
            }
        }
        return placed
    }

    private mutating func place(_ file: AttachmentFile, of attachment: WholeNote.Attachment, at known: String?) throws -> String {
        let folder = MarkdownExport.attachmentFolder
        try NewFile.makeFolder(place(folder))
        let (stem, ending) = FileName.parts(FileName.name(for: attachment.name))
        let dotted = ending.map { "." + $0 } ?? ""
        let aside = place(temporary(attachment.content))
        unlink(aside)
        try options.step("attachment")
        try NewFile.copy(file.url, to: aside)
        func numbered(_ number: Int) -> String { "\(folder)/\(stem)\(number == 1 ? "" : " (\(number))")\(dotted)" }
        var path = known ?? numbered(1)
        var number = 1
        if known == nil { try clear(path, of: attachment.name, numbered) }
        while kith_rename_new(aside, place(path)) != 0 {
            guard errno == EEXIST else { throw NewFile.failure(place(path)) }
            if try isSame(path, as: aside) {
                unlink(aside)
                break
            }
            number += 1
            path = numbered(number)
        }
        try options.step("attached")
        let tables = tables
        let stamp = ForeignFile.stamp(place(path))
        try database.write { [path] db in try tables.save(attachment.content, attachment.name, stamp, path, db) }
        report.written += 1
        return path
    }

    /// Whether the file at `path` is one that a person has put there, of the same content, as on each machine to which a folder was copied.
    private func isSame(_ path: String, as copy: String) throws -> Bool {
        guard case .file(let stamp) = ForeignFile.kind(place(path)), stamp.bytes == ForeignFile.stamp(copy)?.bytes else { return false }
        let tables = tables
        guard try database.read({ db in try tables.attachment(at: path, db) }) == nil else { return false }
        return FileManager.default.contentsEqual(atPath: place(path), andPath: copy) && ForeignFile.stamp(place(path)) == stamp
    }

    /// Removes the files of attachments that the note's file named and no note has any more: the text may link to them yet, and the next
    /// pass would attach them again. A file that a program has written since stays.
    func removeDetached(since record: FolderRecord, _ content: FolderContent) throws {
        let named = Set(content.attachments.compactMap { attachment($0.path, in: record.path) })
        for link in record.links {
            guard let link = MarkdownNote.Attachment(link: link), let target = attachment(link.path, in: record.path),
                !named.contains(target)
            else { continue }
            try clear(target.text, of: nil) { "\(target.text) (\($0))" }
        }
    }

    /// Moves the file of an attachment (of this name) that no note has any more out of the way. A file that a program has written since
    /// stays.
    private func clear(_ path: String, of name: String?, _ numbered: (Int) -> String) throws {
        let tables = tables
        guard let former = try database.read({ db in try tables.attachment(at: path, db) }), let stamp = former.stamp,
            name.map({ former.name.utf8.elementsEqual($0.utf8) }) ?? true, ForeignFile.stamp(place(path)) == stamp,
            let content = AttachmentID(former.content), try !notes.attachments(withContent: content).contains(where: former.isOne)
        else { return }
        options.beforeExchange(place(path))
        var number = 2
        while kith_rename_new(place(path), place(numbered(number))) != 0 {
            guard errno == EEXIST else { return }
            number += 1
        }
        // What was written in the last moment stays, under its new name.
        if ForeignFile.stamp(place(numbered(number))) == stamp, !ForeignFile.isBeingWritten(place(numbered(number))) {
            unlink(place(numbered(number)))
        }
    }
}

// MARK: Attachments, from files to notes

extension FolderPass {
    /// Attaches the files that a note's text links to, or its front matter names, and are not attached yet. A link that an attachment of the
    /// note itself satisfies means that one, wherever its file is, and not what another note has under this name.
    ///
    /// - Parameter isFound: whether the note was made of the file, and another machine may have both.
    mutating func attachFiles(_ content: FolderContent, at path: String, to note: UUID, isFound: Bool = false) throws {
        let linked = Set(linked(content.body, at: path))
        for attachment in content.attachments {
            guard let target = self.attachment(attachment.path, in: path) else { continue }
            // The text may know it by the name of its file alone.
            let named = FolderPath("\(MarkdownExport.attachmentFolder)/\(attachment.name)")
            let isOther = linked.contains(target) && !linked.contains(named)
            try attach(target.text, as: isOther ? RelativePath.name(of: target.text) : attachment.name, to: note, isFound)
        }
        if linked.isEmpty { return }
        let own = try content.attachments.map(\.name) + notes.attachments(of: note).map(\.name)
        let satisfied = Set(own.flatMap { [$0, FileName.name(for: $0)] }.map { FolderPath("\(MarkdownExport.attachmentFolder)/\($0)") })
        for target in linked.sorted() where !satisfied.contains(target) {
            try attach(target.text, as: RelativePath.name(of: target.text), to: note, isFound)
        }
    }

    /// The files among the attachments that a text links to.
    private func linked(_ body: String, at path: String) -> [FolderPath] {
        let outward = RelativePath.outward(from: path)
        return MarkdownLinks.links(in: body).compactMap { readings in
            let targets = readings.compactMap { link in
                let isName = link.isWiki && !link.path.contains("/")
                return attachment(isName ? "\(outward)\(MarkdownExport.attachmentFolder)/\(link.path)" : link.path, in: path)
            }
            return targets.count < 2 ? targets.first : targets.first { isThere($0.text) } ?? targets.first
        }
    }

    /// Whether a file is at this path, or one whose name has the accents in another form.
    func isThere(_ path: String) -> Bool {
        if case .file = ForeignFile.kind(place(self.path(meantBy: path))) { return true }
        return false
    }

    /// The file among the attachments that a link in the file at `path` leads to. A link that leads nowhere may have been written for another
    /// place: the file was moved or copied since, or is the text of a note, which names attachments as from the outermost folder.
    private func attachment(_ link: String, in path: String) -> FolderPath? {
        let target = RelativePath.resolved(link, in: RelativePath.folder(of: path))
        if let target, Self.isAttachment(target) { return FolderPath(target) }
        guard let outermost = AttachmentLinks.outermost(link).flatMap({ RelativePath.resolved($0, in: "") }), Self.isAttachment(outermost),
            target.map({ ForeignFile.kind(place($0)) == .missing }) ?? true
        else { return nil }
        return FolderPath(outermost)
    }

    /// Whether a link in the file at `path` that begins with `folder` leads to the attachment of this name. As notes have links, it would
    /// mean a file beside this one, if there is one.
    func isWay(_ folder: String, to name: String, from path: String) -> Bool {
        let outermost = "\(MarkdownExport.attachmentFolder)/\(name)"
        guard folder == "\(RelativePath.outward(from: path))\(MarkdownExport.attachmentFolder)/" else { return false }
        return ForeignFile.kind(place("\(RelativePath.folder(of: path))/\(outermost)")) == .missing && isThere(outermost)
    }

    /// Whether a note has an attachment that its file did not name.
    func hasOtherAttachments(_ record: FolderRecord, _ db: Database) throws -> Bool {
        let named = Set(record.links.compactMap { MarkdownNote.Attachment(link: $0) }.compactMap { attachment($0.path, in: record.path) })
        let files = try Row.fetchAll(db, sql: "SELECT file, name FROM attachment WHERE note = ?", arguments: [record.note.data])
        return try files.contains { file in
            let isNamed = try named.contains { target in
                try tables.attachment(at: target.text, db).map {
                    $0.content == file["file"] as String? && $0.name == file["name"] as String?
                } ?? false
            }
            return !isNamed
        }
    }

    /// - Parameters:
    ///   - link: the path that the text says.
    ///   - name: what it is called if it is not known yet.
    private mutating func attach(_ link: String, as name: String, to note: UUID, _ isFound: Bool) throws {
        let target = path(meantBy: link)
        // A link on the way leads to files that a person has not put here, and the text may be another machine's.
        guard FolderWalk.oddity(above: target, in: root) == nil else { return }
        guard case .file(let stamp) = ForeignFile.kind(place(target)) else { return }
        // It is looked at again when it is whole.
        guard isQuiet(place(target), stamp) else {
            report.pathsAgain.insert(FolderPath(target))
            return
        }
        let tables = tables
        let known = try database.read { db in try tables.attachment(at: target, db) }
        let (wanted, own) = (known?.name ?? name, try notes.attachments(of: note))
        if let known, own.contains(where: known.isOne) { return }
        try options.step("attach")
        do {
            let file = URL(filePath: place(target))
            let same = own.first { $0.name.utf8.elementsEqual(wanted.utf8) }
            // Killed after it was attached, and before that was noted, it is attached already.
            let isAttached = try same.map { try $0.content == notes.store.attach(contentsOf: file) } ?? false
            let attachment = isAttached ? same : try notes.attach(file, to: note, name: wanted, isStep: false, isFound: isFound)
            try options.step("noting")
            guard let attachment, let content = attachment.content else { return }
            try database.write { db in try tables.save(content, attachment.name, stamp, target, db) }
            touched.insert(note)
            report.read += 1
        } catch let error as NotesError where ![.diskFull, .readOnly, .busy].contains(error.code) {
            leave(target, error.message, nil)
        }
    }

    /// The path as the file system has it, in which the accents may have another form than in the text. If files of both forms are there,
    /// the one of the same form is meant.
    private func path(meantBy link: String) -> String {
        if link.utf8.allSatisfy({ $0 < 0x80 }) { return link }
        var found = ""
        for name in RelativePath.names(of: link) {
            let folder = found.isEmpty ? "" : found + "/"
            let isThere = ForeignFile.kind(place(folder + name)) != .missing
            // Texts that differ in the form of their accents are equal.
            let other = isThere ? nil : (try? FileManager.default.contentsOfDirectory(atPath: place(found)))?.first { $0 == name }
            found = folder + (other ?? name)
        }
        return found
    }

    /// Detaches what a file's front matter named and names no more.
    func detachFiles(_ content: FolderContent, at path: String, since record: FolderRecord) throws {
        // A file without our front matter says nothing of attachments.
        guard content.id == record.note else { return }
        let named = Set(content.attachments.compactMap { attachment($0.path, in: path) })
        let before = record.links.compactMap { MarkdownNote.Attachment(link: $0) }.compactMap { attachment($0.path, in: record.path) }
        let tables = tables
        for target in before where !named.contains(target) {
            guard let known = try database.read({ db in try tables.attachment(at: target.text, db) }) else { continue }
            for attachment in try notes.attachments(of: record.note) where known.isOne(attachment) {
                try notes.detach(attachment, isStep: false)
            }
        }
    }

    /// Up to so many files, each is asked for by itself.
    private static let singlyRead = 8

    /// Looks at files among the attachments: one that is new belongs to the notes that link to it, and one that was changed is another
    /// attachment of the notes that had it.
    mutating func readAttachments(_ files: [FolderWalk.File]) throws {
        let tables = tables
        // Where nobody tells what has changed, all files are looked at every two seconds.
        let all = files.count > Self.singlyRead ? try database.read { db in try tables.attachments(db) } : nil
        var new: [FolderWalk.File] = []
        for file in files {
            let known = try all.map { $0[FolderPath(file.path)] } ?? database.read { db in try tables.attachment(at: file.path, db) }
            if let known, known.stamp == file.stamp { continue }
            guard isQuiet(place(file.path), file.stamp) else {
                report.pathsAgain.insert(FolderPath(file.path))
                continue
            }
            if let known { try replace(known, file) } else { new.append(file) }
        }
        // Of few files SQLite looks for the names, which is quicker than to read all links.
        let found = try new.count > Self.singlyRead ? owners(ofAny: Set(new.map(\.path))) : new.flatMap { try owners(of: $0) }
        for record in found where !left.contains(record.note) {
            var content = FolderContent(MarkdownNote(body: record.body), title: record.title, body: record.body)
            content.attachments = record.links.compactMap { MarkdownNote.Attachment(link: $0) }
            try attachFiles(content, at: record.path, to: record.note)
        }
    }

    /// What files say that link to one of these, or name it.
    private func owners(ofAny paths: Set<String>) throws -> [FolderRecord] {
        let tables = tables
        return try database.read { db in try tables.notes(db) }.compactMap { note in
            guard let record = try record(of: note) else { return nil }
            let named = record.links.compactMap { MarkdownNote.Attachment(link: $0) }.compactMap { attachment($0.path, in: record.path) }
            // Texts that differ in the form of their accents are equal.
            return (named + linked(record.body, at: record.path)).contains { paths.contains($0.text) } ? record : nil
        }
    }

    private func owners(of file: FolderWalk.File) throws -> [FolderRecord] {
        let name = RelativePath.name(of: file.path)
        // A text may have the accents in another form than the file system.
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        let forms = isPlain ? [name] : [name, name.precomposedStringWithCanonicalMapping, name.decomposedStringWithCanonicalMapping]
        let tables = tables
        return try database.read { db in
            try tables.notes(containing: forms.flatMap(MarkdownLinks.forms), db).compactMap { try tables.record(of: $0, db) }
        }
    }

    private mutating func replace(_ known: KnownAttachment, _ file: FolderWalk.File) throws {
        try options.step("replace")
        let content = try notes.store.attach(contentsOf: URL(filePath: place(file.path)))
        let tables = tables
        if content.description != known.content, let old = AttachmentID(known.content) {
            for attachment in try notes.attachments(withContent: old) where known.isOne(attachment) {
                try notes.attach(
                    URL(filePath: place(file.path)), to: attachment.note, name: known.name, replacing: attachment, isStep: false)
                touched.insert(attachment.note)
                report.read += 1
            }
        }
        try database.write { db in try tables.save(content, known.name, file.stamp, file.path, db) }
    }
}

/// A file that is an attachment.
struct KnownAttachment {
    let content: String
    let name: String
    /// When it was last read or written.
    let stamp: FileStamp?

    func isOne(_ attachment: NoteAttachment) -> Bool {
        attachment.content?.description == content && attachment.name.utf8.elementsEqual(name.utf8)
    }
}
