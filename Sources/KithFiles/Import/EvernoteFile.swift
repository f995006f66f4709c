import CFileFormats
import Crypto
import Foundation
import KithNotes

/// Reads an export of Evernote (ENEX): XML with a note each in HTML, and its files in base64.
///
/// All of the file is read once before the first note is imported, so that one that breaks off imports nothing.
struct EvernoteFile {
    private let path: String
    private let scratch: ScratchFolder

    init(_ path: String) throws {
        self.path = path
        scratch = try ScratchFolder()
    }

    /// Whether a file begins as one.
    static func isOne(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path), let head = try? file.read(upToCount: 4_096) else { return false }
        return String(decoding: head, as: UTF8.self).contains("<en-export")
    }

    func read(into importer: NoteImport) throws {
        try parse { _ in }
        var ids: [UUID: Int] = [:]
        var number = 0
        try parse { element in
            number += 1
            var note = try note(element, number, importer)
            note.derivedID = Self.id(of: element, &ids)
            try importer.add(note)
            // Files of notes that are imported lie in the scratch folder until then.
            if number % 100 == 0 { try importer.flush() }
        }
        try importer.flush()
    }

    /// A note as the file has it.
    struct Element {
        struct Resource {
            var data = ""
            var mime = ""
            var fileName = ""
        }

        /// What is to be done, of which Evernote keeps a list with the note.
        struct Task {
            var title = ""
            var status = ""
            var due = ""
        }

        var title = ""
        var content = ""
        var created = ""
        var updated = ""
        var tags: [String] = []
        var resources: [Resource] = []
        var tasks: [Task] = []
    }

    /// A note's id follows from what the file says of it, and not from its place in the file: the next export has more notes.
    private static func id(of element: Element, _ seen: inout [UUID: Int]) -> UUID {
        let texts = element.tasks.flatMap { [$0.title, $0.status] } + element.resources.map(\.fileName)
        let parts = ["kith import of enex 1", element.title, element.created, element.content] + texts
        let milliseconds = TimeText.milliseconds(element.created)
        let id = UUID.derived(from: parts, milliseconds: milliseconds)
        let count = seen[id, default: 0]
        seen[id] = count + 1
        return count == 0 ? id : UUID.derived(from: parts + [String(count)], milliseconds: milliseconds)
    }

    private func note(_ element: Element, _ number: Int, _ importer: NoteImport) throws -> ForeignNote {
        let origin = element.title.isEmpty ? "note \(number)" : "note \(number), \(element.title.prefix(80))"
        var names = AttachmentNames()
        var media: [String: HTMLMarkdown.Media] = [:]
        var attachments: [ForeignNote.Attachment] = []
        for (index, resource) in element.resources.enumerated() {
            guard let data = Data(base64Encoded: resource.data, options: .ignoreUnknownCharacters), !data.isEmpty else {
                let name = resource.fileName.isEmpty ? "\(index + 1)" : "\u{201C}\(resource.fileName.prefix(80))\u{201D}"
                importer.report.remark(origin, "Its attachment \(name) is empty or damaged in the export.", isLeftOut: false)
                continue
            }
            let kind = resource.mime.split(separator: "/").last.map(String.init) ?? "bin"
            let file = scratch.path("\(number)-\(index)")
            let called = FileName.name(for: resource.fileName.isEmpty ? "attachment.\(kind)" : resource.fileName)
            let name = names.name(of: file, called: called)
            try NewFile.write(Array(data), to: file)
            attachments.append(ForeignNote.Attachment(name: name, source: .file(path: file)))
            let hash = Insecure.MD5.hash(data: data).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            media[hash] = HTMLMarkdown.Media(
                path: "\(MarkdownExport.attachmentFolder)/\(name)", isPicture: resource.mime.hasPrefix("image/"))
        }
        var pictures = EmbeddedPictures()
        var missing = 0
        var body = HTMLMarkdown.read(
            Array(element.content.utf8), media: media, keep: { pictures.keep($0) }, miss: { missing += 1 }
        ).text
        // What is damaged was told.
        if missing > element.resources.count - attachments.count {
            importer.report.remark(origin, "An attachment that its text shows is not in the export.", isLeftOut: false)
        }
        if !element.tasks.isEmpty {
            if !body.isEmpty { body += "\n" }
            for task in element.tasks { body += Self.line(of: task) }
        }
        var note = ForeignNote(origin: origin, title: element.title, body: body)
        note.tags = element.tags
        note.createdMilliseconds = TimeText.milliseconds(element.created)
        note.updatedMilliseconds = TimeText.milliseconds(element.updated) ?? note.createdMilliseconds
        note.attachments = attachments + pictures.attachments
        return note
    }

    private static func line(of task: Element.Task) -> String {
        let due = task.due.prefix(8)
        let isDay = due.utf8.count == 8 && due.allSatisfy { ("0"..."9").contains($0) }
        let until = isDay ? " (until \(due.prefix(4))-\(due.dropFirst(4).prefix(2))-\(due.suffix(2)))" : ""
        return "- [\(task.status == "completed" ? "x" : " ")] \(HTMLMarkdown.line(task.title))\(until)\n"
    }

    // MARK: XML

    /// Calls `body` with each note.
    private func parse(_ body: (Element) throws -> Void) throws {
        guard let reader = kith_xml_open(path) else { throw FilesError(.notFound, "\(path) cannot be read.") }
        defer { kith_xml_close(reader) }
        var state = EvernoteState()
        var result = kith_xml_next(reader)
        while result == 1 {
            try state.take(reader, body)
            result = kith_xml_next(reader)
        }
        guard result == 0, state.isWhole else {
            throw FilesError(.data, "\(path) is damaged, or breaks off. Nothing was imported; export it again.")
        }
    }
}

