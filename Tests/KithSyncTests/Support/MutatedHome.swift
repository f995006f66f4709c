import KithCausality
import TestSupport

@testable import KithSync

/// A store with an honest member, and others that send it mutated frames of one kind, all of them in sessions.
struct MutatedHome {
    private let authority = ProofAuthority(1)
    private let book: TestProofs
    private var store: ModelStore
    private var fetcher = AttachmentFetcher()
    private let kind: MutatedSessionTests.Kind
    private var members: [MutatedMember] = []
    private var now = Instant(milliseconds: 1_000)

    private let honestAuthority = ProofAuthority(2)
    private var honest: ModelStore
    /// The two sides of the honest member's session: the store's, and its own.
    private var line: [PeerSession]

    private(set) var understoodCount = 0
    private(set) var refusedCount = 0
    private(set) var appliedCount = 0
    /// What the store was asked to compare or mend because of such a frame.
    private(set) var comparedCount = 0
    /// What must not happen; a few of all.
    private(set) var problems: [String] = []

    init(_ kind: MutatedSessionTests.Kind, memberCount: Int) {
        self.kind = kind
        book = TestProofs(authority, ProofRecords(authority, origins: [authority.replica(): authority.origin()]))
        store = ModelStore(replica: authority.replica())
        honest = ModelStore(replica: honestAuthority.replica())
        store.commit(now: 1, [Operation(row: RowID(high: 0, low: 1), change: .insert(x: 1, tags: ["a"], count: 1))])
        let proofs = TestProofs(honestAuthority, ProofRecords(honestAuthority, origins: [honest.replica: honestAuthority.origin()]))
        line = [(book, honestAuthority.key), (proofs, authority.key)].map { book, device in
            PeerSession(Self.configuration(book, device))
        }
        connectLine()
        let own = store.replica
        // In a comparison one side asks and the other answers.
        members = (3...UInt8.max).map { MutatedMember($0, kind) }.filter { member in
            kind.homeLeads.map { $0 == (own < member.replica) } ?? true
        }
        members.removeLast(members.count - memberCount)
        for index in members.indices { open(index) }
        _ = fetcher.handle(.wanted([FrameSamples.photo]), now: now)
    }

    private static func configuration(_ book: TestProofs, _ device: [UInt8]) -> PeerSession.Configuration {
        var configuration = PeerSession.Configuration(app: "test", group: [], software: "test")
        configuration.capabilities = [.digest, .texts, .attachments, .compression, .household]
        (configuration.proofs, configuration.peerDevice) = (book, device)
        return configuration
    }

    private mutating func complain(_ what: String) {
        if problems.count < 8 { problems.append(what) }
    }

    // MARK: The honest member

    /// Both write, and each has the other's commit at once.
    mutating func exchange(_ random: inout SplitMix64) {
        let (own, others) = (store, honest)
        store.commit(now: UInt64(now.milliseconds), Operation.random(rowCount: 6, isVisible: own.isVisible, using: &random))
        honest.commit(now: UInt64(now.milliseconds), Operation.random(rowCount: 6, isVisible: others.isVisible, using: &random))
        run([(0, .committed(store.summary)), (1, .committed(honest.summary))])
        if store.vector != honest.vector || store.rows != honest.rows { complain("The honest member is left behind.") }
        for index in members.indices {
            if kind.isOfComparison { open(index) } else { handle(.committed(store.summary), index) }
        }
    }

    private mutating func connectLine() {
        run(
            [(0, store), (1, honest)].map { side, store in
                (side, .connected(store.summary, durable: store.vector, wallClockMilliseconds: 0))
            })
    }

    private mutating func run(_ inputs: [(side: Int, input: PeerSession.Input)]) {
        var inputs = inputs
        while !inputs.isEmpty {
            let (side, input) = inputs.removeFirst()
            for effect in line[side].handle(input, now: now) {
                switch effect {
                case .send(let bytes): inputs.append((1 - side, .received(bytes)))
                case .readSlice(let request): inputs.append((side, .sliceRead(side == 0 ? store.read(request) : honest.read(request))))
                case .apply(let slice, _): inputs.append((side, .applied(side == 0 ? store.apply(slice) : honest.apply(slice))))
                case .digest(let task): inputs.append((side, .digest(side == 0 ? store.perform(task) : honest.perform(task))))
                case .close(let reason): complain("The session with the honest member ends: \(reason.message)")
                case .verifyIdentity, .renewIdentity: complain("A store is in doubt of itself.")
                case .peer, .attachment, .household: break
                }
            }
        }
    }

    // MARK: The others

    /// Lets a member send its next frame.
    mutating func receive(from index: Int, _ random: inout SplitMix64) {
        now = now.advanced(byMilliseconds: 7)
        guard let bytes = members[index].nextFrame(&random, store: store, bases: members[index].session.incomingBases) else {
            refusedCount += 1
            return open(index)
        }
        if (try? FrameCodec.decode(bytes, members[index].session.incomingBases)) != nil { understoodCount += 1 }
        var goesOn = handle(.received(bytes), index)
        if goesOn, let deadline = members[index].session.nextDeadline, deadline <= now {
            goesOn = handle(.tick(wallClockMilliseconds: now.milliseconds), index)
        }
        if goesOn, !kind.isOfBeginning { return }
        if !goesOn { refusedCount += 1 }
        open(index)
    }

