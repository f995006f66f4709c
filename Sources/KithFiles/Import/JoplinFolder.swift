import Foundation
import KithNotes

/// Reads what Joplin exports as JEX, unpacked, or as a folder in its raw format.
///
/// Notes keep their ids and times, tags are tags, resources attachments, to-dos get the tags `todo` and `done`. Notebooks become tags if
/// folders are to be tags.
struct JoplinFolder {
    private let root: String
    private var items: [String: JoplinItem] = [:]
    private var tags: [String: [String]] = [:]
    private var resourceFiles: [String: String] = [:]
    private var resourceNames: [String: String] = [:]
    /// How earlier versions called each resource.
    private var formerNames: [String: String] = [:]
    /// The resources to which a note links.
    private var linked: Set<String> = []

    private static let itemBytesMax = 8 << 20

    /// Whether a folder holds items of Joplin: files that are called by an id.
    static func isOne(_ root: String) -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: root) else { return false }
        // Among them are items of kinds that are not read, such as earlier versions of notes.
        return names.sorted().lazy.filter { $0.hasSuffix(".md") && JoplinItem.isID(String($0.dropLast(3))) }.prefix(triedMax).contains {
            (try? ForeignFile.read("\(root)/\($0)", bytesMax: itemBytesMax)).flatMap { JoplinItem($0) }.map { $0.kind != .other } ?? false
        }
    }

    /// Files that are read to find out whether they are items of Joplin.
    private static let triedMax = 1_000

    /// Reads all items, before the first note is imported.
    init(_ root: String, _ importer: NoteImport) throws {
        self.root = root
        let walk = try FolderWalk(root) { $0.hasPrefix(".") }
        for oddity in walk.oddities { importer.report.remark(oddity.path, oddity.words) }
        for file in walk.files {
            if file.path.hasPrefix("resources/") {
                resourceFiles[FileName.parts(RelativePath.name(of: file.path)).stem] = "\(root)/\(file.path)"
            } else {
                do {
                    try take(file.path, importer)
                } catch let error as FilesError {
                    importer.report.remark(file.path, error.message)
                }
            }
        }
        var register = NameRegister()
        for item in items.values.sorted(by: { $0.id < $1.id }) {
            if item.kind == .noteTag, let tag = items[item["tag_id"]] { tags[item["note_id"], default: []].append(tag.title) }
            if item.kind == .resource {
                resourceNames[item.id] = Self.name(of: item)
                formerNames[item.id] = register.takeFree(Self.name(of: item))
            }
        }
    }

    /// Reads an item.
    private mutating func take(_ path: String, _ importer: NoteImport) throws {
        let bytes = path.hasSuffix(".md") ? try ForeignFile.read("\(root)/\(path)", bytesMax: Self.itemBytesMax) : []
        guard let item = JoplinItem(bytes) else {
            return importer.report.remark(path, "It is no item of Joplin, and was left out. Import it by itself.")
        }
        if item.kind == .other {
            importer.report.remark(path, "It is an item of Joplin of a kind that is no note.", isLeftOut: false)
        } else {
            items[item.id] = item
        }
    }

    private static func name(of resource: JoplinItem) -> String {
        let name = resource["filename"].isEmpty ? resource.title : resource["filename"]
        let ending = resource["file_extension"]
        let hasEnding = FileName.parts(name).ending != nil || ending.isEmpty
        return FileName.name(for: name.isEmpty ? resource.id : hasEnding ? name : "\(name).\(ending)")
    }

    mutating func read(into importer: NoteImport) throws {
        for item in items.values.sorted(by: { $0.id < $1.id }) where item.kind == .note {
            if item.isSet("encryption_applied") {
                importer.report.remark(item.id, "It is encrypted. Let Joplin decrypt all notes, then export again.")
            } else {
                try importer.add(note(item, importer))
            }
        }
        let left = items.values.filter { $0.kind == .resource && !linked.contains($0.id) }.map(\.id).sorted()
        if left.isEmpty { return }
        let names = left.compactMap { resourceNames[$0] }.prefix(Self.leftNamed).joined(separator: ", ")
        let more = left.count > Self.leftNamed ? " and \(left.count - Self.leftNamed) more" : ""
        let words = left.count == 1 ? "1 attachment to which no note links was" : "\(left.count) attachments to which no note links were"
        importer.report.remark(root, "\(words) left out: \(names)\(more).", isLeftOut: false)
    }

    /// Attachments that are named of those that are left out.
    private static let leftNamed = 5

    private mutating func note(_ item: JoplinItem, _ importer: NoteImport) -> ForeignNote {
        let isHTML = item["markup_language"] == "2"
        var pictures = EmbeddedPictures()
        let body = isHTML ? HTMLMarkdown.read(Array(item.body.utf8), keep: { pictures.keep($0) }).text : item.body
        var note = ForeignNote(origin: "\(item.title) (\(item.id.prefix(8)))", title: item.title, body: body)
        note.id = item.uuid
        note.hasForeignTags = true
        note.createdMilliseconds = item.milliseconds("user_created_time") ?? item.milliseconds("created_time")
        note.updatedMilliseconds = item.milliseconds("user_updated_time") ?? item.milliseconds("updated_time")
        note.isTrashed = item.milliseconds("deleted_time") != nil
        note.tags = (tags[item.id] ?? []).sorted()
        if item.isSet("is_todo") { note.tags.append(item.milliseconds("todo_completed") == nil ? "todo" : "done") }
        if item.isSet("is_conflict") { note.tags.append("conflict") }
        note.tags += importer.tags(ofFolder: notebook(of: item))
        takeLinks(&note, importer)
        note.attachments += pictures.attachments
        return note
    }

    /// The titles of the notebooks that a note is in, outermost first.
    private func notebook(of item: JoplinItem) -> String? {
        var titles: [String] = []
        var next = item["parent_id"]
        // No chain is longer than there are items, even if it is a ring.
        while let folder = items[next], folder.kind == .folder, titles.count < FolderWalk.depthMax {
            titles.insert(folder.title.replacingOccurrences(of: "/", with: "-"), at: 0)
            next = folder["parent_id"]
        }
        return titles.isEmpty ? nil : titles.joined(separator: "/")
    }

    /// Links to resources lead to attachments, those to notes to their files.
    private mutating func takeLinks(_ note: inout ForeignNote, _ importer: NoteImport) {
        var (names, attachments) = (AttachmentNames(), [ForeignNote.Attachment]())
        var linked: Set<String> = []
        let (origin, text) = (note.origin, note.body)
        note.body = replacingLinks(text) { id, called in
            let isFirst = linked.insert(id).inserted
            guard let file = resourceFiles[id] else {
                let words = "Its attachment \u{201C}\(called)\u{201D} is not in the export."
                if isFirst { importer.report.remark(origin, words, isLeftOut: false) }
                return nil
            }
            let isNew = !names.contains(id)
            let name = names.name(of: id, called: called)
            if isNew { attachments.append(ForeignNote.Attachment(name: name, source: .file(path: file))) }
            return name
        }
        if !note.body.utf8.elementsEqual(text.utf8) {
            note.formerBodies = [formerNames, resourceNames].map { names in
                replacingLinks(text, isFormer: true) { id, _ in resourceFiles[id] == nil ? nil : names[id] }
            }
        }
        note.attachments = attachments
        self.linked.formUnion(linked)
    }

    /// - Parameter attachment: the name of the attachment that the resource of an id becomes, from what it is called.
    private func replacingLinks(_ text: String, isFormer: Bool = false, _ attachment: (String, String) -> String?) -> String {
        MarkdownLinks.replacing(text, isFormer: isFormer) { link in
            guard link.path.hasPrefix(":/") else { return nil }
            let id = String(link.path.dropFirst(2).prefix(32))
            if let other = items[id], other.kind == .note { return FileName.stem(for: other.title) + ".md" }
            return resourceNames[id].flatMap { attachment(id, $0) }.map { "\(MarkdownExport.attachmentFolder)/\($0)" }
        }
    }
}
