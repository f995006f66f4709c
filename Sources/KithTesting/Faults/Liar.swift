import KithCausality
import KithStore
import KithSync

/// A device of the household that means ill: it knows what its store knows, signs with its own key, and sends what no store would.
///
/// The commits that it makes are of a replica of its own that no store has.
struct Liar {
    var random: SplitMix64
    let authority: SimulatedAuthority
    /// All that its store holds, as it would send it to a peer that knows nothing.
    let truth: Slice
    /// What its store can prove of all that it holds.
    let proofs: [HeadProof]
    /// Devices of which the other side has heard that they were no members for a while: any member may vouch for what they wrote before.
    let closed: Set<[UInt8]>
    /// The one that is lied to, and what it knows.
    let peer: ReplicaID
    let known: VersionVector
    /// The liar's next commit.
    let next: UInt64

    /// What a lie is about.
    enum Kind: CaseIterable {
        /// Proofs of another device's commits that were not made, and a slice that names them.
        case signature, origin, nonce, ownerless, voucher
        /// Another time of a commit that the other side has made, as if that had been set back.
        case time
        /// Commits of another device that were not made, somewhere in a slice.
        case beyond
        /// Nothing is there any more.
        case listing
        /// Rows of which the sender holds nothing; whose deletion keeps nothing; that lack cells.
        case bareRows, deletions, missingCells
        /// Commits that were made, without their rows.
        case passedOver
    }

    /// Whose replica the liar's own is.
    static func origin(_ authority: SimulatedAuthority) -> HeadProof.Origin {
        HeadProof.Origin(key: authority.key, nonce: [0] + [UInt8](repeating: 7, count: HeadProof.Origin.nonceBytes - 1))
    }

    static func replica(_ authority: SimulatedAuthority) -> ReplicaID { authority.replica(of: origin(authority)) ?? .nobody }

    private var own: Head {
        Head(dot: Dot(replica: Self.replica(authority), sequence: next), timestamp: max(truth.clock, HybridTimestamp(milliseconds: 1)))
    }

    /// The frames of one lie; none if the liar knows too little to tell one.
    mutating func frames() -> [Frame] {
        let kind = random.chance(percent: 30) ? .beyond : random.pick(Kind.allCases) ?? .beyond
        switch kind {
        case .signature, .origin, .nonce, .ownerless, .voucher:
            guard let proof = victim(), kind != .voucher || !closed.contains(proof.origin.key) else { return [] }
            let head = Head(dot: beyond(proof.head.dot), timestamp: own.timestamp)
            var slice = slice()
            claim(head, in: &slice)
            return [proven(besides: [offer(kind, head, of: proof)]), .slice(slice, alsoSentTo: [])]
        case .time:
            guard let proof = proofs.first(where: { $0.head.dot.replica == peer }) else { return [] }
            let head = Head(dot: proof.head.dot, timestamp: own.timestamp)
            return [proven(besides: [offer(kind, head, of: proof)])]
        case .beyond:
            guard let proof = victim() else { return [] }
            var slice = slice(rows: 1)
            name(beyond(proof.head.dot), in: &slice)
            return [proven(), .slice(slice, alsoSentTo: [])]
        case .listing, .bareRows, .deletions, .missingCells, .passedOver:
            return [proven(), .slice(falseRows(kind), alsoSentTo: [])]
        }
    }

    // MARK: Who one is

    /// What the liar says in the place of its hello: that it is the other side's replica, or that it knows of that replica what no replica has
    /// written.
    mutating func hello(_ hello: Hello) -> Hello {
        var hello = hello
        if random.chance(percent: 50) {
            hello.replica = peer
        } else {
            let dot = Dot(replica: peer, sequence: beyond(Dot(replica: peer, sequence: max(1, known[peer]))).sequence)
            hello.heads = (hello.heads.filter { $0.dot.replica != peer } + [Head(dot: dot, timestamp: own.timestamp)])
                .sorted { $0.dot < $1.dot }
        }
        return hello
    }

    // MARK: Commits of others

    private mutating func victim() -> HeadProof? { random.pick(proofs.filter { $0.origin.key != authority.key }) }

    /// A commit that its replica has not made.
    private mutating func beyond(_ dot: Dot) -> Dot {
        let distance: UInt64 = random.pick([1, 1, 1 << 20]) ?? 1
        return Dot(replica: dot.replica, sequence: random.chance(percent: 20) ? UInt64(Int64.max) : dot.sequence + distance)
    }

    private func signed(_ head: Head) -> [UInt8] { authority.signature(of: HeadProof.statement(of: head), by: authority.key) ?? [] }

    /// True proofs of all that a slice of the liar may name: it is to be refused for its lie, and for nothing else.
    private func proven(besides lies: [ProofOffer] = []) -> Frame {
        let own = ProofOffer(head: own, origin: Self.origin(authority), signature: signed(own))
        let others = proofs.map { ProofOffer($0, isToldBefore: false) }
            .filter { offer in !lies.contains { $0.head.dot.replica == offer.head.dot.replica } }
        return .proofs((others + lies + [own]).sorted { $0.head.dot.replica < $1.head.dot.replica })
    }

