import Foundation
import Mustache

/// The templates of the page, from the program itself. What a person wrote is text wherever it is put.
struct Templates: Sendable {
    private let library: MustacheLibrary

    init() throws {
        MustacheContentTypes.register(PageText(), named: PageText.name)
        var library = MustacheLibrary()
        let sources = [
            "page": PackageResources.page_mustache, "rows": PackageResources.rows_mustache, "note": PackageResources.note_mustache,
            "empty": PackageResources.empty_mustache, "reading": PackageResources.reading_mustache,
            "conflicts": PackageResources.conflicts_mustache, "trash": PackageResources.trash_mustache,
            "history": PackageResources.history_mustache, "devices": PackageResources.devices_mustache,
        ]
        for (name, bytes) in sources {
            let text = "{{% CONTENT_TYPE: \(PageText.name)}}" + String(decoding: bytes, as: UTF8.self)
            try library.register(text, named: name)
        }
        self.library = library
    }

    func render(_ name: String, _ values: [String: Any]) -> String {
        library.render(values, withTemplate: name) ?? ""
    }
}

/// Text that a person wrote, for HTML: character by character of the standard that HTML is read by. The library's own way looks at what a
/// person sees as one character, so that a quotation mark with an accent on it would end an attribute.
struct PageText: MustacheContentType {
    static let name = "PAGE"

    func escapeText(_ text: String) -> String { Self.escaped(text) }

    static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
            case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
            case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
            case UInt8(ascii: "\""): bytes += Array("&quot;".utf8)
            case UInt8(ascii: "'"): bytes += Array("&#39;".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
