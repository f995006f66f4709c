import Foundation
import KithFiles
import KithNotes

/// How a text of Markdown reads: its links lead to notes and attachments, its check lists can be ticked.
struct NoteReading {
    /// Links of one text of which it is looked up where they lead; more are shown as they are typed.
    static let linksMax = 2_000

    let notes: NotesStore
    let attachments: [NoteAttachment]

    /// As HTML, in which nothing is but what Markdown can say. Each block says which line it comes from.
    func html(_ body: String) -> String {
        let files = Dictionary(attachments.map { (Array($0.name.utf8), $0.id) }) { first, _ in first }
        var count = 0
        let text = WikiLinks.replaced(Self.plainChecks(body)) { name, isEmbedded in
            count += 1
            if count > Self.linksMax { return nil }
            if let id = files[Array(name.utf8)] { return "/file/\(id.uuidString.lowercased())" }
            if isEmbedded || name.isEmpty { return nil }
            if let id = try? notes.id(titled: name) { return "/note/\(id.uuidString.lowercased())" }
            return "/new?title=" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        return MarkdownHTML.html(text, hasPositions: true)
    }

    /// Two people who ticked one box at once have both typed into it: `[xx]`, or two spaces. It is the box that both meant.
    static func plainChecks(_ body: String) -> String {
        guard body.contains("[xx]") || body.contains("[  ]") else { return body }
        return body.replacing(/(?m)^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[(xx|  )\]/) { "\($0.1)[\($0.2.prefix(1))]" }
    }
}
