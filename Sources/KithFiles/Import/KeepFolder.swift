import Foundation
import KithNotes

/// Reads the notes of Google Keep from a Takeout: a JSON file each, with its pictures beside it.
///
/// Labels are tags, lists check lists, colors the nearest of ours; `archived` becomes a tag. The HTML file beside a JSON file says the
/// same and is passed over; one without is read as HTML.
struct KeepFolder {
    /// What a file says; the names are Google's.
    private struct Keep: Decodable {
        struct Item: Decodable {
            var text: String?
            var isChecked: Bool?
        }

        struct Label: Decodable {
            var name: String?
        }

        struct Attachment: Decodable {
            var filePath: String?
        }

        struct Annotation: Decodable {
            var url: String?
            var title: String?
        }

        var title: String?
        var textContent: String?
        var listContent: [Item]?
        var labels: [Label]?
        var attachments: [Attachment]?
        var annotations: [Annotation]?
        var color: String?
        var isTrashed: Bool?
        var isPinned: Bool?
        var isArchived: Bool?
        var createdTimestampUsec: Int64?
        var userEditedTimestampUsec: Int64?
    }

    private let root: String
    private let walk: FolderWalk
    /// How earlier versions called each picture.
    private var formerNames = AttachmentNames()
    /// The only note that is read; `nil` for all.
    private var only: FolderPath?

    private static let bytesMax = 16 << 20
    private static let takeout = "Takeout"
    /// What a Takeout says of all notes.
    private static let labels = "Labels.txt"

    init(_ root: String) throws(FilesError) {
        self.root = root
        walk = try FolderWalk(root) { $0.hasPrefix(".") }
    }

    /// One note, with its pictures beside it.
    init(file: String) throws(FilesError) {
        let url = URL(filePath: file)
        try self.init(url.deletingLastPathComponent().path)
        only = FolderPath(ForeignPaths(walk.files.map(\.path)).file(at: url.lastPathComponent) ?? url.lastPathComponent)
    }

    /// Whether a file is a note of Keep.
    static func isNote(_ path: String) -> Bool {
        guard path.hasSuffix(".json"), let bytes = try? ForeignFile.read(path, bytesMax: bytesMax) else { return false }
        return note(bytes) != nil
    }

    /// Whether a folder holds such notes, in itself, in `Keep`, or in a folder of a Takeout: its name there is one of the person's language.
    static func place(in root: String) -> String? {
        let takeout = RelativePath.name(of: root) == Self.takeout ? root : "\(root)/\(Self.takeout)"
        let inside = (try? FileManager.default.contentsOfDirectory(atPath: takeout)) ?? []
        let folders = inside.sorted().map { "\(takeout)/\($0)" }.filter { ForeignFile.kind($0) == .folder }
        for folder in [root, root + "/Keep"] + folders {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { continue }
            let files = names.sorted().filter { $0.hasSuffix(".json") && $0 != "Labels.json" }.prefix(20)
            if files.contains(where: { isNote("\(folder)/\($0)") }) { return folder }
        }
        return nil
    }

    private static func note(_ bytes: [UInt8]) -> Keep? {
        guard let keep = try? JSONDecoder().decode(Keep.self, from: Data(bytes)) else { return nil }
        let hasContent = keep.textContent != nil || keep.listContent != nil || keep.attachments != nil || keep.title != nil
        return hasContent && keep.userEditedTimestampUsec != nil ? keep : nil
    }

    /// Names the files of `outer`, in which this folder is, that are not read. Those of a Takeout are no notes.
    func remarkOthers(in outer: String, _ importer: NoteImport) throws {
        let inner = RelativePath.names(of: root).dropFirst(RelativePath.names(of: outer).count)
        guard let own = inner.first, RelativePath.name(of: outer) != Self.takeout else { return }
        let all = try FolderWalk(outer) { $0.hasPrefix(".") }
        for file in all.files where !RelativePath.isIn(own, file.path) {
            importer.report.remark(file.path, "It is not in the folder of Keep, and was left out. Import it by itself.")
        }
    }

