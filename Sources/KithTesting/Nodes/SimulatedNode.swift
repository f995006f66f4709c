import Foundation
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
    private let disk: NodeDisk
    /// `nil` while the process does not run.
    private(set) var store: KithStore?
    /// An observer of each tracked table, in order.
    let probes: [ObservationProbe]
    /// What the node's user has open.
    let editor: TextEditor
    /// The store's own summary, as of its last commit.
    var summary: StoreSummary
    /// What would survive a loss of power, as the node was told.
    var durable = VersionVector()
    /// What the oracle takes the node to have seen.
    var known = NodeKnowledge()
    var openPeers: [ReplicaID] = []
    var isDiskLimited = false
    /// Grows with every start of the process.
    private(set) var generation = 0
    var backup: Backup?

    /// A copy of the database, and what the oracle knows of it.
    struct Backup {
        let content: Data
        let known: NodeKnowledge
    }

    /// - Parameter inMemory: whether the disk is never copied, restored or left as a crash leaves it.
    init(
        index: Int, schema: SimulatedSchema, seed: UInt64, inMemory: Bool = true, characters: CharacterSource = CharacterSource(.typed)
    ) throws {
        self.index = index
        editor = TextEditor(characters)
        self.schema = schema
        identities = ReplicaIDSource(seed: seed, node: index)
        clock.milliseconds = ClockCourse.epochMilliseconds
        probes = schema.tables.map { ObservationProbe(table: $0.name) }
        disk = try NodeDisk(inMemory: inMemory)
        try schema.migrate(disk.database)
        summary = StoreSummary(replica: ReplicaID(high: 0, low: 0), heads: [], clock: .zero)
        try start()
    }

    var database: any DatabaseWriter { disk.database }
    var name: String { nodeName(index) }
    var isRunning: Bool { store != nil }

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
        for probe in probes { database.add(transactionObserver: probe, extent: .observerLifetime) }
        summary = try store.summary()
    }

    /// The process is killed; what it committed stays.
    func stop() throws {
        guard store != nil else { return }
        openPeers = []
        editor.closeAll()
        try disk.kill {
            store?.close()
            for probe in probes { database.remove(transactionObserver: probe) }
        }
        store = nil
    }

    /// The machine is no longer needed.
    func remove() {
        try? stop()
        disk.remove()
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
        backup = Backup(content: try disk.copy(), known: known)
    }

    /// Puts `backup` in the place of the database. The process must not run.
    func replaceDatabase(by backup: Backup) throws {
        try disk.replace(by: backup.content)
        known = backup.known
        isDiskLimited = false
        durable = VersionVector()
    }
}
