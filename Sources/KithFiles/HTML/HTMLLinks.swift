import Foundation

/// The links and pictures in HTML that was made of Markdown.
package enum HTMLLinks {
    /// The HTML with another destination for those of which `destination` knows one. It is asked for what the text says, in which percent
    /// signs still stand for something.
    package static func replaced(_ html: String, _ destination: (_ link: String, _ isPicture: Bool) -> String?) -> String {
        let bytes = Array(html.utf8)
        var (result, copied, start) = ([UInt8](), 0, 0)
        // In what HTML shows as text, quotation marks are escaped.
        while let quote = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) {
            start = quote + 1
            let name = [" src=", " href="].first { bytes[..<quote].suffix($0.utf8.count).elementsEqual($0.utf8) }
            guard let name, let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) else { continue }
            if let path = destination(text(of: bytes[start..<end]), name == " src=") {
                result += bytes[copied..<start]
                result += Array(path.utf8)
                copied = end
            }
            start = end + 1
        }
        return copied == 0 ? html : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The names of attachments that a link to a file beside the text may mean, as imports and folders have them, the likeliest first; none
    /// for any other link.
    package static func attachmentNames(_ link: String) -> [String] {
        var path = link[...]
        while let up = ["../", "./"].first(where: { path.utf8.starts(with: $0.utf8) }) {
            path = Substring(path.utf8.dropFirst(up.utf8.count))
        }
        let folder = MarkdownExport.attachmentFolder + "/"
        guard path.utf8.starts(with: folder.utf8) else { return [] }
        let name = String(Substring(path.utf8.dropFirst(folder.utf8.count)))
        let (beforeMark, beforeQuestion) = (name.prefix { $0 != "#" }, name.prefix { $0 != "#" && $0 != "?" })
        var names = [String(beforeMark)]
        for other in [name, String(beforeQuestion)] where !names.contains(other) { names.append(other) }
        return names.map(MarkdownLinks.decoded)
    }

    /// What cmark has written into an attribute.
    private static func text(of attribute: ArraySlice<UInt8>) -> String {
        String(decoding: attribute, as: UTF8.self).replacing("&#x27;", with: "'").replacing("&amp;", with: "&")
    }
}
