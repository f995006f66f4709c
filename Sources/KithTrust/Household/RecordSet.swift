/// A set of records by their place in a ``Membership``.
struct RecordSet: Hashable, Sendable {
    private var words: [UInt64] = []

    init() {}

    /// The places below `count`.
    init(below count: Int) {
        for place in 0..<count { insert(place) }
    }

    func contains(_ place: Int) -> Bool {
        let word = place >> 6
        return word < words.count && words[word] & (1 << UInt64(place & 63)) != 0
    }

    mutating func insert(_ place: Int) {
        let word = place >> 6
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(place & 63)
    }

    mutating func formUnion(_ other: RecordSet) {
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }
}
