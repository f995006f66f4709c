import KithCausality
import Synchronization

/// What a store can show, and believes, of who has made which commits: for each replica the newest proof that was met.
///
/// Shared by all sessions of a store. No commit beyond a replica's proof is believed, whoever names it.
package final class ProofBook: Sendable {
    /// Replicas that one device may have in a store.
    package static let replicasOfDeviceMax = 1_024
    /// Replicas that one device may vouch for, and those of all devices together that never were members.
    package static let replicasOfStrangersMax = 256

    package let authority: any ReplicaAuthority
    private let state: Mutex<State>

    fileprivate struct Entry {
        /// Whose replica it is, or who vouches for it.
        var origin: HeadProof.Origin
        /// `nil` as long as nothing was signed: of a new replica of this device.
        var proof: HeadProof?

        var sequence: UInt64 { proof?.head.dot.sequence ?? 0 }
    }

    fileprivate struct State {
        fileprivate(set) var entries: [ReplicaID: Entry] = [:]
        /// How many replicas each key has.
        fileprivate var replicas: [[UInt8]: Int] = [:]
        /// How many each key vouches for.
        fileprivate var vouched: [[UInt8]: Int] = [:]
        /// How many are of devices that never were members.
        fileprivate var strangers = 0
        var unsaved: Set<ReplicaID> = []
        /// The newest commits that the store has read of replicas that this device may sign for.
        var own: [ReplicaID: Head] = [:]
        /// Commits that the store holds and cannot prove: its database was another device's, which had not signed them yet.
        var unproven: [ReplicaID: UInt64] = [:]
    }

    /// - Parameters:
    ///   - origins: whose the store's replicas are.
    ///   - proofs: what the store has kept.
    ///   - heads: what the store knows.
    package init(
        _ authority: any ReplicaAuthority, origins: [ReplicaID: HeadProof.Origin] = [:], proofs: [HeadProof] = [], heads: [Head] = []
    ) {
        self.authority = authority
        var state = State()
        for (replica, origin) in origins {
            state.add(Entry(origin: origin, proof: nil), of: replica, authority)
        }
        for proof in proofs { state.add(Entry(origin: proof.origin, proof: proof), of: proof.head.dot.replica, authority) }
        for head in heads {
            let replica = head.dot.replica
            if state.canSign(for: replica, authority) {
                state.own[replica] = head
            } else if state.entries[replica].map({ $0.sequence < head.dot.sequence }) ?? true {
                state.unproven[replica] = head.dot.sequence
            }
        }
        self.state = Mutex(state)
    }

    // MARK: What is believed

    /// The first of the claims that goes beyond what was proven; `nil` if there is none.
    package func lie(in claims: Claims) -> Dot? {
        state.withLock { state in
            claims.dots.first { (state.entries[$0.replica]?.sequence ?? 0) < $0.sequence && !state.isOwn($0) }
        }
    }

    /// What of `vector` is proven.
    package func proven(of vector: VersionVector) -> VersionVector {
        state.withLock { state in
            VersionVector(
                vector.entries.compactMap { dot in
                    let sequence = min(dot.sequence, max(state.entries[dot.replica]?.sequence ?? 0, state.own[dot.replica]?.dot.sequence ?? 0))
                    return sequence > 0 ? Dot(replica: dot.replica, sequence: sequence) : nil
                })
        }
    }

    /// The device whose replica it is; `nil` if that is not known, or the replica is nobody's.
    package func device(of replica: ReplicaID) -> [UInt8]? {
        guard let origin = state.withLock({ $0.entries[replica]?.origin }), origin.nonce != nil else { return nil }
        return authority.device(of: origin.key)
    }

    /// Believes what peers have proven.
    ///
    /// - Throws: `protocolError` for a signature that is none, or a word about somebody else's replica; `tooLarge` for one replica too many.
    package func take(_ offers: [ProofOffer]) throws(CloseReason) {
        for offer in offers { try take(offer) }
    }

    private func take(_ offer: ProofOffer) throws(CloseReason) {
        let dot = offer.head.dot
        let known = state.withLock { $0.entries[dot.replica].map { ($0.origin, $0.sequence) } }
        // Neither read nor verified again: of a replica, who knows more knows all that came before.
        if let known, known.1 >= dot.sequence { return }
        guard let origin = offer.origin ?? known?.0 else {
            throw CloseReason(.protocolError, "It does not say whose replica \(dot.replica) is.")
        }
        try check(origin, of: dot.replica)
        let proof = HeadProof(head: offer.head, origin: origin, signature: offer.signature)
        guard authority.isSignature(proof.signature, of: HeadProof.statement(of: proof.head), by: origin.key) else {
            throw CloseReason(.protocolError, "It claims commits of the replica \(dot.replica) with a signature that is none.")
        }
        let isRoom = state.withLock { state in
            if let entry = state.entries[dot.replica] {
                if entry.sequence >= dot.sequence { return true }
            } else if !state.hasRoom(for: origin, authority) {
                return false
            }
            state.add(Entry(origin: origin, proof: proof), of: dot.replica, authority)
            state.unsaved.insert(dot.replica)
            if let missing = state.unproven[dot.replica], missing <= dot.sequence { state.unproven[dot.replica] = nil }
            return true
        }
        guard isRoom else {
            throw CloseReason(.tooLarge, "It brings more replicas of one device than a store takes.")
        }
    }

    /// An id that names its device is that device's alone.
    private func check(_ origin: HeadProof.Origin, of replica: ReplicaID) throws(CloseReason) {
        if origin.nonce == nil {
            if !replica.isOfDevice { return }
        } else if replica.isOfDevice, authority.replica(of: origin) == replica {
            return
        }
        throw CloseReason(.protocolError, "It speaks for the replica \(replica), which is another device's.")
    }

    // MARK: What is shown

    /// Whether the store can prove all that it holds. Until then it sends no rows: its peers would have to refuse them.
    package var isComplete: Bool { state.withLock { $0.unproven.isEmpty } }

    /// What of the store's vector may be said.
    package func sayable(_ vector: VersionVector) -> VersionVector {
        state.withLock { state in
            if state.unproven.isEmpty { return vector }
            return VersionVector(
                vector.entries.compactMap { dot in
                    guard state.unproven[dot.replica] != nil else { return dot }
                    let sequence = min(dot.sequence, state.entries[dot.replica]?.sequence ?? 0)
                    return sequence > 0 ? Dot(replica: dot.replica, sequence: sequence) : nil
                })
        }
    }

    /// A new replica of this store.
    package func add(_ replica: ReplicaID, _ origin: HeadProof.Origin) {
        state.withLock { state in
            if state.entries[replica] == nil { state.add(Entry(origin: origin, proof: nil), of: replica, authority) }
        }
    }

    /// The store has read that these commits were made.
    package func note(_ heads: [Head]) {
        state.withLock { state in
            for head in heads where state.canSign(for: head.dot.replica, authority) {
                if let known = state.own[head.dot.replica], known.dot.sequence > head.dot.sequence { continue }
                state.own[head.dot.replica] = head
            }
        }
    }

    /// Proofs of the claims, but for what the other side was told or has said; what is this device's own is signed now.
    ///
    /// - Throws: `storeFailed` if a commit cannot be proven.
    package func proofs(of claims: Claims, beyond told: VersionVector) throws(CloseReason) -> [HeadProof] {
        var proofs: [HeadProof] = []
        for dot in claims.dots where told[dot.replica] < dot.sequence { proofs.append(try proof(of: dot)) }
        return proofs
    }

    /// A proof of this commit, or a later one of its replica.
    package func proof(of dot: Dot) throws(CloseReason) -> HeadProof {
        let proof = state.withLock { state -> HeadProof? in
            if let proof = state.entries[dot.replica]?.proof, proof.head.dot.sequence >= dot.sequence { return proof }
            guard let head = state.own[dot.replica], head.dot.sequence >= dot.sequence else { return nil }
            let origin = state.entries[dot.replica]?.origin ?? HeadProof.Origin(key: authority.key, nonce: nil)
            guard let signature = authority.signature(of: HeadProof.statement(of: head), by: origin.key) else { return nil }
            let proof = HeadProof(head: head, origin: origin, signature: signature)
            state.add(Entry(origin: origin, proof: proof), of: dot.replica, authority)
            state.unsaved.insert(dot.replica)
            return proof
        }
        guard let proof else {
            throw CloseReason(.storeFailed, "The store cannot prove commit \(dot.sequence) of the replica \(dot.replica).")
        }
        return proof
    }

    /// Signs what is not signed of this device's own commits.
    package func signAll() throws(CloseReason) {
        for head in state.withLock({ Array($0.own.values) }) { _ = try proof(of: head.dot) }
    }

    // MARK: What is kept

    /// Proofs that the store has not kept yet.
    package var unsaved: [HeadProof] {
        state.withLock { state in state.unsaved.sorted().compactMap { state.entries[$0]?.proof } }
    }

    /// The store has kept these.
    package func saved(_ proofs: [HeadProof]) {
        state.withLock { state in
            for proof in proofs where state.entries[proof.head.dot.replica]?.proof == proof {
                state.unsaved.remove(proof.head.dot.replica)
            }
        }
    }
}