/// Where in the file the reading is.
private struct EvernoteState {
    private var path: [String] = []
    private var note: EvernoteFile.Element?
    private var text = ""
    private var sawRoot = false

    var isWhole: Bool { sawRoot && path.isEmpty }

    mutating func take(_ reader: UnsafeMutableRawPointer, _ body: (EvernoteFile.Element) throws -> Void) throws {
        switch Int(kith_xml_kind(reader)) {
        case KITH_XML_ELEMENT:
            let name = kith_xml_name(reader).map { String(cString: $0) } ?? ""
            if path.isEmpty { sawRoot = name == "en-export" }
            if name == "note" { note = EvernoteFile.Element() }
            if name == "resource" { note?.resources.append(EvernoteFile.Element.Resource()) }
            if name == "task", path.last == "note" { note?.tasks.append(EvernoteFile.Element.Task()) }
            text = ""
            path.append(name)
            if kith_xml_is_empty(reader) == 1 { try close(body) }
        case KITH_XML_TEXT: if let value = kith_xml_value(reader) { text += String(cString: value) }
        case KITH_XML_END: try close(body)
        default: break
        }
    }

    private mutating func close(_ body: (EvernoteFile.Element) throws -> Void) throws {
        guard let name = path.popLast() else { return }
        let isResource = path.contains("resource")
        let last = (note?.resources.count ?? 0) - 1
        let lastTask = (note?.tasks.count ?? 0) - 1
        switch (name, path.last) {
        case ("note", _):
            if let note { try body(note) }
            note = nil
        case ("title", "note"): note?.title = text
        case ("content", "note"): note?.content = text
        case ("created", "note"): note?.created = text
        case ("updated", "note"): note?.updated = text
        case ("tag", "note"): note?.tags.append(text)
        case ("title", "task") where lastTask >= 0: note?.tasks[lastTask].title = text
        case ("taskStatus", "task") where lastTask >= 0: note?.tasks[lastTask].status = text
        case ("dueDate", "task") where lastTask >= 0: note?.tasks[lastTask].due = text
        case ("data", _) where isResource && last >= 0: note?.resources[last].data = text
        case ("mime", _) where isResource && last >= 0: note?.resources[last].mime = text
        case ("file-name", _) where isResource && last >= 0: note?.resources[last].fileName = text
        default: break
        }
        text = ""
    }
}
