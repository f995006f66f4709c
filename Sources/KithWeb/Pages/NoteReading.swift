import Foundation
import KithFiles
import KithNotes

/// How a text of Markdown reads: its links lead to notes and attachments, its check lists can be ticked.
struct NoteReading {
    /// Links of one text of which it is looked up where they lead; more are shown as they are typed.
    static let linksMax = 2_000

    /// Browsers take many seconds to lay out a paragraph of some megabytes.
    static let bytesMax = 256 << 10

    let notes: NotesStore
    let attachments: [NoteAttachment]

    /// As HTML, in which nothing is but what Markdown can say. Each block says which line it comes from.
    func html(_ body: String) -> String {
        let files = Dictionary(attachments.map { (Array($0.name.utf8), $0.id) }) { first, _ in first }
        let links = NoteLinks(notes)
        var count = 0
        func file(_ name: String) -> String? { files[Array(name.utf8)].map { "/file/\($0.uuidString.lowercased())" } }
        let text = WikiLinks.replaced(Self.plainChecks(body)) { name, isEmbedded in
            count += 1
            if count > Self.linksMax || name.isEmpty { return nil }
            if let path = file(name) { return path }
            let note = isEmbedded ? nil : links.note(named: name)
            if let path = note.map(Self.path) ?? file(RelativePath.name(of: name)) { return path }
            return isEmbedded ? nil : Self.offer(name)
        }
        return HTMLLinks.replaced(MarkdownHTML.html(text, hasPositions: true)) { link, isPicture in
            // Links to files beside the text, as imports and folders have them, lead to the attachments and notes of these names.
            let names = HTMLLinks.attachmentNames(link)
            if !names.isEmpty { return names.lazy.compactMap(file).first }
            guard !isPicture, let file = NoteLinks.fileName(link) else { return nil }
            count += 1
            if count > Self.linksMax { return nil }
            return links.note(ofFile: file.name).map(Self.path) ?? (file.isMarkdown ? Self.offer(file.name) : nil)
        }
    }

    /// As many lines of a long text as are shown as they read, and whether that is not all.
    static func beginning(of body: String) -> (text: String, isCut: Bool) {
        if body.utf8.count <= bytesMax { return (body, false) }
        let bytes = Array(body.utf8.prefix(bytesMax))
        // A line may be longer than that.
        let end =
            bytes.lastIndex(of: UInt8(ascii: "\n")).flatMap { $0 < bytesMax / 2 ? nil : $0 } ?? bytes.lastIndex(where: { $0 & 0xC0 != 0x80 }
            ) ?? 0
        return (String(decoding: bytes[..<end], as: UTF8.self), true)
    }

    private static func path(_ note: UUID) -> String { "/note/\(note.uuidString.lowercased())" }

    /// Where a new note of this title can be written.
    private static func offer(_ title: String) -> String {
        "/new?title=" + (title.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    /// Two people who ticked one box at once have both typed into it: `[xx]`, or two spaces. It is the box that both meant.
    static func plainChecks(_ body: String) -> String {
        guard body.contains("[xx]") || body.contains("[  ]") else { return body }
        return body.replacing(/(?m)^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[(xx|  )\]/) { "\($0.1)[\($0.2.prefix(1))]" }
    }
}
