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

    init(_ connection: Connection, _ signal: CommitSignal, reading: @escaping @Sendable () -> HybridTimestamp) {
        self.connection = connection
        self.signal = signal
        self.reading = reading
    }

    /// The stamp of everything that the transaction now open writes.
    ///
    /// The commit's number is stored again with every captured write, because `ROLLBACK TO` may have undone the last
    /// time; the statement changes nothing if it has not.
    func stamp(_ catalog: Catalog) throws -> (stamp: Stamp, replicaNumber: Int) {
        let version = connection.dataVersion
        if current?.dataVersion != version { current = try begin(catalog, dataVersion: version) }
        guard let current else { throw StoreError(.corrupt, "The store has no replica id. Open it with Kith first.") }
        let store = try storeStatement()
        store.bind(1, Int64(bitPattern: current.stamp.dot.sequence))
        store.bind(2, Int64(bitPattern: current.stamp.timestamp.rawValue))
        store.bind(3, current.replicaNumber)
        try store.run()
        return (current.stamp, current.replicaNumber)
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

    /// Forgets the transaction, which was rolled back or has ended. Returns the dot it was given.
    func end() -> Dot? {
        defer { current = nil }
        return current?.stamp.dot
    }

    /// Milliseconds since 1970 by the wall clock.
    var wallClockMilliseconds: Int64 { reading().milliseconds }

    private func begin(
        _ catalog: Catalog, dataVersion: UInt32
    ) throws -> (dataVersion: UInt32, replicaNumber: Int, stamp: Stamp)? {
        let select = try connection.statement(
            """
            SELECT number, sequence FROM kith_replica WHERE number = (SELECT value FROM kith_meta WHERE name = 'self')
            """)
        guard try select.step() else { return nil }
        defer { select.reset() }
        let number = select.int(0)
        guard number >= 0, number < catalog.replicas.ids.count else { return nil }
        var clock = HybridClock(latest: try VectorRecords(connection: connection).clock())
        let replica = catalog.replicas.ids[number]
        let last = UInt64(bitPattern: select.integer(1))
        guard last < UInt64(Int64.max) else { throw StoreError(.corrupt, "The store has no sequence numbers left.") }
        signal.willMove(from: VersionVector([Dot(replica: replica, sequence: last)]))
        let dot = Dot(replica: replica, sequence: last + 1)
        return (dataVersion, number, Stamp(dot: dot, timestamp: clock.tick(reading: reading())))
    }
}
