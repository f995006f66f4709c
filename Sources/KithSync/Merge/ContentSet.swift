/// Contents that were replaced or removed, remembered by hashes of 64 bits: a set that only grows.
///
/// An adopted value is named by its content, so whoever overwrites it does so for every equal one, met or not yet met. One that
/// would remember more than ``countMax`` contents stands for all there are: no adopted value counts there any more.
package struct ContentSet: Hashable, Sendable {
    /// Sorted and distinct; none if ``isEverything``.
    package private(set) var hashes: [UInt64] = []
    /// Whether every content is in it.
    package private(set) var isEverything = false

    /// How many contents one cell remembers.
    static let countMax = 10_000

    package init() {}

    /// The set of these hashes, in any order.
    init(hashes: some Sequence<UInt64>) {
        for hash in hashes.sorted() where self.hashes.last != hash { self.hashes.append(hash) }
        limit()
    }

    static var everything: ContentSet {
        var set = ContentSet()
        set.isEverything = true
        return set
    }

    package var isEmpty: Bool { hashes.isEmpty && !isEverything }

    func contains(_ hash: UInt64) -> Bool {
        if isEverything { return true }
        let index = index(of: hash)
        return index < hashes.count && hashes[index] == hash
    }

    func isSuperset(of other: ContentSet) -> Bool {
        isEverything || !other.isEverything && other.hashes.allSatisfy(contains)
    }

    mutating func insert(_ hash: UInt64) {
        if isEverything { return }
        let index = index(of: hash)
        if index < hashes.count, hashes[index] == hash { return }
        hashes.insert(hash, at: index)
        limit()
    }

    mutating func formUnion(_ other: ContentSet) {
        if other.isEmpty || self == other { return }
        if isEmpty || other.isEverything {
            self = other
        } else if !isEverything {
            self = ContentSet(hashes: hashes + other.hashes)
        }
    }

    private mutating func limit() {
        if hashes.count > Self.countMax { self = .everything }
    }

    private func index(of hash: UInt64) -> Int {
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ColumnValue {
    /// The name of this content: 1, 1.0 and '1' have three. Tells accidents, not forgeries.
    var contentHash: UInt64 {
        var hash = FNV1a()
        hash.add(self)
        return hash.mixed
    }
}

extension SetState {
    /// The name of an element.
    static func contentHash(_ json: [UInt8]) -> UInt64 {
        var hash = FNV1a()
        hash.add(json)
        return hash.mixed
    }
}
