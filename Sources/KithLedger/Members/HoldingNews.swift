import KithSync

/// What a member said of the attachments that it has, gathered from several messages.
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
            added.formUnion(holdings.ids)
            removed.subtract(holdings.ids)
        case .noLonger:
            added.subtract(holdings.ids)
            removed.formUnion(holdings.ids)
        }
    }

    /// Takes in what came before this, and could not be noted.
    package mutating func follow(_ earlier: HoldingNews) {
        if replacesAll { return }
        replacesAll = earlier.replacesAll
        added.formUnion(earlier.added.subtracting(removed))
        removed.formUnion(earlier.removed.subtracting(added))
    }
}
