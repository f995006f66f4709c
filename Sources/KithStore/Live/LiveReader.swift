import GRDB
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import Synchronization

/// Keeps one reader's live list in step with the database.
///
/// All that a look needs is taken on the writing connection, between two transactions, together with the beginning of its read
/// transaction: so the rows that were told of are exactly those that the read shows, and no transaction is seen in part.
final class LiveReader<Record: LiveRecord>: Sendable where Record.ID: Sendable {
    private struct State: Sendable {
        var list: LiveState<Record>
        /// When it was looked at last; `nil` before the first look.
        var moment: LiveMoment?
        var versionByOthers: Int64?
        /// How often all rows were read.
        var wholeReads = 0
    }

    private let store: SyncedDatabase
    private let query: LiveQuery<Record>
    private let state: Mutex<State>
    private let link = Mutex<Link?>(nil)
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// How the reader hears of changes.
    private struct Link: Sendable {
        let plan: LiveQuery<Record>.Plan
        let listener: LiveListener
        /// For a list that is compared as a whole.
        let watch: RegionWatch?
    }

    init(_ store: SyncedDatabase, _ query: LiveQuery<Record>) {
        self.store = store
        self.query = query
        state = Mutex(State(list: LiveState(query)))
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    deinit {
        wake.finish()
        if let listener = link.withLock({ $0?.listener }) { store.live.remove(listener) }
    }

    /// Waits until the list has changed, and returns how; `nil` if the task is cancelled.
    func next() async throws(StoreError) -> LiveChange<Record>? {
        let isFirst = link.withLock { $0 == nil }
        var isDue = isFirst
        while !Task.isCancelled {
            if !isDue {
                var wakes = wakes.makeAsyncIterator()
                guard await wakes.next() != nil else { return nil }
            }
            switch await look() {
            case .success(.changed(let change)): return change
            case .success(.unchanged): isDue = false
            case .success(.isBusy):
                // The app keeps a transaction open on the writing connection. That is rare, and nothing tells when it ends.
                try? await Task.sleep(for: .milliseconds(5))
                isDue = true
            case .failure(let error): throw error
            }
        }
        return nil
    }

    private enum Look: Sendable {
        case changed(LiveChange<Record>)
        case unchanged
        case isBusy
    }

    private func look() async -> Result<Look, StoreError> {
        await withCheckedContinuation { continuation in
            store.database.asyncWriteWithoutTransaction { [self] db in
                if store.isClosed.load(ordering: .acquiring) {
                    return continuation.resume(returning: .failure(StoreError(.failed, "The store is closed. Open it again.")))
                }
                if db.isInsideTransaction { return continuation.resume(returning: .success(.isBusy)) }
                do throws(StoreError) {
                    let link = try StoreError.typed { try self.connect(db) }
                    let news = self.takeNews(link)
                    store.database.spawnConcurrentRead { result in
                        continuation.resume(
                            returning: Result { () throws(StoreError) in
                                try StoreError.typed { try self.read(try result.get(), link.plan, news).map(Look.changed) ?? .unchanged }
                            })
                    }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }

    /// The same on this thread. No transaction may be open.
    func lookNow() throws -> LiveChange<Record>? {
        let (plan, news) = try store.database.unsafeReentrantWrite { db in
            let link = try connect(db)
            return (link.plan, takeNews(link))
        }
        return try store.database.unsafeReentrantRead { db in try read(db, plan, news) }
    }

    /// On the writing connection, before the read begins: that shows at least what the connection has seen.
    private func takeNews(_ link: Link) -> LiveNews {
        var news = link.listener.takeNews()
        // If the file is busy, all rows are read.
        news.versionByOthers = try? store.writer.state.ledger.connection.versionByOthers()
        return news
    }

    private func connect(_ db: Database) throws -> Link {
        if let known = link.withLock({ $0 }) { return known }
        let ledger = store.writer.state.ledger
        let plan = try query.plan(db) { name in ledger.tracked(name).map { ($0.0, LiveKey(column: $0.1.key, form: $0.1.form)) } }
        let wake = wake
        let new: Link
        switch plan {
        case .byRow(let table, _, _): new = Link(plan: plan, listener: LiveListener(table: table) { wake.yield() }, watch: nil)
        case .whole:
            let watch = RegionWatch(try query.region(db)) { wake.yield() }
            db.add(transactionObserver: watch, extent: .observerLifetime)
            new = Link(plan: plan, listener: LiveListener(table: nil) { wake.yield() }, watch: watch)
        }
        store.live.add(new.listener)
        link.withLock { $0 = new }
        return new
    }

    private func read(_ db: Database, _ plan: LiveQuery<Record>.Plan, _ news: LiveNews) throws -> LiveChange<Record>? {
        try state.withLock { state in
            let before = state.moment
            let table = query.request.databaseTableName
            let now = try LiveMoment(db, table, declared: { self.columns(of: table) }, after: before)
            let difference: LiveDifference<Record.ID>
            if case .byRow(let table, _, let order) = plan, let before,
                let changed = try now.rows(
                    db, of: table, since: before, news, mayHaveLocalChanges: news.versionByOthers != state.versionByOthers,
                    max: Self.worth(of: state.list.rows.count))
            {
                difference = try state.list.read(changed, db, order)
            } else {
                state.wholeReads += 1
                if case .byRow(_, let key, _) = plan {
                    difference = try state.list.readAll(db, key: key)
                } else {
                    difference = try state.list.readAll(db, key: nil)
                }
            }
            state.moment = now
            state.versionByOthers = news.versionByOthers
            if difference.isEmpty, before != nil { return nil }
            let origins = try before.map { try self.origins(db, from: $0, to: now, news) } ?? []
            return LiveChange(
                rows: state.list.rows, difference: difference, origins: origins, version: StoreVersion(now.changed.vector))
        }
    }

    private func columns(of name: String) -> Set<String> {
        guard let table = store.writer.declarations.tables.first(where: { $0.name == name }) else { return [] }
        return Set((table.columns.map(\.name) + [table.key]).map { $0.asciiLowercased })
    }

    /// How many rows are read one by one: more take longer than all.
    private static func worth(of all: Int) -> Int { max(16, all / 64) }

    /// How often all rows were read so far.
    var wholeReads: Int { state.withLock { $0.wholeReads } }

    private func origins(_ db: Database, from before: LiveMoment, to now: LiveMoment, _ news: LiveNews) throws -> Set<LiveOrigin> {
        var origins: Set<LiveOrigin> = news.isFromHere ? [.here] : []
        let new = now.changed.vector.entries.filter { !before.changed.vector.covers($0) }
        if new.isEmpty { return origins }
        if now.isOfOtherProcess(since: before, news) { origins.insert(.otherProcess) }
        let authors = try store.read(db) { ledger in try Authors(ledger: ledger) }
        for dot in new {
            if case let other = authors[dot.replica], other != .own { origins.insert(.device(other)) }
        }
        return origins
    }
}
