import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: a session never hears of a commit, hears of it before the relay that makes it needless to send, or is told without end.
@Suite struct SessionRouterTests {
    private static let own = ReplicaID(high: 1, low: 0)
    private static let peers = (1...4).map { ReplicaID(high: 10 + $0, low: 0) }

    /// A router that has read the store, with sessions that have met ``peers``, in this order, and have taken what they were told.
    private static func router(sessions count: Int) -> (router: SessionRouter, ids: [SessionRouter.SessionID]) {
        var router = SessionRouter()
        _ = router.handle(.committed(.unknown))
        _ = router.handle(.read(summary(0)))
        let ids = (0..<count).map { _ in router.open() }
        for (id, peer) in zip(ids, peers) { _ = router.handle(.met(id, peer)) }
        for id in ids { _ = router.take(id) }
        return (router, ids)
    }

    private static func head(_ sequence: UInt64) -> Head {
        Head(dot: Dot(replica: own, sequence: sequence), timestamp: HybridTimestamp(rawValue: sequence))
    }

    private static func summary(_ sequence: UInt64, of replica: ReplicaID = own) -> StoreSummary {
        let dot = Dot(replica: replica, sequence: sequence)
        let heads = sequence == 0 ? [] : [Head(dot: dot, timestamp: HybridTimestamp(rawValue: sequence))]
        return StoreSummary(replica: replica, heads: heads, clock: HybridTimestamp(rawValue: sequence))
    }

    private func relay(_ sequence: UInt64, to replicas: [ReplicaID]) -> Relay {
        Relay(vector: VersionVector([Dot(replica: ReplicaID(high: 9, low: 0), sequence: sequence)]), replicas: replicas)
    }

    // MARK: Commits