    /// Begins another session with a member, up to where it sends its kind of frame.
    private mutating func open(_ index: Int) {
        var configuration = Self.configuration(book, members[index].key)
        if kind == .newestHeads || kind == .restOfHeads { configuration.headsSpelledMax = 0 }
        members[index].begin(PeerSession(configuration))
        handle(.connected(store.summary, durable: store.vector, wallClockMilliseconds: now.milliseconds), index)
        for frame in members[index].beginning(store) { handle(.received(FrameCodec.encode(frame)), index) }
        if kind.homeLeads == true, let deadline = members[index].session.nextDeadline {
            now = max(now, deadline)
            handle(.tick(wallClockMilliseconds: now.milliseconds), index)
            for frame in members[index].answers(store) { handle(.received(FrameCodec.encode(frame)), index) }
        }
        if case .closed = members[index].session.phase { complain("A session cannot begin.") }
    }

    /// - Returns: whether the session goes on.
    @discardableResult private mutating func handle(_ input: PeerSession.Input, _ index: Int) -> Bool {
        var inputs = [input]
        var steps = 0
        while !inputs.isEmpty {
            steps += 1
            if steps > 100 {
                complain("A session goes on for ever.")
                return false
            }
            for effect in members[index].handle(inputs.removeFirst(), now: now) {
                switch effect {
                case .readSlice(let request): inputs.append(.sliceRead(store.read(request)))
                case .apply(let slice, _): inputs.append(.applied(outcome(of: slice)))
                case .digest(let task):
                    // What a member mends is forgotten again.
                    var copy = store
                    if case .mend(_, let slice) = task { check(slice) }
                    comparedCount += kind.leads(to: task) ? 1 : 0
                    inputs.append(.digest(copy.perform(task)))
                case .attachment(let message):
                    if let reason = blame(for: message, of: members[index].replica) { inputs.append(.close(reason)) }
                case .verifyIdentity, .renewIdentity: complain("The store is in doubt of itself.")
                case .close: return false
                case .send(let bytes): if bytes.count > WireLimits.frameBytesMax { complain("A frame is too large.") }
                case .peer, .household: break
                }
            }
        }
        return true
    }

    /// What the store says of a slice, of which it keeps nothing.
    private mutating func outcome(of slice: Slice) -> ApplyOutcome {
        appliedCount += 1
        check(slice)
        if !store.vector.covers(slice.since) { return .refused(store.summary) }
        return appliedCount.isMultiple(of: 9) ? .incomplete(store.summary) : .applied(store.summary)
    }

    /// A slice that the store is to take is within the rules: it can be written and read again, names only what it lists, and no commit
    /// that nobody has signed.
    private mutating func check(_ slice: Slice) {
        let frame = Frame.slice(slice, alsoSentTo: [])
        let (bytes, claims) = { ($0.bytes, $0.claims) }(FrameCodec.encodeWithClaims(frame))
        if (try? FrameCodec.decode(bytes)) != frame { complain("The store is given a slice that cannot be sent: \(slice)") }
        for row in slice.rows {
            guard slice.tables.indices.contains(row.table) else { return complain("A row has no table: \(slice)") }
            let columns = slice.tables[row.table].columns.indices
            if !row.state.cells.allSatisfy({ columns.contains($0.column) }) { complain("A cell has no column: \(slice)") }
        }
        for dot in claims.dots where dot.sequence > signed(dot.replica) { complain("Nobody has signed commit \(dot): \(slice)") }
    }

    private func signed(_ replica: ReplicaID) -> UInt64 {
        let own = [store, honest].first { $0.replica == replica }.map { $0.vector[replica] }
        return own ?? members.first { $0.replica == replica }?.commitCount ?? 0
    }

    /// Hands the node's fetcher a message; says why the session must end.
    private mutating func blame(for message: AttachmentMessage, of replica: ReplicaID) -> CloseReason? {
        var reason: CloseReason?
        func hear(_ effects: [AttachmentFetcher.Effect]) {
            for case .blame(replica, let what) in effects { reason = CloseReason(.protocolError, what) }
        }
        _ = fetcher.handle(.appeared(replica), now: now)
        let effects = fetcher.handle(.received(message, from: replica), now: now)
        hear(effects)
        for effect in effects {
            switch effect {
            case .begin(let id): hear(fetcher.handle(.holds(id, nil), now: now))
            case .keep(_, let id, let peer): hear(fetcher.handle(.refused(id, from: peer), now: now))
            case .serve(let piece, let peer): hear(fetcher.handle(.lacked(piece.id, to: peer), now: now))
            case .send, .blame: break
            }
        }
        _ = fetcher.handle(.left(replica), now: now)
        return reason
    }
}

extension MutatedSessionTests.Kind {
    /// Whether a session that has taken such a frame takes no other.
    fileprivate var isOfBeginning: Bool {
        switch self {
        case .hello, .hashedHello, .allHeads, .newestHeads, .restOfHeads: true
        default: isOfComparison
        }
    }

    /// Whether both sides must know the same for such a frame to be heard.
    var isOfComparison: Bool {
        switch self {
        case .digest, .digestQuestion, .digestParts, .digestRows: true
        default: false
        }
    }

    /// Whether the store, and not the member, asks when the two compare; `nil` where that makes no difference.
    fileprivate var homeLeads: Bool? {
        switch self {
        case .digest, .digestQuestion: false
        case .digestParts, .digestRows: true
        default: nil
        }
    }

    fileprivate func leads(to task: DigestTask) -> Bool {
        switch (self, task) {
        case (.digest, .read), (.digestQuestion, .divide), (.digestQuestion, .readRows), (.digestParts, .sum), (.digestRows, .mend): true
        default: false
        }
    }
}
