import KithCausality
import KithSQLite
import KithSync

/// Whose each replica is, and the newest of its commits that a device has signed. The only owner of `kith_head`.
package struct HeadRecords {
    package static let sql = """
        -- Whose replica it is: a public key and the nonce that make its id, or without a nonce the key of who vouches for it; and what
        -- that key has signed last, or the voucher's: a member's, when the device had ceased to be one. Without a signature the
        -- replica is this store's own.
        CREATE TABLE IF NOT EXISTS kith_head (
            replica BLOB PRIMARY KEY NOT NULL, key BLOB NOT NULL, nonce BLOB, sequence INTEGER NOT NULL DEFAULT 0,
            timestamp INTEGER NOT NULL DEFAULT 0, voucher BLOB, signature BLOB) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Whose the replicas are of which nothing is signed yet.
    package func unsignedOrigins() throws -> [ReplicaID: HeadProof.Origin] {
        let select = try connection.statement("SELECT replica, key, nonce FROM kith_head WHERE signature IS NULL")
        var origins: [ReplicaID: HeadProof.Origin] = [:]
        while try select.step() {
            guard let replica = ReplicaID(bytes: select.blob(0)) else { continue }
            origins[replica] = origin(select)
        }
        return origins
    }

    /// The keys of all whose replicas they are, and of who vouches for one.
    package func keys() throws -> Set<[UInt8]> {
        let select = try connection.statement("SELECT key FROM kith_head UNION SELECT voucher FROM kith_head WHERE voucher NOT NULL")
        var keys: Set<[UInt8]> = []
        while try select.step() { keys.insert(select.blob(0)) }
        return keys
    }

    package func origin(of replica: ReplicaID) throws -> HeadProof.Origin? {
        let select = try connection.statement("SELECT replica, key, nonce FROM kith_head WHERE replica = ?")
        select.bind(1, blob: replica.bytes)
        defer { select.reset() }
        return try select.step() ? origin(select) : nil
    }

    private func origin(_ select: PreparedStatement) -> HeadProof.Origin {
        let nonce = select.blob(2)
        return HeadProof.Origin(key: select.blob(1), nonce: nonce.isEmpty ? nil : nonce)
    }

    package func proofs() throws -> [HeadProof] {
        var proofs: [HeadProof] = []
        try eachProof { proofs.append($0) }
        return proofs
    }

    /// Hands the proofs to `body` one by one: of a store that is years old, all together take megabytes.
    package func eachProof(_ body: (HeadProof) -> Void) throws {
        let select = try connection.statement(
            "SELECT replica, key, nonce, sequence, timestamp, voucher, signature FROM kith_head WHERE signature NOT NULL")
        while try select.step() {
            guard let replica = ReplicaID(bytes: select.blob(0)) else { continue }
            let dot = Dot(replica: replica, sequence: UInt64(bitPattern: select.integer(3)))
            let head = Head(dot: dot, timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: select.integer(4))))
            let voucher = select.blob(5)
            body(
                HeadProof(
                    head: head, origin: origin(select), voucher: voucher.isEmpty ? nil : voucher, signature: select.blob(6)))
        }
    }

    /// Notes whose a replica is of which nothing is signed yet.
    package func add(_ replica: ReplicaID, _ origin: HeadProof.Origin) throws {
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_head (replica, key, nonce) VALUES (?, ?, ?)")
        bind(replica, origin, to: insert)
        try insert.run()
    }

    /// Keeps a proof, unless a newer one is there.
    package func keep(_ proof: HeadProof) throws {
        let insert = try connection.statement(
            """
            INSERT INTO kith_head (replica, key, nonce, sequence, timestamp, voucher, signature) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (replica) DO UPDATE
            SET key = excluded.key, nonce = excluded.nonce, sequence = excluded.sequence, timestamp = excluded.timestamp,
                voucher = excluded.voucher, signature = excluded.signature
            WHERE sequence < excluded.sequence
            """)
        bind(proof.head.dot.replica, proof.origin, to: insert)
        insert.bind(4, Int64(bitPattern: proof.head.dot.sequence))
        insert.bind(5, Int64(bitPattern: proof.head.timestamp.rawValue))
        if let voucher = proof.voucher { insert.bind(6, blob: voucher) } else { insert.bind(6, .null) }
        insert.bind(7, blob: proof.signature)
        try insert.run()
    }

    private func bind(_ replica: ReplicaID, _ origin: HeadProof.Origin, to statement: PreparedStatement) {
        statement.bind(1, blob: replica.bytes)
        statement.bind(2, blob: origin.key)
        if let nonce = origin.nonce { statement.bind(3, blob: nonce) } else { statement.bind(3, .null) }
    }
}