    @Test func `a commit of this process is told to every session without a look at the store`() {
        var (router, ids) = Self.router(sessions: 2)
        #expect(router.handle(.committed(.own(Self.head(1)))) == ids.map { .wake($0) })
        for id in ids { #expect(router.take(id) == [.committed(Self.summary(1))]) }
        #expect(router.handle(.committed(.own(Self.head(2)))) == ids.map { .wake($0) })
    }

    @Test func `the store is read where the news do not say what it knows`() {
        for news in [CommitNews.unknown, .own(Self.head(3)), .merged(Self.summary(1, of: Self.peers[0]))] {
            var (router, ids) = Self.router(sessions: 1)
            _ = router.handle(.committed(.own(Self.head(1))))
            _ = router.take(ids[0])
            #expect(router.handle(.committed(news)) == [.readSummary])
            #expect(router.take(ids[0]).isEmpty)
            #expect(router.handle(.read(Self.summary(3))) == [.wake(ids[0])])
            #expect(router.take(ids[0]) == [.committed(Self.summary(3))])
        }
    }

    @Test func `what is committed while the store is read is read once more`() {
        var (router, ids) = Self.router(sessions: 1)
        #expect(router.handle(.committed(.unknown)) == [.readSummary])
        for sequence in 1...3 as ClosedRange<UInt64> { #expect(router.handle(.committed(.own(Self.head(sequence)))).isEmpty) }
        #expect(router.handle(.read(Self.summary(1))) == [.wake(ids[0]), .readSummary])
        #expect(router.handle(.read(Self.summary(3))).isEmpty, "the session is awake already")
        #expect(router.take(ids[0]) == [.committed(Self.summary(3))])
        #expect(router.handle(.committed(.own(Self.head(4)))) == [.wake(ids[0])])
    }

    @Test func `what could not be read is read after a pause whatever is committed meanwhile`() {
        var (router, ids) = Self.router(sessions: 1)
        _ = router.handle(.committed(.unknown))
        #expect(router.handle(.unreadable) == [.retryLater])
        #expect(router.handle(.committed(.own(Self.head(1)))).isEmpty)
        #expect(router.handle(.retry) == [.readSummary])
        #expect(router.handle(.retry).isEmpty, "it is being read")
        #expect(router.handle(.read(Self.summary(1))) == [.wake(ids[0])])
        #expect(router.handle(.retry).isEmpty, "nothing is to be read")
    }

    @Test func `an answer that nobody asked for changes nothing`() {
        var (router, ids) = Self.router(sessions: 1)
        #expect(router.handle(.read(Self.summary(7))).isEmpty)
        #expect(router.handle(.unreadable).isEmpty)
        #expect(router.take(ids[0]).isEmpty)
        #expect(router.handle(.committed(.own(Self.head(1)))) == [.wake(ids[0])])
    }

    // MARK: Relays

    @Test func `a relay is told before its commit and to those alone whom the sender serves too`() {
        var (router, ids) = Self.router(sessions: 4)
        let relay = relay(1, to: [Self.peers[1], Self.peers[3]])
        #expect(router.handle(.applies(relay, ids[0])) == [.wake(ids[1]), .wake(ids[3])])
        #expect(router.handle(.committed(.merged(Self.summary(1)))) == [.wake(ids[0]), .wake(ids[2])])
        for index in [1, 3] { #expect(router.take(ids[index]) == [.relayed(relay), .committed(Self.summary(1))]) }
        for index in [0, 2] { #expect(router.take(ids[index]) == [.committed(Self.summary(1))]) }
    }

    @Test func `a relay passes the commits that wait and no commit passes a relay`() {
        var (router, ids) = Self.router(sessions: 2)
        let relays = [relay(1, to: [Self.peers[1]]), relay(2, to: [Self.peers[1], Self.peers[2]])]
        for (sequence, relay) in zip([1, 2] as [UInt64], relays) {
            _ = router.handle(.applies(relay, ids[0]))
            _ = router.handle(.committed(.merged(Self.summary(sequence))))
        }
        #expect(router.take(ids[1]) == [.relayed(relays[0]), .relayed(relays[1]), .committed(Self.summary(2))])
    }

    // MARK: Inboxes

    @Test func `however long a session is busy little waits for it`() {
        var (router, ids) = Self.router(sessions: 3)
        for sequence in 1...1_000 as ClosedRange<UInt64> {
            _ = router.handle(.committed(.own(Self.head(sequence))))
            _ = router.handle(.durable(VersionVector([Self.head(sequence).dot])))
            _ = router.handle(.applies(relay(sequence, to: [Self.peers[1], Self.peers[2]]), ids[0]))
            _ = router.handle(.met(ids[0], Self.peers[sequence.isMultiple(of: 2) ? 0 : 3]))
        }
        #expect(router.longestInbox == 4)
        let taken = router.take(ids[1])
        #expect(taken.contains(.committed(Self.summary(1_000))))
        #expect(taken.contains(.durable(VersionVector([Self.head(1_000).dot]))))
        #expect(taken.contains(.relayed(relay(1_000, to: [Self.peers[1], Self.peers[2]]))))
        #expect(taken.contains(.neighbours([Self.peers[0], Self.peers[1], Self.peers[2]])))
        #expect(router.take(ids[1]).isEmpty)
    }

    @Test func `what is said to or of the household arrives whole and in order`() {
        var (router, ids) = Self.router(sessions: 2)
        let messages = (0..<20 as Range<UInt8>).map { [$0] }
        for message in messages { _ = router.handle(.tell(.household(message), .allBut(ids[0]))) }
        #expect(router.take(ids[0]).isEmpty)
        #expect(router.take(ids[1]) == messages.map { .household($0) })
    }

    // MARK: Sessions

    @Test func `each session is told who the peers of all are and again when one has gone`() {
        var router = SessionRouter()
        let ids = (0..<3).map { _ in router.open() }
        for (id, peer) in zip(ids, [Self.peers[2], Self.peers[0], Self.peers[0]]) { _ = router.handle(.met(id, peer)) }
        for id in ids { #expect(router.take(id) == [.neighbours([Self.peers[0], Self.peers[2]])]) }
        #expect(router.handle(.ended(ids[1])).isEmpty, "another session with the same peer stays")
        #expect(router.handle(.ended(ids[0])) == [.wake(ids[2])])
        #expect(router.take(ids[2]) == [.neighbours([Self.peers[0]])])
        #expect(router.sessionCount == 1)
    }

    @Test func `a session that has ended hears of nothing`() {
        var (router, ids) = Self.router(sessions: 2)
        _ = router.handle(.committed(.own(Self.head(1))))
        _ = router.handle(.ended(ids[0]))
        #expect(router.take(ids[0]).isEmpty)
        #expect(router.handle(.tell(.household([1]), .only(ids[0]))).isEmpty)
        #expect(router.handle(.met(ids[0], Self.peers[3])).isEmpty)
        #expect(router.open() != ids[0])
    }

    @Test func `a store that took a new replica is not taken for the old one again`() {
        var (router, ids) = Self.router(sessions: 2)
        #expect(router.handle(.committed(.unknown)) == [.readSummary])
        let new = Self.summary(1, of: Self.peers[3])
        #expect(router.handle(.identified(new, ids[0])) == [.wake(ids[1])])
        #expect(router.take(ids[1]) == [.committed(new)])
        // What was read before says who the store was.
        #expect(router.handle(.read(Self.summary(2))) == [.readSummary])
        #expect(router.take(ids[1]).isEmpty)
        #expect(router.handle(.read(new)) == ids.map { .wake($0) })
    }

    @Test func `what the store says of itself takes no commit back and answers no other session`() {
        var (router, ids) = Self.router(sessions: 2)
        _ = router.handle(.committed(.own(Self.head(1))))
        // Looked at before the commit, and told after it.
        #expect(router.handle(.identified(Self.summary(0), ids[0])).isEmpty)
        #expect(router.take(ids[1]) == [.committed(Self.summary(1))])
    }

    // MARK: Histories

    /// Whatever happens in which order, and whenever sessions get to it: in the end each has heard of the last commit, if it was open
    /// then; and no relay is heard of after the commit that it was told before.
    @Test(arguments: 0..<400) func `every session hears of the last commit`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (router, ids) = Self.router(sessions: 3)
        var store: UInt64 = 0
        var (isReading, isFailed) = (false, false)
        var woken: Set<SessionRouter.SessionID> = []
        var heard: [SessionRouter.SessionID: UInt64] = [:]
        func run(_ input: SessionRouter.Input) {
            for effect in router.handle(input) {
                switch effect {
                case .wake(let id): #expect(woken.insert(id).inserted, "it is awake")
                case .readSummary:
                    #expect(!isReading)
                    isReading = true
                case .retryLater: isFailed = true
                }
            }
        }
        func take(_ id: SessionRouter.SessionID) {
            woken.remove(id)
            for input in router.take(id) {
                if case .committed(let summary) = input { heard[id] = summary.head(of: Self.own)?.dot.sequence }
                if case .relayed(let relay) = input {
                    #expect(relay.vector[ReplicaID(high: 9, low: 0)] > heard[id] ?? 0, "its commit was told before")
                }
            }
        }
        for _ in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<2:
                store += 1
                run(.committed(.own(Self.head(store))))
            case 2:
                store += 1
                run(.committed(.unknown))
            case 3:
                let author = ids[Int.random(in: 0..<ids.count, using: &random)]
                run(.applies(relay(store + 1, to: Self.peers), author))
                store += 1
                run(.committed(.merged(Self.summary(store))))
            case 4 where ids.count > 1:
                let gone = ids.remove(at: Int.random(in: 0..<ids.count, using: &random))
                woken.remove(gone)
                run(.ended(gone))
            case 5:
                ids.append(router.open())
                run(.met(ids[ids.count - 1], Self.peers[Int.random(in: 0..<4, using: &random)]))
                heard[ids[ids.count - 1]] = store
            case 6..<8 where isReading:
                isReading = false
                run(Bool.random(using: &random) ? .read(Self.summary(store)) : .unreadable)
            case 8 where isFailed:
                isFailed = false
                run(.retry)
            default:
                for id in woken.sorted() where Bool.random(using: &random) { take(id) }
            }
        }
        while isReading || isFailed || !woken.isEmpty {
            if isReading {
                isReading = false
                run(.read(Self.summary(store)))
            } else if isFailed {
                isFailed = false
                run(.retry)
            } else {
                for id in woken.sorted() { take(id) }
            }
        }
        for id in ids { #expect(heard[id] ?? 0 == store, "seed \(seed)") }
    }
}
