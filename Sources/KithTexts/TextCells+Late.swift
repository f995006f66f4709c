import KithCausality
import KithSync
import KithText

/// Changes that come after a restart which names them as parents. A store gets them in this order if a member lied to it, or if it has lost
/// something.
///
/// Until they come, the restart is applied without them. Once one comes, the store makes the text anew from all its changes, so that stores show
/// the same, whatever came first.
extension TextCells {
    /// What a merge makes of a text.
    struct Merged {
        var opened: Opened
        var resolution: Resolution
        /// Whether the text was made anew: then the resolution has all changes of it, and `opened` nothing of the history that is kept.
        var isAnew = false
    }

    /// Merges changes into a text. Writes nothing.
    ///
    /// - Parameter open: opens the text, and says how much of it may be read.
    /// - Returns: `nil` if more of the history would have to be read than may be.
    func merging(_ changes: [TextState.Change], readingIn open: () throws -> Opened) throws -> Merged? {
        let opened = try open()
        let late = try archive.replacedByRestarts(changes, in: opened.archived)
        if late.isEmpty { return try merging(changes, into: opened) }
        let read = try opened.history.withinAllowance { try readingHistory { try kept(opened, unknownTo: VersionVector()) } }
        guard let before = read else { return nil }
        let anew = Opened(document: TextDocument(), history: .inMemory, stepsMax: opened.stepsMax)
        guard var merged = try merging(before + changes, into: anew) else { return nil }
        if Set(merged.resolution.appended.map(\.header.dot)).isSuperset(of: before.map(\.stamp.dot)) {
            merged.isAnew = true
            return merged
        }
        return try merging(changes, into: open(), leaving: late)
    }

    /// The same, but refuses the changes that come late.
    func merging(_ changes: [TextState.Change], into opened: Opened, leaving late: Set<Dot>) throws -> Merged? {
        var merged = try merging(changes.filter { !late.contains($0.stamp.dot) }, into: opened)
        for change in changes where late.contains(change.stamp.dot) {
            merged?.resolution.aside.append((change, .refused("it was replaced before it came, and what is shown builds on that")))
        }
        return merged
    }

    private func merging(_ changes: [TextState.Change], into opened: Opened) throws -> Merged? {
        var opened = opened
        return try resolve(changes, in: &opened).map { Merged(opened: opened, resolution: $0) }
    }
}
