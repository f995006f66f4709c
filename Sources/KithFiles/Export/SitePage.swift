import Foundation
import KithNotes

/// The pages of a site.
enum SitePage {
    struct Entry {
        let title: String
        let page: String
        let tags: [String]
        let updatedMilliseconds: Int64
    }

    struct Attachment {
        let name: String
        let path: String
    }

    /// How a link names a note.
    enum NoteLink {
        case title(String)
        /// By the name of its file, without the ending.
        case file(String)
    }

    /// - Parameter page: where a link leads to a note, if that has a page.
    static func note(_ note: Note, attachments: [Attachment], page place: (NoteLink) -> String?) -> String {
        let title = note.title.isEmpty ? "Untitled" : note.title
        var content =
            "<p><a href=\"index.html\">All notes</a></p>\n<h1>\(escaped(title))</h1>\n<p class=\"about\">\(about(note.updatedMilliseconds, Array(note.tags)))</p>\n"
        let files = Dictionary(attachments.map { ($0.name, $0.path) }) { first, _ in first }
        content += HTMLLinks.replaced(MarkdownHTML.html(text(of: note.body, files, place))) { link, isPicture in
            if let file = HTMLLinks.attachmentNames(link).lazy.compactMap({ files[$0] }).first { return Self.link(file) }
            return isPicture ? nil : NoteLinks.fileName(link).flatMap { place(.file($0.name)) }.map(Self.link)
        }
        if !attachments.isEmpty {
            content += "<h2>Attachments</h2>\n<ul>\n"
            for attachment in attachments { content += "<li><a href=\"\(link(attachment.path))\">\(escaped(attachment.name))</a></li>\n" }
            content += "</ul>\n"
        }
        return page(title, content)
    }

    static func index(_ entries: [Entry]) -> String {
        var content = "<h1>Notes</h1>\n<ul class=\"notes\">\n"
        for entry in entries {
            let title = entry.title.isEmpty ? "Untitled" : entry.title
            content +=
                "<li><a href=\"\(link(entry.page))\">\(escaped(title))</a> <span class=\"about\">\(about(entry.updatedMilliseconds, entry.tags))</span></li>\n"
        }
        return page("Notes", content + "</ul>\n")
    }

    /// The text without its front matter, its links in the form of a wiki as those of Markdown: to files by the names that the note has for
    /// them.
    private static func text(of body: String, _ files: [String: String], _ place: (NoteLink) -> String?) -> String {
        let bytes = Array(body.utf8)
        let text = FrontMatter(bytes[...]).map { String(decoding: $0.rest, as: UTF8.self) } ?? body
        return WikiLinks.replaced(text) { name, isEmbedded in
            let page = isEmbedded ? nil : place(.title(name))
            let last = RelativePath.name(of: name)
            if files[name] != nil || page == nil, let file = [name, last].first(where: { files[$0] != nil }) {
                return MarkdownLinks.encoded("\(MarkdownExport.attachmentFolder)/\(file)")
            }
            return page.map(MarkdownLinks.encoded)
        }
    }

    private static func about(_ milliseconds: Int64, _ tags: [String]) -> String {
        ([String((TimeText.text(milliseconds) ?? "").prefix(10))] + tags.map { "#" + escaped($0) }).filter { !$0.isEmpty }.joined(
            separator: " · ")
    }

    /// Pages of the site itself, pictures from anywhere, and nothing that runs.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src * data: file:; media-src 'self' file:"
    private static let style = """
        :root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
        body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word }
        img { max-width: 100% } pre { overflow-x: auto } table { border-collapse: collapse } td, th { border: 1px solid; padding: .2rem .5rem }
        .about { opacity: .7; font-size: .9em } .notes { padding-left: 1rem }
        """

    private static func page(_ title: String, _ content: String) -> String {
        """
        <!DOCTYPE html>
        <html>
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>\(escaped(title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        \(content)</body>
        </html>

        """
    }

    private static func link(_ path: String) -> String { escaped(MarkdownLinks.encoded(path)) }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
