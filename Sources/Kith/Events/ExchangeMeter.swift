import KithStore
import KithSync
import KithTrust

/// What one session sends and receives, as operations: each from the first slice until both sides know the same of it.
struct ExchangeMeter {
    private let events: EventBoard
    private let store: SyncedDatabase
    private let peer: DeviceID
    private var receiving: NodeOperation?
    private var sending: NodeOperation?
    /// Bytes of the frame that came last.
    private var frameBytes = 0
    /// Rows noted to have conflicts before the slice; `nil` where that is not asked.
    private var conflicts: Int?

    init(_ events: EventBoard, _ store: SyncedDatabase, _ peer: DeviceID) {
        self.events = events
        self.store = store
        self.peer = peer
    }

    mutating func frameCame(bytes: Int) { frameBytes = bytes }

    /// A slice is about to be applied. One without rows only says what the peer knows.
    mutating func receives(rows: Int) {
        if rows == 0 { return }
        if receiving == nil { receiving = events.begin(.receive, with: peer) }
        conflicts = events.isHeard ? try? store.conflictsNoted() : nil
    }

    mutating func received(rows: Int) {
        if rows == 0 { return }
        receiving?.progress(rows: rows, bytes: frameBytes)
        if let before = conflicts.take(), let now = try? store.conflictsNoted(), now > before {
            events.note(.conflict, with: peer, rows: now - before)
        }
        frameBytes = 0
    }

    /// A slice was read for the peer.
    mutating func sends(rows: Int) {
        if rows == 0 { return }
        if sending == nil { sending = events.begin(.send, with: peer) }
        sending?.progress(rows: rows)
    }

    func sent(bytes: Int) { sending?.progress(bytes: bytes, tells: false) }

    mutating func heard(_ status: PeerStatus) {
        if status.receiving == nil, status.rowsToReceive == 0 { receiving.take()?.end() }
        if status.sending == nil, status.rowsToSend == 0 { sending.take()?.end() }
    }

    mutating func lost(_ reason: String) {
        receiving.take()?.fail(reason)
        sending.take()?.fail(reason)
    }
}
