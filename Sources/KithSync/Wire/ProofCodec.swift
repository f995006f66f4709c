import KithCausality

/// How proofs stand in bytes. See docs/protocol.md, "proofs".
enum ProofCodec {
    private enum Tag {
        static let known: UInt8 = 0
        static let own: UInt8 = 1
        static let vouched: UInt8 = 2
        static let vouchedOfDevice: UInt8 = 3
    }

    static func encode(_ offers: [ProofOffer], to writer: inout ByteWriter, _ replicas: inout ReplicaTable) {
        writer.count(offers.count)
        for offer in offers {
            writer.dot(offer.head.dot, &replicas)
            writer.fixed64(offer.head.timestamp.rawValue)
            encode(offer.origin, offer.voucher, to: &writer)
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
            let (origin, voucher) = try origin(&reader)
            let signature = try reader.raw(HeadProof.signatureBytes)
            offers.append(ProofOffer(head: head, origin: origin, voucher: voucher, signature: signature))
        }
        return offers
    }

    private static func encode(_ origin: HeadProof.Origin?, _ voucher: [UInt8]?, to writer: inout ByteWriter) {
        guard let origin else { return writer.byte(Tag.known) }
        guard let nonce = origin.nonce else {
            writer.byte(Tag.vouched)
            return writer.raw(origin.key)
        }
        writer.byte(voucher == nil ? Tag.own : Tag.vouchedOfDevice)
        writer.raw(origin.key + nonce + (voucher ?? []))
    }

    private static func origin(_ reader: inout ByteReader) throws(WireError) -> (HeadProof.Origin?, voucher: [UInt8]?) {
        let tag = try reader.byte()
        guard tag <= Tag.vouchedOfDevice else { throw .malformed("origin of a replica") }
        if tag == Tag.known { return (nil, nil) }
        let key = try reader.raw(HeadProof.Origin.keyBytes)
        if tag == Tag.vouched { return (HeadProof.Origin(key: key, nonce: nil), nil) }
        let origin = HeadProof.Origin(key: key, nonce: try reader.raw(HeadProof.Origin.nonceBytes))
        return (origin, tag == Tag.vouchedOfDevice ? try reader.raw(HeadProof.Origin.keyBytes) : nil)
    }
}
