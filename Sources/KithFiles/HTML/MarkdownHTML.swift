import CFileFormats

/// Renders Markdown with the extensions of GitHub (tables, check lists, strikethrough, links that stand by themselves) as HTML.
///
/// HTML in the text is left out, and links that run something lead nowhere. A text that would become much larger by links that repeat
/// themselves is shown as it stands.
package enum MarkdownHTML {
    /// - Parameter hasPositions: whether each block says which lines of the text it comes from (`data-sourcepos`).
    package static func html(_ markdown: String, hasPositions: Bool = false) -> String {
        var text = markdown
        // The parser has no limit of its own.
        if text.withUTF8({ LinkDefinitions.repeatTooMuch(in: $0) || WideTables.areIn($0) }) {
            return "<pre>\(SitePage.escaped(text))</pre>\n"
        }
        let html = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { kith_markdown_html($0.baseAddress, $0.count, hasPositions ? 1 : 0) }
        }
        guard let html else { return "" }
        defer { kith_markdown_free(html) }
        return String(cString: html)
    }
}
