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
        return Self.linked(MarkdownHTML.html(text, hasPositions: true), files)
    }

    /// Links to files beside the text, as imports and folders have them, lead to the attachments of these names.
    private static func linked(_ html: String, _ files: [[UInt8]: UUID]) -> String {
        if files.isEmpty { return html }
        let bytes = Array(html.utf8)
        var (result, copied, start) = ([UInt8](), 0, 0)
        // In what HTML shows as text, quotation marks are escaped.
        while let quote = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) {
            start = quote + 1
            guard [" src=", " href="].contains(where: { bytes[..<quote].suffix($0.utf8.count).elementsEqual($0.utf8) }),
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
            else { continue }
            if let id = name(of: bytes[start..<end]).flatMap({ files[Array($0.utf8)] }) {
                result += bytes[copied..<start]
                result += Array("/file/\(id.uuidString.lowercased())".utf8)
                copied = end
            }
            start = end + 1
        }
        return copied == 0 ? html : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The name of the file that a link leads to; `nil` if that is not among the attachments.
    private static func name(of link: ArraySlice<UInt8>) -> String? {
        var path = link
        while let up = ["../", "./"].first(where: { path.starts(with: $0.utf8) }) { path = path.dropFirst(up.utf8.count) }
        let folder = "attachments/"
        guard path.starts(with: folder.utf8) else { return nil }
        // As cmark writes them in links.
        let name = String(decoding: path.dropFirst(folder.utf8.count), as: UTF8.self)
            .replacing("&#x27;", with: "'").replacing("&amp;", with: "&")
        return name.removingPercentEncoding ?? name
    }

    /// Two people who ticked one box at once have both typed into it: `[xx]`, or two spaces. It is the box that both meant.
    static func plainChecks(_ body: String) -> String {
        guard body.contains("[xx]") || body.contains("[  ]") else { return body }
        return body.replacing(/(?m)^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[(xx|  )\]/) { "\($0.1)[\($0.2.prefix(1))]" }
    }
}
