import KithCausality
import KithSync

/// Gives the current transaction its dot and its timestamp, both written within it.
final class CommitClock {
    private let connection: Connection
    /// Reads the wall clock.
    private let reading: @Sendable () -> HybridTimestamp
    private let signal: CommitSignal
    private var knownStoreStatement: Statement?
    private var current: (dataVersion: UInt32, replicaNumber: Int, stamp: Stamp)?
    /// Whether capture hears of what becomes of the transaction.
    private var hasJoined = false
    /// Whether the commit's number is in the file.
    private var isStored = false

    init(_ connection: Connection, _ signal: CommitSignal, reading: @escaping @Sendable () -> HybridTimestamp) {
        self.connection = connection
        self.signal = signal
        self.reading = reading
    }

    /// The stamp of everything that the transaction now open writes.
    ///
    /// The commit's number is stored with the first captured write, and with the next one after `ROLLBACK TO`, which may have
    /// undone that.
    func stamp(_ catalog: Catalog) throws -> (stamp: Stamp, replicaNumber: Int) {
        let version = connection.dataVersion
        if current?.dataVersion != version { current = try begin(catalog, dataVersion: version) }
        guard let current else { throw StoreError(.corrupt, "The store has no replica id. Open it with Kith first.") }
        if !hasJoined {
            try connection.keepingLastInsertedRowID { try connection.statement(TransactionTable.joinSQL).run() }
            hasJoined = true
            isStored = false
        }
        if !isStored { try store(current.stamp, current.replicaNumber) }
        return (current.stamp, current.replicaNumber)
    }

    /// The transaction was rolled back, to a savepoint or as a whole.
    func didRollBack() {
        isStored = false
    }

    /// The transaction is about to commit. A statement that failed has perhaps taken nothing back but its own writes.
    func willCommit() {
        if !isStored { isStored = (try? isStampStored()) == true }
    }

    /// The transaction was rolled back or has committed.
    func didLeave() {
        hasJoined = false
    }

    private func store(_ stamp: Stamp, _ replicaNumber: Int) throws {
        let store = try storeStatement()
        store.bind(1, Int64(bitPattern: stamp.dot.sequence))
        store.bind(2, Int64(bitPattern: stamp.timestamp.rawValue))
        store.bind(3, replicaNumber)
        try store.run()
        isStored = true
    }

    /// The dot that ``stamp(_:)`` gives the open transaction, without making it a commit.
    func nextDot(_ catalog: Catalog) throws -> Dot {
        if let current, current.dataVersion == connection.dataVersion { return current.stamp.dot }
        let records = VectorRecords(connection: connection)
        let replica = try records.replica(catalog)
        return Dot(replica: replica, sequence: try records.vector(catalog)[replica] + 1)
    }

    private func storeStatement() throws -> Statement {
        if let known = knownStoreStatement { return known }
        let new = try connection.statement("UPDATE kith_replica SET sequence = ?1, timestamp = ?2 WHERE number = ?3 AND sequence < ?1")
        knownStoreStatement = new
        return new
    }

    /// Forgets the transaction, which was rolled back or has ended. Returns the commit that it has made, if it has ended.
    func end() -> Head? {
        defer { (current, isStored) = (nil, false) }
        guard isStored, let stamp = current?.stamp else { return nil }
        return Head(dot: stamp.dot, timestamp: stamp.timestamp)
    }

    /// Whether the transaction that was given a stamp is still open, for then its number is stored.
    func isStampStored() throws -> Bool {
        guard let current else { return false }
        let select = try connection.statement("SELECT sequence FROM kith_replica WHERE number = ?")
        defer { select.reset() }
        select.bind(1, current.replicaNumber)
        return try select.step() && UInt64(bitPattern: select.integer(0)) >= current.stamp.dot.sequence
    }

    /// Milliseconds since 1970 by the wall clock.
    var wallClockMilliseconds: Int64 { reading().milliseconds }

    private func begin(
        _ catalog: Catalog, dataVersion: UInt32
    ) throws -> (dataVersion: UInt32, replicaNumber: Int, stamp: Stamp)? {
        let select = try connection.statement(
            """
            SELECT number, sequence, \(VectorRecords.clockSQL) FROM kith_replica
            WHERE number = (SELECT value FROM kith_meta WHERE name = 'self')
            """)
        guard try select.step() else { return nil }
        defer { select.reset() }
        let number = select.int(0)
        guard number >= 0, number < catalog.replicas.ids.count else { return nil }
        var clock = HybridClock(latest: HybridTimestamp(rawValue: UInt64(bitPattern: select.integer(2))))
        let replica = catalog.replicas.ids[number]
        let last = UInt64(bitPattern: select.integer(1))
        guard last < UInt64(Int64.max) else { throw StoreError(.corrupt, "The store has no sequence numbers left.") }
        signal.willMove(from: VersionVector([Dot(replica: replica, sequence: last)]))
        let dot = Dot(replica: replica, sequence: last + 1)
        return (dataVersion, number, Stamp(dot: dot, timestamp: clock.tick(reading: reading())))
    }
}
