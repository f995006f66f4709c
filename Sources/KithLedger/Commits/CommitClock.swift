import KithCausality
import KithSQLite
import KithSync

/// Gives the current transaction its dot and its timestamp, both written within it.
package final class CommitClock {
    private let connection: DatabaseConnection
    /// Reads the wall clock.
    private let reading: @Sendable () -> HybridTimestamp
    private let signal: CommitSignal
    private var knownStoreStatement: PreparedStatement?
    // Not looked at for overlaps, as in `Capture`.
    @exclusivity(unchecked) package private(set) var machine = TransactionMachine()

    package init(_ connection: DatabaseConnection, _ signal: CommitSignal, reading: @escaping @Sendable () -> HybridTimestamp) {
        self.connection = connection
        self.signal = signal
        self.reading = reading
    }

    /// The stamp of everything that the transaction now open writes.
    ///
    /// The commit's number is stored with the first captured write, and with the next one after `ROLLBACK TO`, which may have
    /// undone that.
    package func stamp(_ catalog: Catalog) throws -> (stamp: Stamp, replicaNumber: Int) {
        if let noted = machine.current { return (noted.stamp, noted.replicaNumber) }
        var step = machine.handle(.write(version: connection.dataVersion))
        while true {
            switch step {
            case .give: step = machine.handle(.gave(try begin(catalog)))
            case .join:
                try connection.keepingLastInsertedRowID { try connection.statement(TransactionTable.joinSQL).run() }
                step = machine.handle(.joined)
            case .store(let noted):
                try store(noted)
                step = machine.handle(.storedNumber)
            case .note(let noted): return (noted.stamp, noted.replicaNumber)
            case .proceed, .look, .ask, .forget, .commit, .refuse: throw Self.rowsNotStored
            }
        }
    }

    /// Tells the machine, and looks up what it asks for. What cannot be looked up does not count as there.
    @discardableResult
    package func tell(_ event: TransactionMachine.Event) -> TransactionMachine.Step {
        let step = machine.handle(event)
        guard case .ask(let noted) = step else { return step }
        return machine.handle(event, isHeld: (try? isHeld(noted)) ?? false)
    }

    /// Something is about to be read or written in a transaction that sees `version`.
    package func enter(_ version: UInt32) throws -> TransactionMachine.Step {
        let step = machine.handle(.entered(version: version))
        guard case .ask(let noted) = step else { return step }
        return machine.handle(.entered(version: version), isHeld: try isHeld(noted))
    }

    /// Runs `body`, which stores clocks of inserted rows: half of them may be in the file if it fails.
    func storingRows(_ body: (TransactionMachine.Noted) throws -> Void) throws {
        guard let noted = machine.noted, machine.handle(.storingRows) == .proceed else { throw Self.rowsNotStored }
        try body(noted)
        _ = machine.handle(.storedRows)
    }

    /// Refuses to go on if ``storingRows(_:)`` has failed: SQLite has rolled back, or does so now.
    func checkRowsAreStored() throws {
        if case .storingRows = machine.phase { throw Self.rowsNotStored }
    }

    private static let rowsNotStored = StoreError(
        .failed, "The clocks of inserted rows could not be stored, so the transaction cannot be committed. Roll it back and try again.")

    private func store(_ noted: TransactionMachine.Noted) throws {
        let store = try storeStatement()
        store.bind(1, Int64(bitPattern: noted.stamp.dot.sequence))
        store.bind(2, Int64(bitPattern: noted.stamp.timestamp.rawValue))
        store.bind(3, noted.replicaNumber)
        try store.run()
    }

    /// The dot that ``stamp(_:)`` gives the open transaction, without making it a commit.
    package func nextDot(_ catalog: Catalog) throws -> Dot {
        if let noted = machine.noted, noted.version == connection.dataVersion { return noted.stamp.dot }
        let records = VectorRecords(connection: connection)
        return Dot(replica: try records.replica(catalog), sequence: (try records.ownHead(catalog)?.dot.sequence ?? 0) + 1)
    }

    private func storeStatement() throws -> PreparedStatement {
        if let known = knownStoreStatement { return known }
        let new = try VectorRecords(connection: connection).moving()
        knownStoreStatement = new
        return new
    }

    /// Whether the file, as the open transaction sees it, holds the commit's number.
    private func isHeld(_ noted: TransactionMachine.Noted) throws -> Bool {
        guard let held = try VectorRecords(connection: connection).sequence(of: noted.replicaNumber) else { return false }
        return held >= noted.stamp.dot.sequence
    }

    /// Milliseconds since 1970 by the wall clock.
    package var wallClockMilliseconds: Int64 { reading().milliseconds }

    private func begin(_ catalog: Catalog) throws -> TransactionMachine.Noted {
        guard let (number, last, timestamp) = try VectorRecords(connection: connection).own(),
            number >= 0, number < catalog.replicas.ids.count
        else {
            throw StoreError(.corrupt, "The store has no replica id. Open it with Kith first.")
        }
        var clock = HybridClock(latest: HybridTimestamp(rawValue: timestamp))
        let replica = catalog.replicas.ids[number]
        guard last < UInt64(Int64.max) else { throw StoreError(.corrupt, "The store has no sequence numbers left.") }
        signal.willMove(from: VersionVector([Dot(replica: replica, sequence: last)]))
        let stamp = Stamp(dot: Dot(replica: replica, sequence: last + 1), timestamp: clock.tick(reading: reading()))
        return TransactionMachine.Noted(version: connection.dataVersion, replicaNumber: number, stamp: stamp)
    }
}
