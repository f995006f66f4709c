import KithCausality

/// A set cell: for each element the commits that added it, and who last touched the cell.
///
/// An element stays if someone added it without having seen its removal (observed-remove, add wins).
public struct SetState: Hashable, Sendable {
    /// One element and the commits that added it, sorted by dot.
    public struct Element: Hashable, Sendable {
        /// The element as compact JSON text, in UTF-8.
        public let json: [UInt8]
        public var dots: [Dot]

        public init(json: [UInt8], dots: [Dot]) {
            self.json = json
            self.dots = dots
        }
    }

    /// The elements present, sorted by their bytes; none without a dot.
    public var elements: [Element]
    /// Per replica its last commit that changed this cell.
    public var touched: VersionVector

    public init(elements: [Element] = [], touched: VersionVector = VersionVector()) {
        self.elements = elements
        self.touched = touched
    }

    /// The set that one commit wrote whole. `elements` need not be sorted or distinct.
    public init(elements: [[UInt8]], dot: Dot) {
        self.init(
            elements: Self.distinct(elements).map { Element(json: $0, dots: [dot]) }, touched: VersionVector([dot]))
    }

    /// A plain save: what appeared is added, what vanished is removed. Returns whether anything changed.
    public mutating func set(to newElements: [[UInt8]], dot: Dot) -> Bool {
        let wanted = Self.distinct(newElements)
        var result: [Element] = []
        var changed = false
        var index = 0
        for json in wanted {
            while index < elements.count, elements[index].json.lexicographicallyPrecedes(json) {
                changed = true
                index += 1
            }
            if index < elements.count, elements[index].json == json {
                result.append(elements[index])
                index += 1
            } else {
                result.append(Element(json: json, dots: [dot]))
                changed = true
            }
        }
        changed = changed || index < elements.count
        if changed {
            elements = result
            touched.insert(dot)
        }
        return changed
    }

    /// The elements of a new life: all that was known is removed, all of `newElements` is added.
    public mutating func restart(with newElements: [[UInt8]], dot: Dot) {
        elements = Self.distinct(newElements).map { Element(json: $0, dots: [dot]) }
        touched.insert(dot)
    }

    /// Adds elements, which may be there already, by a commit that removes none.
    public mutating func add(_ newElements: [[UInt8]], dot: Dot) {
        var all = elements
        for json in newElements {
            if let index = all.firstIndex(where: { $0.json == json }) {
                if !all[index].dots.contains(dot) { all[index].dots = (all[index].dots + [dot]).sorted() }
            } else {
                all.append(Element(json: json, dots: [dot]))
            }
        }
        elements = all.sorted { $0.json.lexicographicallyPrecedes($1.json) }
        touched.insert(dot)
    }

    mutating func merge(_ other: SetState, knowing mine: VersionVector, theirs: VersionVector) {
        var result: [Element] = []
        var left = 0
        var right = 0
        func add(_ json: [UInt8], _ a: [Dot], _ b: [Dot]) {
            let dots = keep(a, knowing: mine, b, knowing: theirs, dot: { $0 })
            if !dots.isEmpty { result.append(Element(json: json, dots: dots)) }
        }
        while left < elements.count || right < other.elements.count {
            let a = left < elements.count ? elements[left] : nil
            let b = right < other.elements.count ? other.elements[right] : nil
            if let a, let b, a.json == b.json {
                add(a.json, a.dots, b.dots)
                left += 1
                right += 1
            } else if let a, b.map({ a.json.lexicographicallyPrecedes($0.json) }) ?? true {
                add(a.json, a.dots, [])
                left += 1
            } else if let b {
                add(b.json, [], b.dots)
                right += 1
            }
        }
        elements = result
        touched.join(other.touched)
    }

    /// Who touched the cell of a row that was deleted: nobody of whom a side has forgotten, with a row that it
    /// collected, that he ever did. A deleted row is not kept alive by what is gone.
    func touched(with other: SetState, knowing mine: VersionVector, theirs: VersionVector) -> VersionVector {
        if touched == other.touched { return touched }
        var result = VersionVector()
        for dot in touched.entries where other.touched[dot.replica] > 0 || !theirs.covers(dot) { result.insert(dot) }
        for dot in other.touched.entries where touched[dot.replica] > 0 || !mine.covers(dot) { result.insert(dot) }
        return result
    }

    private static func distinct(_ elements: [[UInt8]]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for json in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) where result.last != json { result.append(json) }
        return result
    }
}
