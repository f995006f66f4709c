import KithCausality

/// Decides what each session of a node hears, in which order, and what is merged on the way: a value without threads and clocks.
///
/// A session takes what waits for it with ``take(_:)`` whenever it gets to it; ``Effect/wake(_:)`` says that something waits. In an
/// inbox the order of what was told is kept, but for two things that only help: a relay passes no commit that came after it, and of
/// several commits only the newest is told, for it includes the others. See docs/testing.md for what simulates it.
package struct SessionRouter: Sendable {
    /// A session of the node. No number is used twice.
    package struct SessionID: Hashable, Sendable, Comparable {
        let number: UInt64

        package static func < (left: SessionID, right: SessionID) -> Bool { left.number < right.number }
    }

    /// What happens in a node.
    package enum Input: Hashable, Sendable {
        /// A commit. To be told in the order of the commits.
        case committed(CommitNews)
        /// The answer to ``Effect/readSummary``.
        case read(StoreSummary)
        /// The other answer: the store cannot be read.
        case unreadable
        /// What could not be read may be readable now.
        case retry
        /// A session is about to apply a slice, which came with `relay`. To be told before the store begins.
        case applies(Relay, SessionID)
        /// The store has told a session who it is; it may have taken a new replica id.
        case identified(StoreSummary, SessionID)
        /// This is what would survive a loss of power.
        case durable(VersionVector)
        /// A peer has said hello.
        case met(SessionID, ReplicaID)
        /// A session has ended.
        case ended(SessionID)
        /// To be told to the sessions that are named, and not for the router to understand.
        case tell(PeerSession.Input, Recipients)
    }

    /// Which sessions are to hear of something.
    package enum Recipients: Hashable, Sendable {
        case all
        case allBut(SessionID)
        case only(SessionID)

        func include(_ id: SessionID) -> Bool {
            switch self {
            case .all: true
            case .allBut(let other): id != other
            case .only(let one): id == one
            }
        }
    }

    /// What the router asks for.
    package enum Effect: Hashable, Sendable {
        /// Let the session take what waits for it.
        case wake(SessionID)
        /// Read the store's summary and answer with ``Input/read(_:)`` or ``Input/unreadable``. At most one is under way at a time.
        case readSummary
        /// Say ``Input/retry`` after a pause.
        case retryLater
    }

    private struct Session: Sendable {
        let id: SessionID
        var peer: ReplicaID?
        var inbox = SessionInbox()
        /// Whether it was woken and has not taken what waits.
        var isWoken = false
    }

    private enum Reading: Sendable {
        /// The summary is known, or nothing has asked for it.
        case none
        /// → none; with `again`, something happened meanwhile that the answer may lack; with `isVoid` the answer may be of another replica.
        case underWay(again: Bool, isVoid: Bool)
        /// The store could not be read. → underWay
        case failed
    }

    /// In the order in which they were opened.
    private var sessions: [Session] = []
    private var openedCount: UInt64 = 0
    private var reading = Reading.none
    /// What the sessions were told last that the store knows.
    private var summary: StoreSummary?
    private var neighbours: [ReplicaID] = []
    private var effects: [Effect] = []

    package init() {}

    /// A session begins. From now on it hears of everything.
    package mutating func open() -> SessionID {
        openedCount += 1
        sessions.append(Session(id: SessionID(number: openedCount)))
        return SessionID(number: openedCount)
    }

    /// What waits for a session, in the order in which it is to be handled.
    package mutating func take(_ id: SessionID) -> [PeerSession.Input] {
        guard let index = index(of: id) else { return [] }
        sessions[index].isWoken = false
        return sessions[index].inbox.take()
    }

    /// How much waits for the session for which most does.
    package var longestInbox: Int { sessions.map(\.inbox.count).max() ?? 0 }

    /// Sessions that have begun and not ended.
    package var sessionCount: Int { sessions.count }

    package mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .committed(let news): committed(news)
        case .read(let summary): read(summary)
        case .unreadable:
            guard case .underWay = reading else { break }
            reading = .failed
            effects.append(.retryLater)
        case .retry:
            if case .failed = reading { beginReading() }
        case .applies(let relay, let author):
            // Only those whom the sender serves as well leave anything to it.
            let peers = relay.replicas
            tell(.relayed(relay)) { session in session.id != author && session.peer.map(peers.contains) == true }
        case .identified(let summary, let author): identified(summary, by: author)
        case .durable(let vector): tell(.durable(vector)) { _ in true }
        case .met(let id, let peer):
            guard let index = index(of: id) else { break }
            sessions[index].peer = peer
            tellNeighbours(newcomer: id)
        case .ended(let id):
            sessions.removeAll { $0.id == id }
            tellNeighbours()
        case .tell(let input, let recipients): tell(input) { recipients.include($0.id) }
        }
        defer { effects = [] }
        return effects
    }

    // MARK: Commits

    /// Mostly the news say what the store now knows, which is passed on at once. Otherwise it is read, and commits that come meanwhile
    /// are passed on together.
    private mutating func committed(_ news: CommitNews) {
        switch reading {
        case .none:
            guard let summary = summary?.learning(news) else { return beginReading() }
            pass(on: summary)
        case .underWay(_, let isVoid): reading = .underWay(again: true, isVoid: isVoid)
        case .failed: break
        }
    }

    private mutating func read(_ summary: StoreSummary) {
        guard case .underWay(let again, let isVoid) = reading else { return }
        reading = .none
        if !isVoid { pass(on: summary) }
        if again { beginReading() }
    }

    private mutating func beginReading() {
        reading = .underWay(again: false, isVoid: false)
        effects.append(.readSummary)
    }

    private mutating func pass(on summary: StoreSummary) {
        self.summary = summary
        tell(.committed(summary)) { _ in true }
    }

    private mutating func identified(_ summary: StoreSummary, by author: SessionID) {
        guard summary.replica != self.summary?.replica else { return }
        self.summary = summary
        // Not as an answer: another session may have asked the store something else meanwhile.
        tell(.committed(summary)) { $0.id != author }
        // An answer that is on its way would end the sessions that begin now.
        if case .underWay = reading { reading = .underWay(again: true, isVoid: true) }
    }

    // MARK: Sessions

    private func index(of id: SessionID) -> Int? { sessions.firstIndex { $0.id == id } }

    /// Tells every session who the others' peers are, if that is news to it.
    private mutating func tellNeighbours(newcomer: SessionID? = nil) {
        let peers = Set(sessions.compactMap(\.peer)).sorted()
        let isNew = peers != neighbours
        neighbours = peers
        tell(.neighbours(peers)) { isNew || $0.id == newcomer }
    }

    private mutating func tell(_ input: PeerSession.Input, _ isMeant: (Session) -> Bool) {
        for index in sessions.indices where isMeant(sessions[index]) {
            sessions[index].inbox.add(input)
            if sessions[index].isWoken { continue }
            sessions[index].isWoken = true
            effects.append(.wake(sessions[index].id))
        }
    }
}
