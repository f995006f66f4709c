import GRDB
import KithCausality
import KithStore
import KithSync

/// A machine: its database, its store while the process runs, and its clock.
final class SimulatedNode {
    let index: Int
    let clock = NodeClock()
    var course = ClockCourse()
    private let schema: SimulatedSchema
    private let identities: ReplicaIDSource
    private(set) var database: DatabaseQueue
    /// `nil` while the process does not run.
    private(set) var store: KithStore?
    private(set) var probe = ObservationProbe()
    /// The store's own summary, as of its last commit.
    var summary: StoreSummary
    /// What would survive a loss of power, as the node was told.
    var durable = VersionVector()
    /// What the oracle takes the node to have seen.
    var knowledge = Knowledge()
    /// Rows of unfinished catch-ups, of which the node has seen more.
    var contexts: [RowKey: Knowledge] = [:]
    var openPeers: [ReplicaID] = []
    var isDiskLimited = false
    /// Grows with every start of the process.
    private(set) var generation = 0
    var backup: Backup?

    /// A copy of the database, and what the oracle knows of it.
    struct Backup {
        let database: DatabaseQueue
        let contexts: [RowKey: Knowledge]
    }

    init(index: Int, schema: SimulatedSchema, seed: UInt64) throws {
        self.index = index
        self.schema = schema
        identities = ReplicaIDSource(seed: seed, node: index)
        clock.milliseconds = ClockCourse.epochMilliseconds
        database = try DatabaseQueue()
        try schema.migrate(database)
        summary = StoreSummary(replica: ReplicaID(high: 0, low: 0), heads: [], clock: .zero)
        try start()
    }

    var name: String { nodeName(index) }
    var isRunning: Bool { store != nil }

    /// What the node has seen of a row.
    func knowledge(of key: RowKey) -> Knowledge {
        guard let context = contexts[key] else { return knowledge }
        var joined = knowledge
        joined.join(context)
        return joined
    }

    // MARK: The process

    func start() throws {
        guard store == nil else { return }
        generation += 1
        let store = try KithStore(
            database, tables: schema.tables,
            options: KithStore.Options(
                clock: { [clock] in HybridTimestamp(milliseconds: clock.milliseconds) },
                makeReplicaID: { [identities] in identities.next() }))
        self.store = store
        probe = ObservationProbe()
        database.add(transactionObserver: probe, extent: .observerLifetime)
        summary = try store.summary()
    }

    /// The process ends; what it committed stays.
    func stop() {
        store?.close()
        store = nil
        openPeers = []
        database.remove(transactionObserver: probe)
    }

    // MARK: The disk

    /// Lets the database grow by this many pages; without limit if `nil`.
    func limitDisk(pages: Int?) throws {
        isDiskLimited = pages != nil
        try database.writeWithoutTransaction { db in
            let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages.map { count + $0 } ?? 1_073_741_823)")
        }
    }

    func makeBackup() throws {
        backup = Backup(database: try copy(of: database), contexts: contexts)
    }

    /// Puts a copy of `backup` in the place of the database. The process must not run.
    func replaceDatabase(by backup: Backup) throws {
        database = try copy(of: backup.database)
        contexts = backup.contexts
        isDiskLimited = false
        durable = VersionVector()
    }

    private func copy(of database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try DatabaseQueue()
        try database.backup(to: copy)
        return copy
    }
}
