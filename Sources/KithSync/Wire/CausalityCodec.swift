import KithCausality

// Replicas stand as numbers into a table that travels beside, or that the store keeps.

extension ByteWriter {
    package mutating func dot(_ dot: Dot, _ replicas: inout ReplicaTable) {
        let number = replicas.number(of: dot.replica)
        count(number)
        varint(dot.sequence)
        claim(dot.sequence, of: number)
    }

    package mutating func vector(_ vector: VersionVector, _ replicas: inout ReplicaTable) {
        count(vector.count)
        for dot in vector.entries { self.dot(dot, &replicas) }
    }

    /// What of `known` would survive a loss of power: mostly all of it, which takes a byte.
    mutating func durable(_ durable: VersionVector, of known: VersionVector, _ replicas: inout ReplicaTable) {
        byte(durable == known ? 0 : 1)
        if durable != known { knowledge(durable, &replicas) }
    }

    mutating func stamp(_ stamp: Stamp, _ replicas: inout ReplicaTable) {
        dot(stamp.dot, &replicas)
        fixed64(stamp.markedTimestamp)
    }

    /// One more than the hashes there are, then the hashes; 0 stands for every content.
    mutating func contents(_ contents: ContentSet) {
        if contents.isEverything { return count(0) }
        count(contents.hashes.count + 1)
        for hash in contents.hashes { fixed64(hash) }
    }

    mutating func heads(_ heads: [Head], _ replicas: inout ReplicaTable) {
        count(heads.count)
        for head in heads {
            dot(head.dot, &replicas)
            fixed64(head.timestamp.rawValue)
        }
    }

    mutating func position(_ position: SlicePosition) {
        blob(position.table)
        identifier(position.row)
    }
}

extension ByteReader {
    /// - Parameter mayBeNone: whether the sequence may be 0, for no commit.
    package mutating func dot(_ replicas: ReplicaTable, mayBeNone: Bool = false) throws(WireError) -> Dot {
        let number = try index(below: replicas.ids.count, "replica number")
        let sequence = try varint()
        guard sequence > 0 || mayBeNone, sequence <= UInt64(Int64.max) else { throw .malformed("sequence out of range") }
        claim(sequence, of: number)
        return Dot(replica: replicas.ids[number], sequence: sequence)
    }

    package mutating func vector(_ replicas: ReplicaTable) throws(WireError) -> VersionVector {
        let count = try count(eachBytes: 2, limit: WireLimits.replicasMax, "replicasMax")
        var vector = VersionVector()
        for _ in 0..<count {
            let dot = try dot(replicas)
            if let last = vector.entries.last, last.replica >= dot.replica { throw .malformed("vector out of order") }
            if dot.replica == .nobody { throw .malformed("commit of nobody") }
            vector.insert(dot)
        }
        return vector
    }

    mutating func durable(of known: VersionVector, _ replicas: ReplicaTable) throws(WireError) -> VersionVector {
        switch try byte() {
        case 0: known
        case 1: try knowledge(replicas)
        default: throw .malformed("durable")
        }
    }

    mutating func timestamp() throws(WireError) -> HybridTimestamp {
        let timestamp = HybridTimestamp(rawValue: try fixed64())
        guard timestamp < .limit else { throw .malformed("timestamp beyond the year 2200") }
        return timestamp
    }

    mutating func stamp(_ replicas: ReplicaTable) throws(WireError) -> Stamp {
        let dot = try dot(replicas)
        let stamp = Stamp(dot: dot, markedTimestamp: try fixed64())
        guard stamp.timestamp < .limit else { throw .malformed("timestamp beyond the year 2200") }
        return stamp
    }

    /// The stamp of a commit, which somebody has made.
    mutating func commit(_ replicas: ReplicaTable) throws(WireError) -> Stamp {
        let stamp = try stamp(replicas)
        if stamp.dot.replica == .nobody { throw .malformed("commit of nobody") }
        return stamp
    }

    mutating func contents() throws(WireError) -> ContentSet {
        let count = try count(limit: ContentSet.countMax + 1, "replacedContentsMax")
        if count == 0 { return .everything }
        guard remaining >= 8 * (count - 1) else { throw .truncated }
        var hashes: [UInt64] = []
        hashes.reserveCapacity(count - 1)
        for _ in 1..<count {
            let hash = try fixed64()
            if let last = hashes.last, last >= hash { throw .malformed("contents out of order") }
            hashes.append(hash)
        }
        return ContentSet(hashes: hashes)
    }

    mutating func heads(_ replicas: ReplicaTable) throws(WireError) -> [Head] {
        let count = try count(eachBytes: 10, limit: WireLimits.replicasMax, "replicasMax")
        var heads: [Head] = []
        heads.reserveCapacity(count)
        for _ in 0..<count {
            let dot = try dot(replicas)
            if let last = heads.last, last.dot.replica >= dot.replica { throw .malformed("heads out of order") }
            if dot.replica == .nobody { throw .malformed("commit of nobody") }
            heads.append(Head(dot: dot, timestamp: try timestamp()))
        }
        return heads
    }

    mutating func position() throws(WireError) -> SlicePosition {
        let table = try blob(limit: WireLimits.nameBytesMax, "nameBytesMax")
        return SlicePosition(table: table, row: try identifier())
    }
}
