import Foundation

/// An item as Joplin keeps it in files: a title, a text, and its properties in the lines at the end.
///
/// The format is that of Joplin's `BaseItem.serialize`: `title`, an empty line and the body of a note, an empty line, `key: value` lines,
/// the last of which is `type_`.
struct JoplinItem {
    enum Kind: Int {
        case note = 1
        case folder = 2
        case resource = 4
        case tag = 5
        case noteTag = 6
        /// One that is not read, such as an earlier version of a note. Joplin counts from one.
        case other = 0
    }

    let id: String
    let kind: Kind
    let title: String
    let body: String
    private let properties: [String: String]

    init?(_ bytes: [UInt8]) {
        guard let (lines, properties) = Self.parts(bytes), let id = properties["id"], Self.isID(id),
            let number = properties["type_"].flatMap(Int.init)
        else { return nil }
        (self.id, kind, self.properties) = (id, Kind(rawValue: number) ?? .other, properties)
        title = lines.first ?? ""
        body = lines.dropFirst(2).joined(separator: "\n")
    }

    /// The lines of the text and the properties behind it; `nil` if there are none. Lines end by bytes: to Swift, "\r\n" is one character,
    /// and a text may end in "\r".
    private static func parts(_ bytes: [UInt8]) -> (lines: [String], properties: [String: String])? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        var properties: [String: String] = [:]
        while let line = lines.last, !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            properties[String(line[..<colon])] = String(line[line.index(after: colon)...]).trimmingCharacters(in: .whitespaces)
            lines.removeLast()
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return properties.isEmpty ? nil : (lines, properties)
    }

    subscript(key: String) -> String { properties[key] ?? "" }

    func isSet(_ key: String) -> Bool { self[key] == "1" }

    /// A time in milliseconds since 1970: written as text, or as a number.
    func milliseconds(_ key: String) -> Int64? {
        let text = self[key]
        if let number = Int64(text) { return number > 0 ? number : nil }
        return TimeText.milliseconds(text)
    }

    var uuid: UUID? {
        let digits = Array(id)
        let parts = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]].map { String($0) }
        return UUID(uuidString: parts.joined(separator: "-"))
    }

    static func isID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
