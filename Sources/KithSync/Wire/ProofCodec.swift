import KithCausality

/// How proofs stand in bytes. See docs/protocol.md, "proofs".
enum ProofCodec {
    private enum Tag {
        static let known: UInt8 = 0
        static let own: UInt8 = 1
        static let vouched: UInt8 = 2
    }

    static func encode(_ offers: [ProofOffer], to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.count(offers.count)
        for offer in offers {
            writer.dot(offer.head.dot, &replicas)
            writer.fixed64(offer.head.timestamp.rawValue)
            writer.byte(offer.origin.map { $0.nonce == nil ? Tag.vouched : Tag.own } ?? Tag.known)
            if let origin = offer.origin { writer.raw(origin.key + (origin.nonce ?? [])) }
            writer.raw(offer.signature)
        }
    }

    static func decode(_ reader: inout ByteReader, _ replicas: ReplicaTable) throws(WireError) -> [ProofOffer] {
        let count = try reader.count(eachBytes: 11 + HeadProof.signatureBytes, limit: WireLimits.replicasMax, "replicasMax")
        var offers: [ProofOffer] = []
        offers.reserveCapacity(count)
        for _ in 0..<count {
            let dot = try reader.dot(replicas)
            if let last = offers.last, last.head.dot.replica >= dot.replica { throw .malformed("proofs out of order") }
            if dot.replica == .nobody { throw .malformed("commit of nobody") }
            let head = Head(dot: dot, timestamp: try reader.timestamp())
            let origin = try origin(&reader)
            offers.append(ProofOffer(head: head, origin: origin, signature: try reader.raw(HeadProof.signatureBytes)))
        }
        return offers
    }

    private static func origin(_ reader: inout ByteReader) throws(WireError) -> HeadProof.Origin? {
        switch try reader.byte() {
        case Tag.known: return nil
        case Tag.own:
            let key = try reader.raw(HeadProof.Origin.keyBytes)
            return HeadProof.Origin(key: key, nonce: try reader.raw(HeadProof.Origin.nonceBytes))
        case Tag.vouched: return HeadProof.Origin(key: try reader.raw(HeadProof.Origin.keyBytes), nonce: nil)
        default: throw .malformed("origin of a replica")
        }
    }
}
