import KithCausality

/// What the two sides of a session have proven to each other.
struct Proving: Sendable {
    let book: any ProofBook
    /// What the peer said that it knew when the session began. Its frames may name it as a whole.
    private var said = VersionVector()
    /// Whether all of that is known to be proven, as it then stays.
    private var isSaidProven = false
    /// Whether the store holds all of that, proven yet or not, as it then stays.
    private(set) var isAllHere = false
    /// Commits beyond it that the peer has named, and so can prove, and those that were proven to it.
    private var told = VersionVector()
    /// The digest of the records of the household that the peer was sent.
    private var recordsTold: [UInt8]?

    init(_ book: any ProofBook) {
        self.book = book
    }

    /// Up to which of a replica's commits the peer needs no proof.
    private func peerKnows(_ replica: ReplicaID) -> UInt64 { max(said[replica], told[replica]) }

    /// The store knows `vector` now.
    mutating func noteHere(_ vector: VersionVector) {
        if !isAllHere { isAllHere = vector.covers(said) }
    }

    private mutating func tell(_ dots: [Dot]) {
        told.join(VersionVector(dots.filter { peerKnows($0.replica) < $0.sequence }))
    }

    /// What must go ahead of a frame with these claims.
    mutating func offers(for claims: Claims, _ summary: StoreSummary) throws(CloseReason) -> [ProofOffer] {
        if let head = summary.head(of: summary.replica) { book.note([head]) }
        return offers(of: try book.proofs(of: claims) { peerKnows($0) })
    }

    private mutating func offers(of proofs: [HeadProof]) -> [ProofOffer] {
        if proofs.isEmpty { return [] }
        let offers = proofs.map { proof in
            ProofOffer(proof, isToldBefore: peerKnows(proof.head.dot.replica) > 0)
        }
        tell(offers.map(\.head.dot))
        return offers.sorted { $0.head.dot.replica < $1.head.dot.replica }
    }

    /// What the peer must have heard of the household to believe these: why others vouch for a device's commits.
    mutating func reasons(for offers: [ProofOffer]) -> [[UInt8]] {
        guard offers.contains(where: { $0.voucher != nil }), let records = book.authority.householdRecords, records.digest != recordsTold
        else { return [] }
        recordsTold = records.digest
        return records.messages
    }

    /// The peer has said what it knows. Returns what proves our own hello, as far as it goes beyond that.
    ///
    /// - Parameter said: the vector of the hello.
    mutating func greet(_ hello: Hello, saying said: VersionVector, _ summary: StoreSummary) throws(CloseReason) -> [ProofOffer] {
        book.note(summary.heads)
        self.said = said
        let sayable = book.sayable(summary.vector)
        var proofs = try book.proofs(of: Claims(sayable.entries)) { peerKnows($0) }
        // Only its own signature can make a store doubt who it is.
        if let head = summary.head(of: hello.replica), said.covers(head.dot), sayable.covers(head.dot),
            head != hello.heads.first(where: { $0.dot.replica == hello.replica })
        {
            proofs.append(try book.proof(of: head.dot))
        }
        return offers(of: proofs)
    }

    /// Checks that a peer that says it is this replica may: an id that names a device is that device's alone.
    func check(_ replica: ReplicaID, isOf device: [UInt8]?) throws(CloseReason) {
        guard let device, let owner = book.device(of: replica), owner != device else { return }
        throw CloseReason(.protocolError, "It says that it is the replica \(replica), which is another device's.")
    }

    /// What of a frame is believed. Of one that tells no more than how far the peer is, that is what is proven; whoever names others
    /// commits must have proven them.
    mutating func believed(_ frame: Frame, _ claims: Claims) throws(CloseReason) -> Frame {
        defer { tell(claims.dots) }
        switch frame {
        case .ping(let pulse): return .ping(believed(pulse))
        case .pong(let pulse): return .pong(believed(pulse))
        case .acknowledge(var acknowledgement):
            acknowledgement.durable = book.proven(of: acknowledgement.durable)
            return .acknowledge(acknowledgement)
        default:
            try check(claims)
            return frame
        }
    }

    private func believed(_ pulse: Pulse) -> Pulse {
        var pulse = pulse
        (pulse.vector, pulse.durable) = (book.proven(of: pulse.vector), book.proven(of: pulse.durable))
        return pulse
    }

    private mutating func check(_ claims: Claims) throws(CloseReason) {
        try refuseLie(in: claims)
        guard claims.nameSender, !isSaidProven else { return }
        try refuseLie(in: Claims(said.entries))
        isSaidProven = true
    }

    private func refuseLie(in claims: Claims) throws(CloseReason) {
        if let lie = book.lie(in: claims) {
            throw CloseReason(
                .protocolError, "It claims commit \(lie.sequence) of the replica \(lie.replica), which nobody is known to have made.")
        }
    }
}

extension Hello {
    /// What of it is proven, and its vector.
    ///
    /// - Parameter said: the vector of the whole.
    func believed(by book: any ProofBook, saying said: VersionVector) -> (Hello, VersionVector) {
        var hello = self
        let vector = book.proven(of: said)
        // An honest peer is believed all, and nothing is copied.
        if vector != said {
            hello.heads = heads.filter { vector.covers($0.dot) }
            hello.heads += vector.entries.compactMap { dot in
                said[dot.replica] == dot.sequence ? nil : Head(dot: dot, timestamp: .zero)
            }
            hello.heads.sort { $0.dot < $1.dot }
        }
        hello.durable = book.proven(of: durable)
        hello.resumption = resumption.map { Resumption(position: $0.position, vector: book.proven(of: $0.vector)) }
        return (hello, vector)
    }
}

extension Frame {
    /// Whether the frame tells how far its sender is, and brings nothing: each side believes of it what it knows to be proven.
    var isReport: Bool {
        switch self {
        case .ping, .pong, .acknowledge: true
        default: false
        }
    }
}
