import KithCausality

/// The proofs of one store, shared by all of its sessions, which may run at the same time.
package protocol ProofBook: AnyObject, Sendable {
    /// Lets one caller at a time read and change the records.
    func withRecords<Result>(_ body: (inout sending ProofRecords) throws -> sending Result) rethrows -> Result

    /// A commit that this device has signed is about to be told to others.
    ///
    /// - Throws: `storeFailed` if it must not be told, because the store could lose it with the power and make another commit in its place.
    func willTell(_ dot: Dot) throws(CloseReason)
}

extension ProofBook {
    package var authority: any ReplicaAuthority { withRecords { $0.authority } }

    /// The first of the claims that goes beyond what was proven; `nil` if there is none.
    func lie(in claims: Claims) -> Dot? { withRecords { $0.lie(in: claims) } }

    /// What of `vector` is proven.
    func proven(of vector: VersionVector) -> VersionVector { withRecords { $0.proven(of: vector) } }

    /// The device whose replica it is; `nil` if that is not known, or the replica is nobody's.
    func device(of replica: ReplicaID) -> [UInt8]? { withRecords { $0.key(of: replica) }.flatMap(authority.device) }

    /// Whether the store can prove all that it holds.
    package var isComplete: Bool { withRecords { $0.isComplete } }

    /// The devices whose commits the store holds without a proof, so that it sends nothing until they have proven them or were removed.
    package var silencing: [[UInt8]] {
        let authority = self.authority
        return withRecords { $0.silencing }.compactMap(authority.device)
    }

    /// What of the store's vector may be said.
    package func sayable(_ vector: VersionVector) -> VersionVector { withRecords { $0.sayable(vector) } }

    /// The store has read that these commits were made.
    package func note(_ heads: [Head]) { withRecords { $0.note(heads) } }

    /// Believes what a peer has proven. Signatures are looked at while others may use the book.
    ///
    /// - Throws: `protocolError` for a signature that is none, or a word about somebody else's replica; `tooLarge` for one replica too many.
    package func take(_ offers: [ProofOffer]) throws(CloseReason) {
        let authority = self.authority
        for offer in offers {
            guard let proof = try withRecords({ records in Swift.Result { () throws(CloseReason) in try records.proof(in: offer) } }).get()
            else { continue }
            guard authority.isSignature(proof.signature, of: HeadProof.statement(of: proof.head), by: proof.signer) else {
                throw CloseReason(.protocolError, "Its proof of commits of the replica \(proof.head.dot.replica) is signed by nobody.")
            }
            try withRecords { records in Swift.Result { () throws(CloseReason) in try records.believe(proof) } }.get()
        }
    }

    /// Whether this device itself has signed what is said of a replica of its own, also if the replica is not known; `false` if another device
    /// vouches.
    ///
    /// - Throws: `protocolError` for a signature that is none.
    func isOwnWord(_ offer: ProofOffer) throws(CloseReason) -> Bool {
        if offer.voucher != nil { return false }
        if let origin = offer.origin, origin.nonce == nil { return false }
        let (authority, key) = withRecords { ($0.authority, $0.key(of: offer.head.dot.replica)) }
        guard let key = offer.origin?.key ?? key, authority.isOwn(key),
            authority.isSignature(offer.signature, of: HeadProof.statement(of: offer.head), by: key)
        else {
            throw CloseReason(
                .protocolError,
                "Its proof of commits of the replica \(offer.head.dot.replica), which is this store's own, is signed by another.")
        }
        return true
    }

    /// Proofs of the claims, but for what the other side was told or has said.
    ///
    /// - Parameter told: up to which of a replica's commits that is.
    /// - Throws: `storeFailed` if a commit cannot be proven.
    func proofs(of claims: Claims, beyond told: (ReplicaID) -> UInt64) throws(CloseReason) -> [HeadProof] {
        var proofs: [HeadProof] = []
        for dot in claims.dots where told(dot.replica) < dot.sequence { proofs.append(try proof(of: dot)) }
        return proofs
    }

    /// A proof of this commit, or a later one of its replica, to be told to others.
    ///
    /// - Throws: `storeFailed` if it cannot be proven, or must not be told.
    package func proof(of dot: Dot) throws(CloseReason) -> HeadProof {
        let (proof, isOwn) = try withRecords { records in
            Swift.Result { () throws(CloseReason) in
                let proof = try records.proof(of: dot)
                return (proof, records.authority.isOwn(proof.signer))
            }
        }.get()
        if isOwn { try willTell(proof.head.dot) }
        return proof
    }
}
