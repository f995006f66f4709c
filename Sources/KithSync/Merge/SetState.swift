import KithCausality

/// A set cell: for each element the commits that added it, and who last touched the cell.
///
/// An element stays if someone added it without having seen its removal (observed-remove, add wins). One that was only found, in
/// a table that held rows when it was first tracked, stays unless somebody has ever removed it.
package struct SetState: Hashable, Sendable {
    /// One element and the commits that added it, sorted by dot.
    package struct Element: Hashable, Sendable {
        /// The element as compact JSON text, in UTF-8.
        package let json: [UInt8]
        package var dots: [Dot]

        package init(json: [UInt8], dots: [Dot]) {
            self.json = json
            self.dots = dots
        }
    }

    /// The elements that somebody has added, sorted by their bytes; none without a dot.
    package var elements: [Element]
    /// Per replica its last commit that changed this cell.
    package var touched: VersionVector
    /// The elements that somebody found, as compact JSON, sorted by their bytes; those that were removed since, too.
    package var adopted: [[UInt8]]
    /// Per replica its last commit that found something here, if only an empty set.
    package var adopters: VersionVector
    /// Every element that was ever removed: equal ones may yet be found.
    package var removed: ContentSet

    package init(
        elements: [Element] = [], touched: VersionVector = VersionVector(), adopted: [[UInt8]] = [],
        adopters: VersionVector = VersionVector(), removed: ContentSet = ContentSet()
    ) {
        self.elements = elements
        self.touched = touched
        self.adopted = adopted
        self.adopters = adopters
        self.removed = removed
    }

    /// The set that one commit found. `elements` need not be sorted or distinct.
    package init(adopting elements: [[UInt8]], dot: Dot) {
        self.init(adopted: Self.distinct(elements), adopters: VersionVector([dot]))
    }

    /// What the set shows, sorted by their bytes.
    package var members: [[UInt8]] {
        if adopted.isEmpty { return elements.map(\.json) }
        return Self.distinct(elements.map(\.json) + adopted.filter { !removed.contains(Self.contentHash($0)) })
    }

    /// The commits that live here.
    var dots: [Dot] { adopters.isEmpty ? touched.entries : touched.joined(with: adopters).entries }

    /// The set that one commit wrote whole. `elements` need not be sorted or distinct.
    package init(elements: [[UInt8]], dot: Dot) {
        self.init(
            elements: Self.distinct(elements).map { Element(json: $0, dots: [dot]) }, touched: VersionVector([dot]))
    }

    /// A plain save: what appeared is added, what vanished is removed. Returns whether anything changed.
    package mutating func set(to newElements: [[UInt8]], dot: Dot) -> Bool {
        let wanted = Self.distinct(newElements)
        let before = members
        if wanted == before { return false }
        var result: [Element] = []
        var index = 0
        var old = before[...]
        for json in wanted {
            while let first = old.first, first.lexicographicallyPrecedes(json) { noteRemoval(of: old.removeFirst(), by: dot) }
            while index < elements.count, elements[index].json.lexicographicallyPrecedes(json) { index += 1 }
            if index < elements.count, elements[index].json == json {
                result.append(elements[index])
            } else if old.first != json {
                result.append(Element(json: json, dots: [dot]))
            }
            if old.first == json { old.removeFirst() }
        }
        for json in old { noteRemoval(of: json, by: dot) }
        dropRemoved()
        elements = result
        touched.insert(dot)
        return true
    }

    /// The elements of a new life: all that was known is removed, all of `newElements` is added.
    package mutating func restart(with newElements: [[UInt8]], dot: Dot) {
        for json in members { noteRemoval(of: json, by: dot) }
        dropRemoved()
        elements = Self.distinct(newElements).map { Element(json: $0, dots: [dot]) }
        touched.insert(dot)
    }

    /// An element goes, and an equal one may yet be found. If the commit `dot` itself added it, no commit has ever shown it, and it does
    /// not count as removed.
    private mutating func noteRemoval(of json: [UInt8], by dot: Dot) {
        let index = Self.place(of: json, in: elements, by: \.json)
        let isNew = index < elements.count && elements[index].json == json && elements[index].dots == [dot]
        if isNew, !isFound(json) { return }
        removed.insert(Self.contentHash(json))
    }

    private func isFound(_ json: [UInt8]) -> Bool {
        let index = Self.place(of: json, in: adopted, by: \.self)
        return index < adopted.count && adopted[index] == json
    }

    /// Where `json` stands, or would stand, in what is sorted by its bytes.
    private static func place<Entry>(of json: [UInt8], in entries: [Entry], by key: (Entry) -> [UInt8]) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if key(entries[middle]).lexicographicallyPrecedes(json) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds elements, which may be there already, by a commit that removes none.
    package mutating func add(_ newElements: [[UInt8]], dot: Dot) {
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

    /// Whether this is the set of a row that its holder had collected and has written anew since: it knows of all that `old` says, and not
    /// all that was removed there is remembered here.
    private func hasForgotten(_ old: SetState, knowing vector: VersionVector) -> Bool {
        vector.covers(old.touched) && vector.covers(old.adopters) && !removed.isSuperset(of: old.removed)
    }

    mutating func merge(_ other: SetState, knowing mine: VersionVector, theirs: VersionVector) {
        // Else what is remembered of the life before would stay with some.
        let isNew = !(touched.isEmpty && adopters.isEmpty) && hasForgotten(other, knowing: mine)
        let isOld = other.hasForgotten(self, knowing: theirs)
        if isNew != isOld {
            if isOld { self = other }
            return
        }
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
        if !other.adopted.isEmpty { adopted = Self.distinct(adopted + other.adopted) }
        adopters.join(other.adopters)
        removed.formUnion(other.removed)
        dropRemoved()
    }

    /// Where every found element counts as removed, none is kept.
    mutating func dropRemoved() {
        if removed.isEverything { adopted = [] }
    }

    /// In a row that is deleted on one side: drops each replica's entry that one side lacks although it knows the commit. That side had
    /// collected the row, and a deleted row is not kept alive by what is gone.
    ///
    /// - Parameters:
    ///   - theirVector: what the other side knows, if the entries of `mine` that it lacks go; else `nil`.
    ///   - myVector: what this side knows, if the entries of `theirs` that it lacks go; else `nil`.
    mutating func forget(_ mine: SetState, _ theirs: SetState, beyond theirVector: VersionVector?, theirs myVector: VersionVector?) {
        func left(_ a: VersionVector, _ b: VersionVector) -> VersionVector {
            if a == b { return a }
            var result = VersionVector()
            for dot in a.entries where b[dot.replica] > 0 || theirVector?.covers(dot) != true { result.insert(dot) }
            for dot in b.entries where a[dot.replica] > 0 || myVector?.covers(dot) != true { result.insert(dot) }
            return result
        }
        touched = left(mine.touched, theirs.touched)
        adopters = left(mine.adopters, theirs.adopters)
        if adopters.isEmpty { adopted = [] }
        // Who lies says that it knows a commit, and not what that added: an element stays with its commit.
        for element in elements { for dot in element.dots { touched.insert(dot) } }
    }

    /// Each element once, sorted by their bytes.
    package static func distinct(_ elements: [[UInt8]]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for json in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) where result.last != json { result.append(json) }
        return result
    }
}
