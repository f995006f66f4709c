import KithCausality

// Replicas stand as numbers into a table that travels beside, or that the store keeps.

extension ByteWriter {
    public mutating func dot(_ dot: Dot, _ replicas: inout ReplicaTable) {
        count(replicas.number(of: dot.replica))
        varint(dot.sequence)
    }

    public mutating func vector(_ vector: VersionVector, _ replicas: inout ReplicaTable) {
        count(vector.count)
        for dot in vector.entries { self.dot(dot, &replicas) }
    }

    public mutating func stamp(_ stamp: Stamp, _ replicas: inout ReplicaTable) {
        dot(stamp.dot, &replicas)
        fixed64(stamp.timestamp.rawValue)
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
    public mutating func dot(_ replicas: ReplicaTable) throws(WireError) -> Dot {
        let number = try index(below: replicas.ids.count, "replica number")
        let sequence = try varint()
        guard sequence > 0, sequence <= UInt64(Int64.max) else { throw .malformed("sequence out of range") }
        return Dot(replica: replicas.ids[number], sequence: sequence)
    }

    public mutating func vector(_ replicas: ReplicaTable) throws(WireError) -> VersionVector {
        let count = try count(eachBytes: 2, limit: WireLimits.replicasMax, "replicasMax")
        var vector = VersionVector()
        for _ in 0..<count {
            let dot = try dot(replicas)
            if let last = vector.entries.last, last.replica >= dot.replica { throw .malformed("vector out of order") }
            vector.insert(dot)
        }
        return vector
    }

    public mutating func timestamp() throws(WireError) -> HybridTimestamp {
        let timestamp = HybridTimestamp(rawValue: try fixed64())
        guard timestamp < .limit else { throw .malformed("timestamp beyond the year 2200") }
        return timestamp
    }

    public mutating func stamp(_ replicas: ReplicaTable) throws(WireError) -> Stamp {
        let dot = try dot(replicas)
        return Stamp(dot: dot, timestamp: try timestamp())
    }

    mutating func heads(_ replicas: ReplicaTable) throws(WireError) -> [Head] {
        let count = try count(eachBytes: 10, limit: WireLimits.replicasMax, "replicasMax")
        var heads: [Head] = []
        heads.reserveCapacity(count)
        for _ in 0..<count {
            let dot = try dot(replicas)
            if let last = heads.last, last.dot.replica >= dot.replica { throw .malformed("heads out of order") }
            heads.append(Head(dot: dot, timestamp: try timestamp()))
        }
        return heads
    }

    mutating func position() throws(WireError) -> SlicePosition {
        let table = try blob(limit: WireLimits.nameBytesMax, "nameBytesMax")
        return SlicePosition(table: table, row: try identifier())
    }
}