extension ProofBook.State {
    /// Takes the place of what was known of the replica.
    fileprivate mutating func add(_ entry: ProofBook.Entry, of replica: ReplicaID, _ authority: any ReplicaAuthority) {
        let before = entries.updateValue(entry, forKey: replica)
        if before?.origin == entry.origin { return }
        for (origin, change) in [(before?.origin, -1), (entry.origin, 1)] {
            guard let origin else { continue }
            if origin.nonce == nil { vouched[origin.key, default: 0] += change } else { replicas[origin.key, default: 0] += change }
            if !authority.isMember(origin.key) { strangers = max(0, strangers + change) }
        }
    }

    fileprivate func hasRoom(for origin: HeadProof.Origin, _ authority: any ReplicaAuthority) -> Bool {
        guard authority.isMember(origin.key) else { return strangers < ProofBook.replicasOfStrangersMax }
        let isVouched = origin.nonce == nil
        return (isVouched ? vouched : replicas)[origin.key, default: 0]
            < (isVouched ? ProofBook.replicasOfStrangersMax : ProofBook.replicasOfDeviceMax)
    }

    /// Whether this device may sign for the replica: it is its own, or nobody's and nobody has vouched for it.
    fileprivate func canSign(for replica: ReplicaID, _ authority: any ReplicaAuthority) -> Bool {
        guard let origin = entries[replica]?.origin else { return !replica.isOfDevice }
        return authority.isOwn(origin.key)
    }

    fileprivate func isOwn(_ dot: Dot) -> Bool { (own[dot.replica]?.dot.sequence ?? 0) >= dot.sequence }
}

extension ProofBook: Hashable {
    package static func == (left: ProofBook, right: ProofBook) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
