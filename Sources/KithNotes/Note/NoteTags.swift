import Foundation

/// The tags of a note: each once, compared byte by byte and in that order.
public struct NoteTags: Hashable, Sendable {
    private var tags: [String] = []

    public init(_ tags: some Sequence<String>) {
        for tag in tags { insert(tag) }
    }

    /// Whether there is no tag.
    public var isEmpty: Bool { tags.isEmpty }
    /// How many there are.
    public var count: Int { tags.count }

    /// Whether the tag is there, byte for byte.
    public func contains(_ tag: String) -> Bool {
        tags.contains { $0.utf8.elementsEqual(tag.utf8) }
    }

    /// Adds a tag, if it is not there.
    public mutating func insert(_ tag: String) {
        guard !contains(tag) else { return }
        let index = tags.firstIndex { tag.utf8.lexicographicallyPrecedes($0.utf8) } ?? tags.endIndex
        tags.insert(tag, at: index)
    }

    /// Removes a tag, if it is there.
    public mutating func remove(_ tag: String) {
        tags.removeAll { $0.utf8.elementsEqual(tag.utf8) }
    }

    public static func == (left: NoteTags, right: NoteTags) -> Bool {
        left.tags.elementsEqual(right.tags) { $0.utf8.elementsEqual($1.utf8) }
    }

    public func hash(into hasher: inout Hasher) {
        for tag in tags { hasher.combine(Array(tag.utf8)) }
    }
}

extension NoteTags: Sequence, ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: String...) {
        self.init(elements)
    }

    public func makeIterator() -> IndexingIterator<[String]> {
        tags.makeIterator()
    }
}

extension NoteTags {
    /// Reads the JSON array of a tags column; what is no array of strings counts as no tags.
    package init(json: String) {
        self.init(Self.plainElements(of: json) ?? (try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? [])
    }

    /// The elements of an array without spaces and escapes, told without a decoder, which takes longer than all else about a note:
    /// what stands between quotes, if only brackets and commas stand around them. `nil` for any other text.
    static func plainElements(of json: String) -> [String]? {
        if json == "[]" { return [] }
        var json = json
        return json.withUTF8 { bytes in
            guard bytes.first == UInt8(ascii: "[") else { return nil }
            var elements: [String] = []
            var rest = bytes.dropFirst()
            while rest.popFirst() == UInt8(ascii: "\"") {
                let element = rest.prefix { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
                rest = rest.dropFirst(element.count)
                guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
                elements.append(String(decoding: element, as: UTF8.self))
                switch rest.popFirst() {
                case UInt8(ascii: ","): continue
                case UInt8(ascii: "]"): return rest.isEmpty ? elements : nil
                default: return nil
                }
            }
            return nil
        }
    }

    /// The JSON array of a tags column.
    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(tags), as: UTF8.self)
    }
}