    mutating func read(into importer: NoteImport) throws {
        for oddity in walk.oddities where only == nil { importer.report.remark(oddity.path, oddity.words) }
        let paths = ForeignPaths(walk.files.map(\.path))
        for file in walk.files where only.map({ $0 == FolderPath(file.path) }) ?? true {
            do {
                let (stem, ending) = FileName.parts(file.path)
                if ending == "json" {
                    let bytes = try ForeignFile.read("\(root)/\(file.path)", bytesMax: Self.bytesMax)
                    guard let keep = Self.note(bytes) else {
                        importer.report.remark(file.path, "It is no note of Keep.")
                        continue
                    }
                    try importer.add(note(keep, file.path, paths, importer))
                } else if ending == "html", paths.file(at: "\(stem).json") == nil {
                    try importer.add(HTMLNote.note(root, file.path))
                } else if let ending, ["md", "markdown", "txt"].contains(ending.lowercased()), file.path != Self.labels {
                    importer.report.remark(file.path, "It is no note of Keep, and was left out. Import it by itself.")
                }
            } catch let error as FilesError {
                importer.report.remark(file.path, error.message)
            }
        }
    }

    private mutating func note(_ keep: Keep, _ path: String, _ paths: ForeignPaths, _ importer: NoteImport) -> ForeignNote {
        var note = ForeignNote(origin: path, title: keep.title ?? "", body: Self.text(keep))
        note.tags = (keep.labels ?? []).compactMap(\.name)
        note.isPinned = keep.isPinned ?? false
        if keep.isArchived == true { note.tags.append("archived") }
        note.color = Self.color(keep.color ?? "")
        note.isTrashed = keep.isTrashed ?? false
        note.updatedMilliseconds = keep.userEditedTimestampUsec.map { $0 / 1_000 }
        note.createdMilliseconds = keep.createdTimestampUsec.map { $0 / 1_000 } ?? note.updatedMilliseconds
        var (names, former) = (AttachmentNames(), note.body)
        for name in (keep.attachments ?? []).compactMap(\.filePath) {
            guard let file = Self.file(name, RelativePath.folder(of: path), paths) else {
                importer.report.remark(path, "Its attachment \u{201C}\(name.prefix(80))\u{201D} is not in the export.", isLeftOut: false)
                continue
            }
            let attached = names.name(of: file)
            note.attachments.append(ForeignNote.Attachment(name: attached, source: .file(path: "\(root)/\(file)")))
            Self.add(attached, to: &note.body)
            Self.add(formerNames.name(of: file), to: &former)
        }
        note.formerBodies = [former, note.body]
        if note.title.isEmpty, note.body.isEmpty { note.title = FileName.parts(RelativePath.name(of: path)).stem }
        return note
    }

    private static func add(_ picture: String, to text: inout String) {
        text += "\(text.isEmpty ? "" : "\n\n")![](\(MarkdownLinks.encoded("\(MarkdownExport.attachmentFolder)/\(picture)")))"
    }

    private static func text(_ keep: Keep) -> String {
        var parts: [String] = []
        if let text = keep.textContent, !text.isEmpty { parts.append(text) }
        if let list = keep.listContent, !list.isEmpty {
            parts.append(list.map { "- [\($0.isChecked == true ? "x" : " ")] \($0.text ?? "")" }.joined(separator: "\n"))
        }
        for annotation in keep.annotations ?? [] {
            // What a link leads to is mostly in the text already.
            if let url = annotation.url, !parts.contains(where: { $0.contains(url) }) {
                parts.append("[\(annotation.title ?? url)](\(url))")
            }
        }
        return parts.joined(separator: "\n\n")
    }

    private static func color(_ name: String) -> NoteColor {
        switch name {
        case "RED", "PINK": .red
        case "YELLOW", "ORANGE": .yellow
        case "GREEN", "TEAL": .green
        case "BLUE", "CERULEAN", "PURPLE": .blue
        default: .none
        }
    }

    /// The file that is meant: Takeout names some pictures `.jpeg` that are called `.jpg`.
    private static func file(_ name: String, _ folder: Substring, _ paths: ForeignPaths) -> String? {
        let (stem, ending) = FileName.parts(name)
        let others = ending == "jpeg" ? ["\(stem).jpg"] : ending == "jpg" ? ["\(stem).jpeg"] : []
        return ([name] + others).lazy.compactMap { RelativePath.resolved($0, in: folder).flatMap(paths.file(at:)) }.first
    }
}
