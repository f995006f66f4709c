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

    public func contains(_ tag: String) -> Bool {
        tags.contains { $0.utf8.elementsEqual(tag.utf8) }
    }

    public mutating func insert(_ tag: String) {
        guard !contains(tag) else { return }
        let index = tags.firstIndex { tag.utf8.lexicographicallyPrecedes($0.utf8) } ?? tags.endIndex
        tags.insert(tag, at: index)
    }

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
    init(json: String) {
        self.init((try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? [])
    }

    /// The JSON array of a tags column.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(tags), as: UTF8.self)
    }
}
