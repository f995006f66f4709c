import KithLedger
import Synchronization

/// What has happened since a live list looked last.
struct LiveNews: Sendable {
    var touched = TouchedRows.Batch()
    /// How many commits of this store's replica this process has made.
    var ownCommits = 0
    /// Whether the app has written here.
    var isFromHere = false
    /// SQLite's mark of the last commit of another connection, when these news were taken; `nil` if it could not be read.
    var versionByOthers: Int64?
}

/// What a live list hears of commits of this process. The writing connection's thread tells it, within the commit's access.
final class LiveListener: Sendable {
    let table: Int?
    private let news = Mutex(LiveNews())
    private let wake: @Sendable () -> Void

    /// - Parameters:
    ///   - table: of which rows are wanted; `nil` if none are: then only the end of the store wakes the list.
    ///   - wake: has the list look.
    init(table: Int?, wake: @escaping @Sendable () -> Void) {
        self.table = table
        self.wake = wake
    }

    /// The store is closed.
    func tellOfEnd() { wake() }

    func tell(_ touched: TouchedRows.Batch, isOwn: Bool, isFromHere: Bool) {
        news.withLock { news in
            if let table { news.touched.add(touched, of: table) }
            if isOwn { news.ownCommits += 1 }
            news.isFromHere = news.isFromHere || isFromHere
        }
        if table != nil { wake() }
    }

    /// What another process has done is not told row by row.
    func tellOfOtherProcess() { if table != nil { wake() } }

    func takeNews() -> LiveNews {
        news.withLock { news in
            defer { news = LiveNews() }
            return news
        }
    }
}

/// The live lists of a store.
final class LiveHub: Sendable {
    private let listeners = Mutex<[ObjectIdentifier: LiveListener]>([:])
    /// What the writing connection notes.
    let touched = TouchedRows()

    func add(_ listener: LiveListener) {
        listeners.withLock { $0[ObjectIdentifier(listener)] = listener }
        touched.want()
    }

    func remove(_ listener: LiveListener) {
        if listeners.withLock({ $0.removeValue(forKey: ObjectIdentifier(listener)) }) != nil { touched.release() }
    }

    /// - Parameters:
    ///   - hasMoved: whether the transaction has moved the vector.
    ///   - isOwn: whether it is a commit of this store's replica.
    ///   - isFromHere: whether the app has written it.
    func didCommit(hasMoved: Bool, isOwn: Bool, isFromHere: Bool) {
        guard touched.isWanted else { return }
        let batch = touched.take()
        if batch.isEmpty, !hasMoved { return }
        for listener in all { listener.tell(batch, isOwn: isOwn, isFromHere: isFromHere) }
    }

    func didRollBack() {
        if touched.isWanted { _ = touched.take() }
    }

    func otherProcessCommitted() {
        for listener in all { listener.tellOfOtherProcess() }
    }

    /// The store is closed: each list looks, and throws.
    func close() {
        for listener in all { listener.tellOfEnd() }
    }

    private var all: [LiveListener] { listeners.withLock { Array($0.values) } }
}
