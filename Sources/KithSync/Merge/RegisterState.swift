import KithCausality

/// When and by which commit something was written.
public struct Stamp: Hashable, Sendable {
    public var dot: Dot
    public var timestamp: HybridTimestamp
    /// Whether it was not written but found, in a table that held rows when it was first tracked: older than all that was written
    /// since, whatever the timestamp says. See docs/store.md, "Rows that were there before".
    public var isAdopted: Bool

    package init(dot: Dot, timestamp: HybridTimestamp, isAdopted: Bool = false) {
        self.dot = dot
        self.timestamp = timestamp
        self.isAdopted = isAdopted
    }

    /// Which of two concurrent writes is shown: one that was written before one that was found; of two that were written the later
    /// timestamp, then the higher replica id, then the higher sequence; of two that were found the other way round.
    package func isShown(over other: Stamp) -> Bool {
        if isAdopted != other.isAdopted { return !isAdopted }
        let isLater = timestamp == other.timestamp ? dot > other.dot : timestamp > other.timestamp
        return isAdopted ? !isLater && dot != other.dot : isLater
    }
}

extension Stamp {
    /// No timestamp before the year 2200 has this bit.
    private static let mark: UInt64 = 1 << 63

    /// The timestamp with the mark, in its highest bit, of what was found.
    package var markedTimestamp: UInt64 { timestamp.rawValue | (isAdopted ? Self.mark : 0) }

    package init(dot: Dot, markedTimestamp: UInt64) {
        self.init(
            dot: dot, timestamp: HybridTimestamp(rawValue: markedTimestamp & ~Self.mark), isAdopted: markedTimestamp & Self.mark != 0)
    }

    /// The same commit's, of what it found instead of writing it.
    package var adopted: Stamp { Stamp(dot: dot, timestamp: timestamp, isAdopted: true) }
}

/// One write of a register.
package struct Write: Hashable, Sendable {
    package var stamp: Stamp
    package var value: ColumnValue

    package init(stamp: Stamp, value: ColumnValue) {
        self.stamp = stamp
        self.value = value
    }
}

/// A register cell: all its causally maximal writes, sorted by dot.
package struct RegisterState: Hashable, Sendable {
    package var writes: [Write]
    /// The adopted values that somebody has overwritten or dismissed, here or elsewhere; no such value is among the writes.
    package var replaced: ContentSet

    package init(writes: [Write] = [], replaced: ContentSet = ContentSet()) {
        self.writes = writes
        self.replaced = replaced
    }

    /// The write that is shown, the same on every replica; `nil` if there is none.
    package var shown: Write? {
        guard var best = writes.first else { return nil }
        for write in writes.dropFirst() where write.stamp.isShown(over: best.stamp) { best = write }
        return best
    }

    /// The values that lost, each once and none that is shown, with the write that would be shown first; by dot.
    package var alternatives: [Write] {
        guard writes.count > 1, let shown else { return [] }
        var best: [ColumnValue: Write] = [:]
        for write in writes where write.value != shown.value {
            if let other = best[write.value], other.stamp.isShown(over: write.stamp) { continue }
            best[write.value] = write
        }
        return best.values.sorted { $0.stamp.dot < $1.stamp.dot }
    }

    /// A plain save: replaces the value that was shown, whoever wrote it, and only that one.
    ///
    /// A stamp is later than all its author has seen, but for clocks at ``HybridTimestamp/limit``: there, what would be
    /// shown over the new value is replaced too, so that a save always shows.
    ///
    /// - Parameter old: the value that was shown, if the write that is shown does not say it.
    package mutating func set(_ value: ColumnValue, stamp: Stamp, replacing old: ColumnValue? = nil) {
        if let shown {
            let old = old ?? shown.value
            remove(shown: shown.stamp.dot, old) { $0.value == old || $0.stamp.isShown(over: stamp) }
        }
        insert(Write(stamp: stamp, value: value))
    }

    /// A save in a migration step, which every device runs: it keeps the timestamp of the write that it replaces, so that it does not
    /// win over an edit. What stands in for an adopted value is older than all that was written, and counts for every equal one.
    ///
    /// - Parameter old: the value that was shown.
    package mutating func migrate(to value: ColumnValue, dot: Dot, replacing old: ColumnValue) {
        guard let shown = shown?.stamp else { return }
        set(value, stamp: Stamp(dot: dot, timestamp: shown.isAdopted ? .zero : shown.timestamp), replacing: old)
        if shown.isAdopted {
            replaced.insert(value.contentHash)
            dropReplaced()
        }
    }

    /// Writes `value` and supersedes every write known here.
    ///
    /// - Parameter old: the value that was shown, if the write that is shown does not say it.
    package mutating func resolve(keeping value: ColumnValue, stamp: Stamp, replacing old: ColumnValue? = nil) {
        if let shown { remove(shown: shown.stamp.dot, old ?? shown.value) { _ in true } }
        writes = [Write(stamp: stamp, value: value)]
    }

    /// Removes the write that is shown, which has the value `old`, and others.
    mutating func remove(shown dot: Dot, _ old: ColumnValue, _ isRemoved: (Write) -> Bool) {
        writes.removeAll { write in
            guard write.stamp.dot == dot || isRemoved(write) else { return false }
            if write.stamp.isAdopted { replaced.insert((write.stamp.dot == dot ? old : write.value).contentHash) }
            return true
        }
    }

    mutating func merge(_ other: RegisterState, knowing mine: VersionVector, theirs: VersionVector) {
        // Else what is remembered of the life before would stay with some.
        let isNew = hasForgotten(other, knowing: mine)
        let isOld = other.hasForgotten(self, knowing: theirs)
        writes = keep(writes, knowing: mine, other.writes, knowing: theirs, dot: \.stamp.dot)
        if isNew == isOld {
            replaced.formUnion(other.replaced)
        } else if isOld {
            replaced = other.replaced
        }
        dropReplaced()
    }

    /// Whether this is the cell of a row that its holder had collected and has written anew since: it knows of all that `old` says, and not
    /// all that was replaced there is remembered here.
    private func hasForgotten(_ old: RegisterState, knowing vector: VersionVector) -> Bool {
        !replaced.isSuperset(of: old.replaced) && !writes.isEmpty && !old.writes.isEmpty
            && old.writes.allSatisfy { vector.covers($0.stamp.dot) && !writes.contains($0) }
    }

    /// Drops adopted values that were replaced.
    mutating func dropReplaced() {
        if replaced.isEmpty { return }
        writes.removeAll { $0.stamp.isAdopted && replaced.contains($0.value.contentHash) }
    }

    /// Whether it has one write at most, and that one was written and not found: to save it needs no look at values.
    package var isSingleWrite: Bool { writes.count <= 1 && writes.first?.stamp.isAdopted != true }

    /// Adds a write that is concurrent to all others, but for those of the value `base`. One commit has one write: of two, the first stays.
    package mutating func add(_ write: Write, replacing base: ColumnValue? = nil) {
        if let base { remove(shown: write.stamp.dot, base) { $0.value == base } }
        if !writes.contains(where: { $0.stamp.dot == write.stamp.dot }) { insert(write) }
        dropReplaced()
    }

    private mutating func insert(_ write: Write) {
        let index = writes.firstIndex { $0.stamp.dot > write.stamp.dot } ?? writes.endIndex
        writes.insert(write, at: index)
    }
}
