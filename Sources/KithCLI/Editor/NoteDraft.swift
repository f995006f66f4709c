/// A note as an editor shows it: the title in the first line, an empty line, the body.
struct NoteDraft: Equatable {
    let title: String
    let body: String

    init(title: String, body: String) {
        self.title = title
        self.body = body
    }

    /// - Parameter original: the body as it was, which says whether a line end at its end is meant.
    init(text: String, like original: String = "") {
        // By bytes: a line end of "\r\n" is one character to Swift.
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        var title = text[..<end]
        if title.utf8.last == UInt8(ascii: "\r") { title = title.dropLast() }
        var body = end == bytes.endIndex ? "" : text[bytes.index(after: end)...]
        if body.first == "\n" || body.first == "\r\n" { body = body.dropFirst() }
        // Editors end the last line.
        if body.utf8.last == UInt8(ascii: "\n"), original.utf8.last != UInt8(ascii: "\n") { body = body.dropLast() }
        self.init(title: String(title), body: String(body))
    }

    /// What the editor gets.
    var text: String {
        body.isEmpty ? title + "\n" : title + "\n\n" + body + (body.utf8.last == UInt8(ascii: "\n") ? "" : "\n")
    }
}
