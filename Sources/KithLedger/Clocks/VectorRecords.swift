import GRDB
import KithCausality
import KithSQLite
import KithSync

/// What the store as a whole knows: its version vector, its clock, the catch-up that was broken off. The only owner of
/// `kith_replica`.
package struct VectorRecords {
    static let table = "kith_replica"

    package static let sql = """
        -- Every replica met, with its newest known commit: together the version vector.
        CREATE TABLE IF NOT EXISTS kith_replica (
            number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, sequence INTEGER NOT NULL DEFAULT 0,
            timestamp INTEGER NOT NULL DEFAULT 0);
        """

    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    /// The newest commit known of every replica, sorted by replica.
    package func heads(_ catalog: Catalog) throws -> [Head] {
        let select = try connection.statement("SELECT number, sequence, timestamp FROM kith_replica WHERE sequence > 0")
        var heads: [Head] = []
        while try select.step() {
            if catalog.replicas.ids.indices.contains(select.int(0)) { heads.append(head(select, catalog)) }
        }
        return heads.sorted { $0.dot < $1.dot }
    }

    package func vector(_ catalog: Catalog) throws -> VersionVector {
        VersionVector(try heads(catalog).map(\.dot))
    }

    /// The vector as an access to the database sees it that has no catalog.
    package static func vector(_ db: Database) throws -> VersionVector {
        let select = try DatabaseConnection(borrowing: db).statement("SELECT id, sequence FROM kith_replica WHERE sequence > 0")
        var vector = VersionVector()
        while try select.step() {
            guard let replica = ReplicaID(bytes: select.blob(0)) else { continue }
            vector.insert(Dot(replica: replica, sequence: UInt64(bitPattern: select.integer(1))))
        }
        return vector
    }

    /// Who this store is.
    package func replica(_ catalog: Catalog) throws -> ReplicaID {
        let number = try meta("self")
        guard case .integer(let number)? = number, let index = Int(exactly: number), index >= 0, index < catalog.replicas.ids.count
        else { throw StoreError(.corrupt, "The store has no replica id.") }
        return catalog.replicas.ids[index]
    }

    /// Who this store is, its last commit, and the mark of this opening, as of one moment; whether any commit is known.
    package func standing() throws -> (replica: ReplicaID, sequence: UInt64, opening: String, isFilled: Bool) {
        let select = try connection.statement(
            """
            SELECT id, sequence, \(MetaRecords.valueSQL("opening")), EXISTS (SELECT 1 FROM kith_replica WHERE sequence > 0)
            FROM kith_replica WHERE number = \(MetaRecords.valueSQL("self"))
            """)
        defer { select.reset() }
        guard try select.step(), let replica = ReplicaID(bytes: select.blob(0)) else {
            throw StoreError(.corrupt, "The store has no replica id.")
        }
        let sequence = UInt64(bitPattern: select.integer(1))
        return (replica, sequence, String(decoding: select.blob(2), as: UTF8.self), select.int(3) != 0)
    }

    /// The timestamp of this store's own last commit, in SQL.
    private static let ownTimestampSQL = "(SELECT timestamp FROM kith_replica WHERE number = \(MetaRecords.valueSQL("self")))"

    /// The highest timestamp given out or seen, in SQL. Each commit reads it, so it must not look at every replica.
    private static let clockSQL = "max(coalesce(\(MetaRecords.valueSQL("clock")), 0), coalesce(\(ownTimestampSQL), 0))"

    /// The highest timestamp given out or seen.
    package func clock() throws -> HybridTimestamp {
        let select = try connection.statement(Self.selectClockSQL)
        defer { select.reset() }
        return HybridTimestamp(rawValue: try select.step() ? UInt64(bitPattern: select.integer(0)) : 0)
    }

    private static let selectClockSQL = "SELECT \(clockSQL)"

    package func summary(_ catalog: Catalog) throws -> StoreSummary {
        StoreSummary(
            replica: try replica(catalog), heads: try heads(catalog), clock: try clock(), resumption: try resumption(catalog))
    }

    /// Makes the store the replica `id`.
    package func adopt(_ id: ReplicaID, _ ledger: RowLedger) throws {
        // From now on the last commit of the earlier one is another replica's.
        try setMeta("clock", .integer(Int64(bitPattern: try clock().rawValue)))
        try setMeta("self", .integer(Int64(try ledger.number(of: id))))
    }

    // MARK: Replicas by number

    /// The replicas that were met, by number; `nil` if the numbers do not hold together.
    func replicas() throws -> [ReplicaID]? {
        let select = try connection.statement("SELECT number, id FROM kith_replica ORDER BY number")
        defer { select.reset() }
        var ids: [ReplicaID] = []
        while try select.step() {
            guard select.int(0) == ids.count, let id = ReplicaID(bytes: select.blob(1)) else { return nil }
            ids.append(id)
        }
        return ids
    }

    /// The same with the vector; none if the numbers do not hold together.
    func knowledge() throws -> (replicas: [ReplicaID], vector: VersionVector) {
        let select = try connection.statement("SELECT number, id, sequence FROM kith_replica ORDER BY number")
        defer { select.reset() }
        var ids: [ReplicaID] = []
        var vector = VersionVector()
        while try select.step() {
            guard select.int(0) == ids.count, let id = ReplicaID(bytes: select.blob(1)) else { return ([], VersionVector()) }
            ids.append(id)
            let sequence = UInt64(bitPattern: select.integer(2))
            if sequence > 0 { vector.insert(Dot(replica: id, sequence: sequence)) }
        }
        return (ids, vector)
    }

    /// Stores the replicas that have the numbers from `first` on.
    func add(_ replicas: [ReplicaID], from first: Int) throws {
        let insert = try connection.statement("INSERT INTO kith_replica (number, id) VALUES (?, ?)")
        for number in first..<replicas.count {
            insert.bind(1, number)
            insert.bind(2, blob: replicas[number].bytes)
            try insert.run()
        }
    }

    /// The newest commit of this store's own replica; `nil` if it has made none.
    package func ownHead(_ catalog: Catalog) throws -> Head? {
        let select = try connection.statement(
            "SELECT number, sequence, timestamp FROM kith_replica WHERE number = \(MetaRecords.valueSQL("self")) AND sequence > 0")
        defer { select.reset() }
        guard try select.step(), catalog.replicas.ids.indices.contains(select.int(0)) else { return nil }
        return head(select, catalog)
    }

    private func head(_ select: PreparedStatement, _ catalog: Catalog) -> Head {
        Head(
            dot: Dot(replica: catalog.replicas.ids[select.int(0)], sequence: UInt64(bitPattern: select.integer(1))),
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: select.integer(2))))
    }

    /// The number of this store's own replica, its last commit, and the highest timestamp given out or seen; `nil` if it has none.
    func own() throws -> (number: Int, sequence: UInt64, clock: UInt64)? {
        let select = try connection.statement(Self.ownSQL)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return (select.int(0), UInt64(bitPattern: select.integer(1)), UInt64(bitPattern: select.integer(2)))
    }

    private static let ownSQL =
        "SELECT number, sequence, \(clockSQL) FROM kith_replica WHERE number = \(MetaRecords.valueSQL("self"))"

    /// The newest commit known of the replica with a number.
    func sequence(of number: Int) throws -> UInt64? {
        let select = try connection.statement("SELECT sequence FROM kith_replica WHERE number = ?")
        defer { select.reset() }
        select.bind(1, number)
        return try select.step() ? UInt64(bitPattern: select.integer(0)) : nil
    }

    /// Whether the vector covers a commit.
    static func coversSQL(replica: String, sequence: String) -> String {
        "EXISTS (SELECT 1 FROM kith_replica p WHERE p.number = \(replica) AND p.sequence >= \(sequence))"
    }

    // MARK: Moving on

    /// Takes the sequence number and the timestamp of a newer commit, and the number of its replica.
    func moving() throws -> PreparedStatement {
        try connection.statement("UPDATE kith_replica SET sequence = ?1, timestamp = ?2 WHERE number = ?3 AND sequence < ?1")
    }

    /// Joins `target` into the vector.
    package func advance(to target: [Head], _ ledger: RowLedger) throws {
        let update = try moving()
        // Nearly all of many are known.
        let known = target.count > Self.updatesMax ? try vector(ledger.catalog) : VersionVector()
        for head in target where !known.covers(head.dot) {
            let number = try ledger.number(of: head.dot.replica)
            update.bind(1, Int64(bitPattern: head.dot.sequence))
            update.bind(2, Int64(bitPattern: head.timestamp.rawValue))
            update.bind(3, number)
            try update.run()
        }
        if let latest = target.map(\.timestamp).max() { try observe(latest) }
    }

    /// Up to so many commits are stored whether they are newer than what is known or not.
    private static let updatesMax = 64

    /// Moves the clock past what a peer has seen.
    package func observe(_ timestamp: HybridTimestamp) throws {
        let known = try clock()
        if timestamp > known { try setMeta("clock", .integer(Int64(bitPattern: timestamp.rawValue))) }
    }

    // MARK: A catch-up that is not complete

    package func resumption(_ catalog: Catalog) throws -> Resumption? {
        try progress("resumption", catalog)
    }

    /// Up to where a catch-up under way has listed all rows, absent ones included, and as of which vector.
    package func listed(_ catalog: Catalog) throws -> Resumption? {
        try progress("listed", catalog)
    }

    private func progress(_ name: String, _ catalog: Catalog) throws -> Resumption? {
        guard case .blob(let bytes)? = try meta(name) else { return nil }
        var reader = ByteReader(bytes)
        guard let table = try? reader.blob(limit: WireLimits.nameBytesMax, "nameBytesMax"),
            let row = try? reader.identifier(RowID.self), let vector = try? reader.vector(catalog.replicas)
        else { return nil }
        return Resumption(position: SlicePosition(table: table, row: row), vector: vector)
    }

    /// Notes how far a catch-up has come; a position further on, from an earlier one, stays, unless that is too old.
    package func noteProgress(_ progress: Resumption, replacesLater: Bool = false, _ ledger: RowLedger) throws {
        if !replacesLater, let earlier = try resumption(ledger.catalog), earlier.position > progress.position { return }
        try store(progress, "resumption", ledger)
    }

    /// Notes how far a listing has come that continues the one before, or begins.
    package func noteListed(_ progress: Resumption, after: SlicePosition?, _ ledger: RowLedger) throws {
        var progress = progress
        if let after {
            guard let earlier = try listed(ledger.catalog), earlier.position == after, progress.vector.covers(earlier.vector) else {
                return
            }
            progress = Resumption(position: progress.position, vector: earlier.vector)
        }
        try store(progress, "listed", ledger)
    }

    private func store(_ progress: Resumption, _ name: String, _ ledger: RowLedger) throws {
        for dot in progress.vector.entries { _ = try ledger.number(of: dot.replica) }
        var writer = ByteWriter()
        writer.blob(progress.position.table)
        writer.identifier(progress.position.row)
        writer.vector(progress.vector, &ledger.catalog.replicas)
        try setMeta(name, .blob(writer.bytes))
    }

    /// Forgets a broken-off catch-up once the vector has caught up with it. Returns whether there was one.
    package func forgetCoveredResumption(_ catalog: Catalog) throws -> Bool {
        let kept = try ["resumption", "listed"].compactMap { name in try progress(name, catalog).map { (name, $0.vector) } }
        if kept.isEmpty { return false }
        let vector = try vector(catalog)
        let covered = kept.filter { vector.covers($0.1) }
        for (name, _) in covered { try removeMeta(name) }
        return !covered.isEmpty
    }

    // MARK: What was collected

    /// Everything that was known of the rows that are collected here, their deletions included. Covered by the vector.
    package func floor(_ catalog: Catalog) throws -> VersionVector {
        guard case .blob(let bytes)? = try meta("floor") else { return VersionVector() }
        var reader = ByteReader(bytes)
        return try reader.vector(catalog.replicas)
    }

    package func raiseFloor(to vector: VersionVector, _ ledger: RowLedger) throws {
        let floor = try floor(ledger.catalog)
        if floor.covers(vector) { return }
        for dot in vector.entries { _ = try ledger.number(of: dot.replica) }
        var writer = ByteWriter()
        writer.vector(floor.joined(with: vector), &ledger.catalog.replicas)
        try setMeta("floor", .blob(writer.bytes))
    }

    // MARK: Named values

    package func meta(_ name: String) throws -> ColumnValue? {
        try MetaRecords(connection).value(name)
    }

    package func setMeta(_ name: String, _ value: ColumnValue) throws {
        try MetaRecords(connection).set(name, value)
    }

    package func removeMeta(_ name: String) throws {
        try MetaRecords(connection).remove(name)
    }
}