    private func offer(_ kind: Kind, _ head: Head, of proof: HeadProof) -> ProofOffer {
        let (key, nonce) = (authority.key, Self.origin(authority).nonce)
        let origin =
            switch kind {
            case .origin: HeadProof.Origin(key: key, nonce: nonce)
            case .nonce: HeadProof.Origin(key: key, nonce: proof.origin.nonce)
            case .ownerless: HeadProof.Origin(key: key, nonce: nil)
            default: proof.origin
            }
        return ProofOffer(head: head, origin: origin, voucher: kind == .voucher ? key : nil, signature: signed(head))
    }

    // MARK: Slices

    /// A whole delta with a commit of the liar's own, and some rows as they are. Mostly it brings the peer to no commit of others that the
    /// peer does not know.
    private mutating func slice(rows count: Int = 0) -> Slice {
        var slice = truth
        (slice.since, slice.isFirst, slice.isLast, slice.rowsRemaining, slice.listing) = (VersionVector(), true, true, 0, nil)
        while slice.rows.count > count { slice.rows.remove(at: random.int(in: 0...slice.rows.count - 1)) }
        if random.chance(percent: 80) { slice.target.removeAll { !known.covers($0.dot) } }
        claim(own, in: &slice)
        slice.position = slice.rows.last?.position(in: slice.tables)
        return slice
    }

    private func claim(_ head: Head, in slice: inout Slice) {
        slice.vector.join(VersionVector([head.dot]))
        slice.target = (slice.target.filter { $0.dot.replica != head.dot.replica } + [head]).sorted { $0.dot < $1.dot }
    }

    private mutating func falseRows(_ kind: Kind) -> Slice {
        let count = kind == .listing || kind == .passedOver ? 0 : random.pick([1, 3, truth.rows.count]) ?? 1
        var slice = slice(rows: count)
        switch kind {
        case .listing: slice.listing = Listing(after: nil, floor: random.chance(percent: 50) ? slice.vector : VersionVector([own.dot]))
        case .passedOver:
            slice.target = truth.target
            claim(own, in: &slice)
        default: break
        }
        for index in slice.rows.indices {
            slice.rows[index].isCut = false
            slice.rows[index].isPrelude = false
            switch kind {
            case .bareRows: slice.rows[index].state = RowState()
            case .deletions:
                // Nothing is left of what the row held, or all but what it showed in the place of something else.
                let cells = random.chance(percent: 50) ? slice.rows[index].state.cells.map { $0.outshone ?? $0 } : []
                slice.rows[index].state = RowState(
                    cells: cells, tombstones: [Tombstone(dot: own.dot, seen: slice.vector)], context: VersionVector())
            default: slice.rows[index].state.cells.removeAll { _ in random.chance(percent: 50) }
            }
        }
        return slice
    }

    /// Names a commit in some place that can name one.
    private mutating func name(_ dot: Dot, in slice: inout Slice) {
        // A row has more places than a slice.
        switch random.int(in: 0...3) + (slice.rows.isEmpty || random.chance(percent: 40) ? 0 : 4) {
        case 0: slice.since.insert(dot)
        case 1: slice.vector.join(VersionVector([dot]))
        case 2: claim(Head(dot: dot, timestamp: own.timestamp), in: &slice)
        case 3:
            slice.vector.join(VersionVector([dot]))
            slice.listing = Listing(after: nil, floor: VersionVector([dot]))
        case 4: slice.rows[0].state.context.join(VersionVector([dot]))
        case 5: slice.rows[0].state.tombstones = [Tombstone(dot: dot, seen: VersionVector())]
        case 6: slice.rows[0].state.tombstones = [Tombstone(dot: own.dot, seen: VersionVector([dot]))]
        default:
            guard !slice.rows[0].state.cells.isEmpty else { return slice.since.insert(dot) }
            name(dot, in: &slice.rows[0].state.cells[random.int(in: 0...slice.rows[0].state.cells.count - 1)].cell)
        }
    }

    private func name(_ dot: Dot, in cell: inout Cell) {
        switch cell {
        case .register(var state):
            state.writes.append(Write(stamp: Stamp(dot: dot, timestamp: own.timestamp), value: .null))
            state.writes.sort { $0.stamp.dot < $1.stamp.dot }
            cell = .register(state)
        case .set(var state):
            state.touched.insert(dot)
            cell = .set(state)
        case .counter(var state):
            state.totals.removeAll { $0.dot.replica == dot.replica }
            state.totals.append(CounterState.Total(dot: dot, amount: 1))
            state.totals.sort { $0.dot < $1.dot }
            cell = .counter(state)
        case .text(var state):
            state.touched.insert(dot)
            cell = .text(state)
        }
    }
}

extension RowState.Entry {
    /// A register without the value that it shows; `nil` if it holds no other.
    fileprivate var outshone: RowState.Entry? {
        guard case .register(var state) = cell, state.writes.count > 1, let shown = state.shown else { return nil }
        state.writes.removeAll { $0 == shown }
        var entry = self
        entry.cell = .register(state)
        return entry
    }
}
