import KithSync

/// What a member said of the attachments that it has, gathered from several messages.
///
/// Takes bounded room, whatever was said: what is too much is left out, so that the member counts as having less than it said, never more.
package struct HoldingNews: Hashable, Sendable {
    /// Whether what was known before counts no more.
    package private(set) var replacesAll = false
    /// What the member has besides.
    package private(set) var added: Set<AttachmentID> = []
    /// What the member has no longer.
    package private(set) var removed: Set<AttachmentID> = []

    package init() {}

    /// Takes in what the member says now.
    package mutating func hear(_ holdings: AttachmentHoldings) {
        switch holdings.kind {
        case .only:
            self = HoldingNews()
            replacesAll = true
            added = Set(holdings.ids)
        case .also:
            removed.subtract(holdings.ids)
            add(holdings.ids)
        case .noLonger:
            added.subtract(holdings.ids)
            remove(holdings.ids)
        }
    }

    /// Takes in what came before this, and could not be noted.
    package mutating func follow(_ earlier: HoldingNews) {
        if replacesAll { return }
        let (known, gone) = (earlier.added.subtracting(removed), earlier.removed.subtracting(added))
        replacesAll = earlier.replacesAll
        if replacesAll { removed = [] }
        add(known)
        remove(gone)
    }

    /// How many attachments it names.
    package var count: Int { added.count + removed.count }

    /// Nothing is known any more of what the member has.
    package mutating func forget() {
        self = HoldingNews()
        replacesAll = true
    }

    private mutating func add(_ ids: some Sequence<AttachmentID>) {
        for id in ids where added.count < AttachmentLimits.holdingsMax { added.insert(id) }
    }

    private mutating func remove(_ ids: some Sequence<AttachmentID>) {
        if replacesAll { return }
        removed.formUnion(ids)
        if removed.count > AttachmentLimits.holdingsMax { (replacesAll, removed) = (true, []) }
    }
}
