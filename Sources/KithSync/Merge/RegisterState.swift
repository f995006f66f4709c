import KithCausality

/// When and by which commit something was written.
public struct Stamp: Hashable, Sendable {
    public var dot: Dot
    public var timestamp: HybridTimestamp

    public init(dot: Dot, timestamp: HybridTimestamp) {
        self.dot = dot
        self.timestamp = timestamp
    }

    /// Which of two concurrent writes is shown: the later timestamp, then the higher replica id, then the higher sequence.
    public func isShown(over other: Stamp) -> Bool {
        timestamp == other.timestamp ? dot > other.dot : timestamp > other.timestamp
    }
}

/// One write of a register.
public struct Write: Hashable, Sendable {
    public var stamp: Stamp
    public var value: Value

    public init(stamp: Stamp, value: Value) {
        self.stamp = stamp
        self.value = value
    }
}

/// A register cell: all its causally maximal writes, sorted by dot.
public struct RegisterState: Hashable, Sendable {
    public var writes: [Write]

    public init(writes: [Write] = []) {
        self.writes = writes
    }

    /// The write that is shown, the same on every replica; `nil` if there is none.
    public var shown: Write? {
        guard var best = writes.first else { return nil }
        for write in writes.dropFirst() where write.stamp.isShown(over: best.stamp) { best = write }
        return best
    }

    /// The writes that lost, by dot; several may carry the same value.
    public var alternatives: [Write] {
        guard writes.count > 1, let shown else { return [] }
        return writes.filter { $0.stamp.dot != shown.stamp.dot }
    }

    /// A plain save: replaces the write that was shown, and only that one.
    ///
    /// A stamp is later than all its author has seen, but for clocks at ``HybridTimestamp/limit``: there, what would be
    /// shown over the new value is replaced too, so that a save always shows.
    public mutating func set(_ value: Value, stamp: Stamp) {
        if let replaced = shown?.stamp.dot { writes.removeAll { $0.stamp.dot == replaced } }
        writes.removeAll { $0.stamp.isShown(over: stamp) }
        insert(Write(stamp: stamp, value: value))
    }

    /// Writes `value` and supersedes every write known here.
    public mutating func resolve(keeping value: Value, stamp: Stamp) {
        writes = [Write(stamp: stamp, value: value)]
    }

    mutating func merge(_ other: RegisterState, knowing mine: VersionVector, theirs: VersionVector) {
        writes = keep(writes, knowing: mine, other.writes, knowing: theirs, dot: \.stamp.dot)
    }

    /// Adds a write that is concurrent to all others. One commit has one write: of two, the first stays.
    public mutating func add(_ write: Write) {
        if !writes.contains(where: { $0.stamp.dot == write.stamp.dot }) { insert(write) }
    }

    private mutating func insert(_ write: Write) {
        let index = writes.firstIndex { $0.stamp.dot > write.stamp.dot } ?? writes.endIndex
        writes.insert(write, at: index)
    }
}
