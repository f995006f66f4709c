import KithCausality
import KithSync

/// One session and a peer that is played by the test, frame by frame.
struct SessionProbe {
    static let own = ReplicaID(high: 1, low: 0)
    static let peer = ReplicaID(high: 2, low: 0)

    var session: PeerSession
    var store = ModelStore(replica: own)
    private(set) var now = Instant(milliseconds: 1_000)
    private(set) var wallClockMilliseconds: Int64 = 1_700_000_000_000

    init(_ change: (inout PeerSession.Configuration) -> Void = { _ in }) {
        var configuration = PeerSession.Configuration(app: "test", group: Array("home".utf8), software: "test")
        change(&configuration)
        session = PeerSession(configuration)
    }

    /// The hello of a peer that knows `heads`.
    func hello(_ heads: [Head] = []) -> Hello {
        Hello(
            versions: .current, replica: Self.peer, app: "test", group: Array("home".utf8), software: "peer",
            capabilities: [], wallClockMilliseconds: wallClockMilliseconds, clock: .zero, heads: heads, durable: VersionVector(),
            resumption: nil)
    }

    mutating func connect() -> [PeerSession.Effect] {
        handle(.connected(store.summary, durable: VersionVector(), wallClockMilliseconds: wallClockMilliseconds))
    }

    /// Connects and exchanges hellos.
    mutating func open(with hello: Hello? = nil) -> [PeerSession.Effect] {
        _ = connect()
        return receive(.hello(hello ?? self.hello()))
    }

    mutating func handle(_ input: PeerSession.Input) -> [PeerSession.Effect] {
        session.handle(input, now: now)
    }

    mutating func receive(_ frame: Frame) -> [PeerSession.Effect] {
        handle(.received(FrameCodec.encode(frame)))
    }

    mutating func wait(_ milliseconds: Int64, isHearing: Bool = false) -> [PeerSession.Effect] {
        now = now.advanced(byMilliseconds: milliseconds)
        wallClockMilliseconds += milliseconds
        return handle(.tick(wallClockMilliseconds: wallClockMilliseconds, isHearing: isHearing))
    }

    /// The slice with number `number` of a delta of `count` that brings one commit of the peer.
    static func slice(_ number: Int, of count: Int, since: VersionVector = VersionVector()) -> Slice {
        let head = Head(dot: Dot(replica: peer, sequence: 1), timestamp: .zero)
        return Slice(
            since: since, vector: VersionVector([head.dot]), target: [head], clock: .zero, isFirst: number == 1,
            isLast: number == count, position: SlicePosition(table: Array("things".utf8), row: RowID(high: 0, low: UInt64(number))),
            rowsRemaining: count - number, tables: [], rows: [])
    }
}

extension [PeerSession.Effect] {
    var frames: [Frame] {
        compactMap { effect in
            guard case .send(let bytes) = effect else { return nil }
            return try? FrameCodec.decode(bytes)
        }
    }

    var closeReason: CloseReason? {
        for case .close(let reason) in self { return reason }
        return nil
    }

    var goodbye: CloseCode? {
        for case .goodbye(let code, _) in frames { return code }
        return nil
    }

    var reads: [SliceRequest] {
        compactMap { if case .readSlice(let request) = $0 { request } else { nil } }
    }

    var applies: [Slice] {
        compactMap { if case .apply(let slice, _) = $0 { slice } else { nil } }
    }
}
