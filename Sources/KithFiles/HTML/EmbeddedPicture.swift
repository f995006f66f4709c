import Crypto
import Foundation

/// A picture that stands within a document, in a `data:` URL (RFC 2397).
struct EmbeddedPicture {
    let bytes: [UInt8]
    /// A name for it, which follows from what it shows, with the ending that its type has.
    let name: String

    static func isOne(_ url: String) -> Bool { url.prefix(5).lowercased() == "data:" }

    /// - Returns: `nil` if it is damaged, or empty.
    init?(_ url: String) {
        guard Self.isOne(url), let comma = url.firstIndex(of: ",") else { return nil }
        let head = url[..<comma].dropFirst(5).lowercased().split(separator: ";", omittingEmptySubsequences: false)
        let rest = String(url[url.index(after: comma)...])
        let plain = rest.removingPercentEncoding ?? rest
        if head.last == "base64" {
            // Some leave the signs out that fill the last four characters.
            var digits = plain.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "=") }
            digits += Array(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
            guard let data = Data(base64Encoded: Data(digits)) else { return nil }
            bytes = Array(data)
        } else {
            bytes = Array(plain.utf8)
        }
        if bytes.isEmpty { return nil }
        let kind = head.first?.split(separator: "/").last.map(String.init) ?? ""
        let ending = kind.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let hash = SHA256.hash(data: bytes).prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        name = "picture-\(hash)." + (ending.isEmpty ? "bin" : ending == "jpeg" ? "jpg" : String(ending))
    }
}

/// The pictures within one note, each once.
struct EmbeddedPictures {
    private(set) var attachments: [ForeignNote.Attachment] = []

    /// - Returns: by which path the text names it.
    mutating func keep(_ picture: EmbeddedPicture) -> String {
        if !attachments.contains(where: { $0.name == picture.name }) {
            attachments.append(ForeignNote.Attachment(name: picture.name, source: .bytes(picture.bytes)))
        }
        return "\(MarkdownExport.attachmentFolder)/\(picture.name)"
    }
}
