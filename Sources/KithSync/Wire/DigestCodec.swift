// Sums and ranges of rows. See docs/protocol.md, "Comparing".

extension ByteWriter {
    mutating func sum(_ sum: DigestSum) {
        varint(sum.count)
        fixed64(sum.value)
    }

    mutating func optionalPosition(_ position: SlicePosition?) {
        byte(position == nil ? 0 : 1)
        if let position { self.position(position) }
    }

    mutating func range(_ range: DigestRange) {
        optionalPosition(range.after)
        optionalPosition(range.through)
    }
}

extension ByteReader {
    mutating func sum() throws(WireError) -> DigestSum {
        let count = try varint()
        return DigestSum(count: count, value: try fixed64())
    }

    mutating func optionalPosition() throws(WireError) -> SlicePosition? {
        switch try byte() {
        case 0: nil
        case 1: try position()
        default: throw .malformed("position")
        }
    }

    mutating func range() throws(WireError) -> DigestRange {
        let after = try optionalPosition()
        return DigestRange(after: after, through: try optionalPosition())
    }

    mutating func parts() throws(WireError) -> [DigestPart] {
        let count = try count(eachBytes: 10, limit: WireLimits.digestPartsMax, "digestPartsMax")
        var parts: [DigestPart] = []
        for _ in 0..<count {
            let through = try optionalPosition()
            parts.append(DigestPart(through: through, rows: try sum()))
        }
        return parts
    }
}
