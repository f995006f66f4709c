import Foundation

/// The tags of a note: each once, compared byte by byte and in that order.
public struct NoteTags: Hashable, Sendable {
    private var tags: [String] = []

    public init(_ tags: some Sequence<String>) {
        // As they mostly come; a note that arrives from elsewhere may have a hundred thousand.
        self.tags = Array(tags)
        if !zip(self.tags, self.tags.dropFirst()).allSatisfy(Self.isBefore) {
            self.tags.sort { Self.isBefore($0, $1) }
            self.tags = self.tags.reduce(into: []) { sorted, tag in
                if sorted.last.map({ Self.isBefore($0, tag) }) ?? true { sorted.append(tag) }
            }
        }
    }

    private static func isBefore(_ one: String, _ other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }

    /// Whether there is no tag.
    public var isEmpty: Bool { tags.isEmpty }
    /// How many there are.
    public var count: Int { tags.count }

    /// Whether the tag is there, byte for byte.
    public func contains(_ tag: String) -> Bool {
        let place = place(of: tag)
        return place < tags.endIndex && tags[place].utf8.elementsEqual(tag.utf8)
    }

    /// Where the tag stands, or would stand.
    private func place(of tag: String) -> Int {
        var range = tags.startIndex..<tags.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = Self.isBefore(tags[middle], tag) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Adds a tag, if it is not there.
    public mutating func insert(_ tag: String) {
        if !contains(tag) { tags.insert(tag, at: place(of: tag)) }
    }

    /// Removes a tag, if it is there.
    public mutating func remove(_ tag: String) {
        if contains(tag) { tags.remove(at: place(of: tag)) }
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
