import KithCausality

/// What the two sides of a session have said that they knew when it began: vectors in its frames may be said as differences from it.
package struct WireBases: Hashable, Sendable {
    /// The heads of the side that sends the frame, and of the one that receives it; strictly ascending by replica.
    package let sender: [Head]
    package let receiver: [Head]
    let senderVector: VersionVector
    let receiverVector: VersionVector
    /// How many entries of a vector a frame spells out at most.
    package var spelledMax = 0

    /// - Parameter known: a vector that one of the two may be equal to, so that its memory is shared.
    package init(sender: [Head], receiver: [Head], spelledMax: Int = 0, sharing known: VersionVector = VersionVector()) {
        self.sender = sender
        self.receiver = sender == receiver ? sender : receiver
        self.spelledMax = spelledMax
        senderVector = VersionVector(sender.map(\.dot)).sharing(known)
        receiverVector = sender == receiver ? senderVector : VersionVector(receiver.map(\.dot)).sharing(known)
    }

    private init(turning other: WireBases) {
        (sender, senderVector) = (other.receiver, other.receiverVector)
        (receiver, receiverVector) = (other.sender, other.senderVector)
        spelledMax = other.spelledMax
    }

    /// The same for the frames of the other direction.
    package var turned: WireBases { WireBases(turning: self) }
}

/// From what a vector is a difference.
private enum Base {
    static let none: UInt64 = 0
    static let sender: UInt64 = 1
    static let receiver: UInt64 = 2
}

extension ByteWriter {
    /// A vector of all that somebody knows: as a difference from what the two sides knew at the beginning, if the frame has such.
    mutating func knowledge(_ vector: VersionVector, _ replicas: inout ReplicaTable) {
        guard let bases else { return self.vector(vector, &replicas) }
        let dots = bases.shortest(
            vector.entries, bases.senderVector.entries, bases.receiverVector.entries, replica: { $0.replica },
            none: { Dot(replica: $0, sequence: 0) })
        flagged(dots.entries.count, dots.base)
        for dot in dots.entries { self.dot(dot, &replicas) }
    }

    /// The same with timestamps.
    mutating func knowledge(_ heads: [Head], _ replicas: inout ReplicaTable) {
        guard let bases else { return self.heads(heads, &replicas) }
        let told = bases.shortest(
            heads, bases.sender, bases.receiver, replica: { $0.dot.replica },
            none: { Head(dot: Dot(replica: $0, sequence: 0), timestamp: .zero) })
        flagged(told.entries.count, told.base)
        for head in told.entries {
            dot(head.dot, &replicas)
            if head.dot.sequence > 0 { fixed64(head.timestamp.rawValue) }
        }
    }

    private mutating func flagged(_ count: Int, _ base: UInt64) {
        varint(UInt64(count) << 2 | base)
    }
}

extension ByteReader {
    mutating func knowledge(_ replicas: ReplicaTable) throws(WireError) -> VersionVector {
        guard let bases else { return try vector(replicas) }
        let (count, base) = try count(flagBits: 2, eachBytes: 2, limit: WireLimits.replicasMax, "replicasMax")
        var dots: [Dot] = []
        for _ in 0..<count {
            let dot = try entry(replicas, isDifference: base != Base.none)
            if let last = dots.last, last.replica >= dot.replica { throw .malformed("vector out of order") }
            dots.append(dot)
        }
        switch base {
        case Base.none: break
        case Base.sender: namesSender = true
        case Base.receiver: break
        default: throw .malformed("difference from what nobody has said")
        }
        let whole = base == Base.sender ? bases.senderVector : bases.receiverVector
        if base == Base.none { return VersionVector(dots) }
        if dots.isEmpty { return whole }
        let entries = whole.entries.changed(by: dots, replica: { $0.replica }, isNone: { $0.sequence == 0 })
        guard entries.count <= WireLimits.replicasMax else { throw .limitExceeded("replicasMax") }
        return VersionVector(entries)
    }

    mutating func knownHeads(_ replicas: ReplicaTable) throws(WireError) -> [Head] {
        guard let bases else { return try heads(replicas) }
        let (count, base) = try count(flagBits: 2, eachBytes: 2, limit: WireLimits.replicasMax, "replicasMax")
        var heads: [Head] = []
        for _ in 0..<count {
            let dot = try entry(replicas, isDifference: base != Base.none)
            if let last = heads.last, last.dot.replica >= dot.replica { throw .malformed("heads out of order") }
            heads.append(Head(dot: dot, timestamp: dot.sequence > 0 ? try timestamp() : .zero))
        }
        switch base {
        case Base.none: return heads
        case Base.sender: namesSender = true
        case Base.receiver: break
        default: throw .malformed("difference from what nobody has said")
        }
        let whole = base == Base.sender ? bases.sender : bases.receiver
        let result = whole.changed(by: heads, replica: { $0.dot.replica }, isNone: { $0.dot.sequence == 0 })
        guard result.count <= WireLimits.replicasMax else { throw .limitExceeded("replicasMax") }
        return result
    }

    /// The newest commit of a replica; in a difference, sequence 0 for one of which nothing is known.
    private mutating func entry(_ replicas: ReplicaTable, isDifference: Bool) throws(WireError) -> Dot {
        let dot = try dot(replicas, mayBeNone: isDifference)
        if dot.replica == .nobody { throw .malformed("commit of nobody") }
        return dot
    }
}

extension WireBases {
    /// The entries to say, and from which base they are a difference: what is shortest.
    fileprivate func shortest<Entry: Equatable>(
        _ entries: [Entry], _ sender: [Entry], _ receiver: [Entry], replica: (Entry) -> ReplicaID, none: (ReplicaID) -> Entry
    ) -> (entries: [Entry], base: UInt64) {
        var best = (entries: entries, base: Base.none)
        for (base, whole) in [(Base.sender, sender), (Base.receiver, receiver)] {
            let difference = entries.difference(from: whole, replica: replica, none: none)
            if difference.count < best.entries.count { best = (difference, base) }
        }
        return best
    }
}

extension [UInt8] {
    /// Of which type a frame is, differences or not.
    package var frameType: UInt8? {
        first == FrameCodec.FrameType.differences ? dropFirst().first : first
    }
}

extension Array {
    /// What makes this of `base`, both ascending by replica.
    fileprivate func difference(
        from base: [Element], replica: (Element) -> ReplicaID, none: (ReplicaID) -> Element
    ) -> [Element] where Element: Equatable {
        var result: [Element] = []
        var index = 0
        for entry in self {
            while index < base.count, replica(base[index]) < replica(entry) {
                result.append(none(replica(base[index])))
                index += 1
            }
            let isThere = index < base.count && replica(base[index]) == replica(entry)
            if !isThere || base[index] != entry { result.append(entry) }
            if isThere { index += 1 }
        }
        return result + base[index...].map { none(replica($0)) }
    }

    /// This with the entries of a difference in their places, both ascending by replica.
    fileprivate func changed(by difference: [Element], replica: (Element) -> ReplicaID, isNone: (Element) -> Bool) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(count + difference.count)
        var index = 0
        for entry in difference {
            while index < count, replica(self[index]) < replica(entry) {
                result.append(self[index])
                index += 1
            }
            if index < count, replica(self[index]) == replica(entry) { index += 1 }
            if !isNone(entry) { result.append(entry) }
        }
        return result + self[index...]
    }
}
