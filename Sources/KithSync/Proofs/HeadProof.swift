import KithCausality

/// What shows that a replica has made a commit, and so every one before it: the signature of the device whose replica it is.
///
/// A replica's id is a hash of its device's public key and a nonce, so that whoever shows both shows whose it is, and nobody else
/// can speak for it. For an id that was drawn at random, and so has no device, any member may *vouch*; so for one whose device has
/// ceased to be a member since it was drawn, which may never sign again what it wrote last.
package struct HeadProof: Hashable, Sendable {
    /// Whose word it is.
    package struct Origin: Hashable, Sendable {
        /// Bytes of a public key: a compressed point of P-256 (SEC 1, 2.3.3).
        package static let keyBytes = 33
        /// Bytes of a nonce.
        package static let nonceBytes = 16

        /// The public key of the device that signs.
        package let key: [UInt8]
        /// What makes the replica's id of that key; `nil` if the device vouches for an id that is not its own.
        package let nonce: [UInt8]?

        package init(key: [UInt8], nonce: [UInt8]?) {
            self.key = key
            self.nonce = nonce
        }

        /// How often the device had ceased to be a member when the id was drawn: the first byte of the nonce.
        package var round: UInt8 { nonce?.first ?? 0 }
    }

    /// Bytes of a signature: r and s of ECDSA over P-256 with SHA-256 (FIPS 186-5).
    package static let signatureBytes = 64

    package let head: Head
    package let origin: Origin
    /// The public key of the member that vouches for the commits of a device that is none any more; `nil` if the key of the origin signs.
    package let voucher: [UInt8]?
    package let signature: [UInt8]

    package init(head: Head, origin: Origin, voucher: [UInt8]? = nil, signature: [UInt8]) {
        self.head = head
        self.origin = origin
        self.voucher = voucher
        self.signature = signature
    }

    /// The public key of who signs.
    package var signer: [UInt8] { voucher ?? origin.key }

    /// Whether it is the word of another than the replica's own device.
    var isVouched: Bool { voucher != nil || origin.nonce == nil }

    /// What is signed.
    package static func statement(of head: Head) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 48)
        writer.raw("kith head 1\n".utf8)
        writer.identifier(head.dot.replica)
        writer.fixed64(head.dot.sequence)
        writer.fixed64(head.timestamp.rawValue)
        return writer.bytes
    }
}

/// A proof as it travels: without what the other side has been told before.
package struct ProofOffer: Hashable, Sendable {
    package let head: Head
    /// `nil` if it was told with an earlier proof of that replica.
    package let origin: HeadProof.Origin?
    /// As in ``HeadProof/voucher``; `nil` without an origin.
    package let voucher: [UInt8]?
    package let signature: [UInt8]

    /// - Parameter isToldBefore: whether the other side was told before whose the replica is.
    package init(_ proof: HeadProof, isToldBefore: Bool) {
        // Several may vouch for one replica: the other side may have heard of another one.
        let isOriginKnown = isToldBefore && !proof.isVouched
        self.init(
            head: proof.head, origin: isOriginKnown ? nil : proof.origin, voucher: proof.voucher, signature: proof.signature)
    }

    package init(head: Head, origin: HeadProof.Origin?, voucher: [UInt8]? = nil, signature: [UInt8]) {
        self.head = head
        self.origin = origin
        self.voucher = voucher
        self.signature = signature
    }
}

extension ReplicaID {
    /// Whether the id is a hash that names its device, rather than drawn at random.
    package var isOfDevice: Bool { high >> 63 == 1 }
}
