import KithCausality

/// What a store can show, and believes, of who has made which commits: for each replica the newest proof that was met.
///
/// No commit beyond a replica's proof is believed, whoever names it.
package struct ProofRecords: Sendable {
    /// Replicas that one device may have in a store.
    package static let replicasOfDeviceMax = 4_096
    /// Replicas that one device may vouch for, and those of all devices together that never were members.
    package static let replicasOfStrangersMax = 256

    /// What is known of one replica. In few bytes: in ten years a store comes to know thousands.
    private struct Entry {
        /// Whose replica it is, or who vouches for it.
        let key: [UInt8]
        private let voucher: [UInt8]?
        /// 0 as long as nothing was signed: of a new replica of this device.
        let sequence: UInt64
        private let timestamp: HybridTimestamp
        /// The nonce, if there is one, and the signature.
        private let bytes: [UInt8]
        private let nonceBytes: UInt8

        /// - Parameter known: holds each key once.
        init(_ origin: HeadProof.Origin, _ proof: HeadProof?, sharing known: inout Set<[UInt8]>) {
            key = known.insert(origin.key).memberAfterInsert
            voucher = proof?.voucher.map { known.insert($0).memberAfterInsert }
            sequence = proof?.head.dot.sequence ?? 0
            timestamp = proof?.head.timestamp ?? .zero
            nonceBytes = UInt8(clamping: origin.nonce?.count ?? 0)
            bytes = (origin.nonce ?? []) + (proof?.signature ?? [])
        }

        var origin: HeadProof.Origin {
            HeadProof.Origin(key: key, nonce: hasNonce ? Array(bytes.prefix(Int(nonceBytes))) : nil)
        }

        func proof(of replica: ReplicaID) -> HeadProof? {
            if sequence == 0 { return nil }
            return HeadProof(
                head: Head(dot: Dot(replica: replica, sequence: sequence), timestamp: timestamp), origin: origin, voucher: voucher,
                signature: Array(bytes.dropFirst(Int(nonceBytes))))
        }

        /// Whose room it takes.
        var signer: [UInt8] { voucher ?? key }
        var isVouched: Bool { voucher != nil || !hasNonce }
        var hasNonce: Bool { nonceBytes > 0 }
    }

    private(set) var authority: any ReplicaAuthority
    private var entries: [ReplicaID: Entry] = [:]
    /// The keys in them.
    private var keys: Set<[UInt8]> = []
    /// How many replicas each key has.
    private var replicas: [[UInt8]: Int] = [:]
    /// How many each key vouches for.
    private var vouched: [[UInt8]: Int] = [:]
    /// How many are of devices that never were members.
    private var strangers = 0
    /// Whose proofs the store has not kept yet.
    private var unsavedReplicas: Set<ReplicaID> = []
    /// The newest commits that the store has read of replicas that this device may sign for.
    private var own: [ReplicaID: Head] = [:]
    /// Commits that the store holds and nobody has signed: its database was another device's, which had not signed them yet.
    private var unproven: [ReplicaID: Head] = [:]

    /// - Parameters:
    ///   - origins: whose the store's replicas are.
    ///   - proofs: what the store has kept.
    ///   - heads: what the store knows.
    package init(
        _ authority: any ReplicaAuthority, origins: [ReplicaID: HeadProof.Origin] = [:], proofs: [HeadProof] = [], heads: [Head] = []
    ) {
        self.authority = authority
        for proof in proofs { add(proof.origin, proof, of: proof.head.dot.replica) }
        bind(to: authority, origins: origins, heads: heads)
    }

    /// From now on this device, or this device under this key, proves what the store holds.
    package mutating func bind(to authority: any ReplicaAuthority, origins: [ReplicaID: HeadProof.Origin], heads: [Head]) {
        self.authority = authority
        strangers = entries.values.count { !authority.isMember($0.signer) }
        for (replica, origin) in origins { add(replica, origin) }
        own = own.filter { canSign(for: $0.key) }
        for head in heads where !canSign(for: head.dot.replica) && sequence(of: head.dot.replica) < head.dot.sequence {
            unproven[head.dot.replica] = head
        }
        unproven = unproven.filter { !canSign(for: $0.key) }
        note(heads)
    }

    private func sequence(of replica: ReplicaID) -> UInt64 { entries[replica]?.sequence ?? 0 }

    // MARK: What is believed

    /// The first of the claims that goes beyond what was proven; `nil` if there is none.
    func lie(in claims: Claims) -> Dot? {
        claims.dots.first { max(sequence(of: $0.replica), own[$0.replica]?.dot.sequence ?? 0) < $0.sequence }
    }

    /// What of `vector` is proven.
    func proven(of vector: VersionVector) -> VersionVector {
        vector.limited { max(sequence(of: $0), own[$0]?.dot.sequence ?? 0) }
    }

    /// The public key of the device whose replica it is; `nil` if that is not known, or the replica is nobody's.
    func key(of replica: ReplicaID) -> [UInt8]? {
        guard let entry = entries[replica], entry.hasNonce else { return nil }
        return entry.key
    }

    /// What an offer is to be, if it is good; `nil` if as much is known already. The signature is not looked at.
    func proof(in offer: ProofOffer) throws(CloseReason) -> HeadProof? {
        let replica = offer.head.dot.replica
        // Of a replica, who knows a commit knows all that came before.
        if let known = entries[replica], known.sequence >= offer.head.dot.sequence { return nil }
        guard let origin = offer.origin ?? entries[replica]?.origin else {
            throw CloseReason(.protocolError, "It does not say whose replica \(replica) is.")
        }
        let isRight = origin.nonce == nil ? !replica.isOfDevice : replica.isOfDevice && authority.replica(of: origin) == replica
        let mayVouch = offer.voucher.map { authority.isMember($0) && isClosed(origin) } ?? true
        guard isRight, mayVouch else {
            throw CloseReason(.protocolError, "It speaks for the replica \(replica), which is another device's.")
        }
        return HeadProof(head: offer.head, origin: origin, voucher: offer.voucher, signature: offer.signature)
    }

    /// Believes a proof whose signature is good.
    mutating func believe(_ proof: HeadProof) throws(CloseReason) {
        let dot = proof.head.dot
        if let entry = entries[dot.replica] {
            if entry.sequence >= dot.sequence { return }
        } else if !hasRoom(for: proof) {
            throw CloseReason(.tooLarge, "It brings more replicas of one device than a store takes.")
        }
        add(proof.origin, proof, of: dot.replica)
        unsavedReplicas.insert(dot.replica)
        if let missing = unproven[dot.replica], missing.dot.sequence <= dot.sequence { unproven[dot.replica] = nil }
    }

    /// Whether the store knows commits of `vector` of which neither a proof is here nor that it lacks one: another process has taken
    /// them in.
    package func isBehind(_ vector: VersionVector) -> Bool {
        vector.entries.contains { dot in
            let known = max(sequence(of: dot.replica), own[dot.replica]?.dot.sequence ?? 0, unproven[dot.replica]?.dot.sequence ?? 0)
            return known < dot.sequence && !canSign(for: dot.replica)
        }
    }

    /// The same of all that another look at the store has found.
    package mutating func restore(_ found: ProofRecords) {
        for (replica, entry) in found.entries {
            if let proof = entry.proof(of: replica) { restore(proof) }
        }
    }

    /// Takes over what the store has kept, by whatever process.
    package mutating func restore(_ proof: HeadProof) {
        let dot = proof.head.dot
        if sequence(of: dot.replica) >= dot.sequence { return }
        add(proof.origin, proof, of: dot.replica)
        if let missing = unproven[dot.replica], missing.dot.sequence <= dot.sequence { unproven[dot.replica] = nil }
    }

    // MARK: What is shown

    /// Whether the store can prove all that it holds. Until then it sends no rows: its peers would have to refuse them.
    var isComplete: Bool { unproven.keys.allSatisfy(mayVouch) }

    /// The devices, by public key, whose commits the store holds without a proof, so that it sends nothing.
    var silencing: Set<[UInt8]> { Set(unproven.keys.filter { !mayVouch(for: $0) }.compactMap { entries[$0]?.key }) }

    /// What of the store's vector may be said.
    func sayable(_ vector: VersionVector) -> VersionVector {
        isComplete ? vector : vector.limited { unproven[$0] == nil || mayVouch(for: $0) ? .max : sequence(of: $0) }
    }

    /// A new replica of this store.
    package mutating func add(_ replica: ReplicaID, _ origin: HeadProof.Origin) {
        if entries[replica] == nil { add(origin, nil, of: replica) }
    }

    /// The store has read that these commits were made.
    package mutating func note(_ heads: [Head]) {
        for head in heads where canSign(for: head.dot.replica) {
            if let known = own[head.dot.replica], known.dot.sequence > head.dot.sequence { continue }
            own[head.dot.replica] = head
        }
    }

    /// A proof of this commit, or a later one of its replica. What is this device's own, or may be vouched for, is signed now.
    ///
    /// - Throws: `storeFailed` if it cannot be proven.
    mutating func proof(of dot: Dot) throws(CloseReason) -> HeadProof {
        if let proof = entries[dot.replica]?.proof(of: dot.replica), proof.head.dot.sequence >= dot.sequence { return proof }
        let origin = entries[dot.replica]?.origin ?? HeadProof.Origin(key: authority.key, nonce: nil)
        let voucher = unproven[dot.replica] != nil && mayVouch(for: dot.replica) ? authority.key : nil
        guard let head = own[dot.replica] ?? unproven[dot.replica], head.dot.sequence >= dot.sequence,
            let signature = authority.signature(of: HeadProof.statement(of: head), by: voucher ?? origin.key)
        else { throw CloseReason(.storeFailed, "The store cannot prove commit \(dot.sequence) of the replica \(dot.replica).") }
        let proof = HeadProof(head: head, origin: origin, voucher: voucher, signature: signature)
        add(origin, proof, of: dot.replica)
        unsavedReplicas.insert(dot.replica)
        unproven[dot.replica] = nil
        return proof
    }

    /// Signs what is not signed of this device's own commits.
    package mutating func signAll() throws(CloseReason) {
        for head in own.values { _ = try proof(of: head.dot) }
    }

    // MARK: What is kept

    /// Proofs that the store has not kept yet.
    package var unsaved: [HeadProof] { unsavedReplicas.sorted().compactMap { entries[$0]?.proof(of: $0) } }

    /// The store has kept these.
    package mutating func saved(_ proofs: [HeadProof]) {
        for proof in proofs {
            let replica = proof.head.dot.replica
            if entries[replica]?.proof(of: replica) == proof { unsavedReplicas.remove(replica) }
        }
    }

    // MARK: Room

    /// Takes the place of what was known of the replica.
    private mutating func add(_ origin: HeadProof.Origin, _ proof: HeadProof?, of replica: ReplicaID) {
        let entry = Entry(origin, proof, sharing: &keys)
        let before = entries.updateValue(entry, forKey: replica)
        if let before, before.signer == entry.signer, before.isVouched == entry.isVouched { return }
        for (entry, change) in [(before, -1), (entry, 1)] {
            guard let entry else { continue }
            if entry.isVouched { vouched[entry.signer, default: 0] += change } else { replicas[entry.signer, default: 0] += change }
            if !authority.isMember(entry.signer) { strangers = max(0, strangers + change) }
        }
    }

    private func hasRoom(for proof: HeadProof) -> Bool {
        guard authority.isMember(proof.signer) else { return strangers < Self.replicasOfStrangersMax }
        return proof.isVouched
            ? vouched[proof.signer, default: 0] < Self.replicasOfStrangersMax
            : replicas[proof.signer, default: 0] < Self.replicasOfDeviceMax
    }

    /// Whether the device has ceased to be a member since the id was drawn, so that it writes nothing more under it.
    private func isClosed(_ origin: HeadProof.Origin) -> Bool {
        origin.nonce != nil && authority.roundsEnded(of: origin.key) > Int(origin.round)
    }

    /// Whether this device may vouch for commits of another, which may never sign them.
    private func mayVouch(for replica: ReplicaID) -> Bool { entries[replica].map { isClosed($0.origin) } ?? false }

    /// Whether this device may sign for the replica: it is its own, or nobody's and nobody has vouched for it.
    private func canSign(for replica: ReplicaID) -> Bool {
        guard let key = entries[replica]?.key else { return !replica.isOfDevice }
        return authority.isOwn(key)
    }
}

extension VersionVector {
    /// The vector with no more of each replica than `limit` says; none if that is 0.
    fileprivate func limited(_ limit: (ReplicaID) -> UInt64) -> VersionVector {
        if entries.allSatisfy({ $0.sequence <= limit($0.replica) }) { return self }
        return VersionVector(
            entries.compactMap { dot in
                let sequence = min(dot.sequence, limit(dot.replica))
                return sequence > 0 ? Dot(replica: dot.replica, sequence: sequence) : nil
            })
    }
}
