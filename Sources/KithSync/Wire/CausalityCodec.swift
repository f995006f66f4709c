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
        for _ in 0..<count { vector.insert(try dot(replicas)) }
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
}
