import KithCausality
import KithLedger
import KithSync
import Synchronization

extension SyncedDatabase {
    /// Makes the store speak for a device from now on: its id names the device, what it sends is signed, and what comes is believed as
    /// far as it is proven. If the store was another device's, it becomes a new replica.
    ///
    /// - Returns: what the store's sessions prove and believe; the same for each of them.
    @discardableResult
    package func bind(to authority: any ReplicaAuthority) throws -> any ProofBook {
        let round = UInt8(clamping: authority.roundsEnded(of: authority.key))
        let isBound = try read(rows: false) { ledger in
            let records = VectorRecords(connection: ledger.connection)
            return try speaks(for: authority.key, round, ledger)
                && NewReplica(options: options).device(records) == NewReplica.Device(key: authority.key, round: round)
        }
        if !isBound {
            // What the store was before may sign for the last time.
            try signAll()
            proofs.withLock { $0 }?.withRecords { $0.bind(to: authority, origins: [:], heads: []) }
            try write { _, state in try adopt(NewReplica.Device(key: authority.key, round: round), of: authority, state) }
        }
        let (heads, origins, kept) = try read(rows: false) { ledger in
            // Nobody reads all of that again.
            defer { ledger.connection.releaseMemory() }
            let records = HeadRecords(ledger.connection)
            let heads = try VectorRecords(connection: ledger.connection).heads(ledger.catalog)
            let origins = try records.unsignedOrigins()
            var kept = ProofRecords(authority)
            try records.eachProof { kept.restore($0) }
            kept.bind(to: authority, origins: origins, heads: heads)
            return (heads, origins, kept)
        }
        let (book, isFirst) = proofs.withLock { known in
            if let known { return (known, false) }
            let book = LockedProofs(kept) { [weak self] dot in
                try self?.willTell(dot)
            }
            known = book
            return (book, true)
        }
        if isFirst {
            // Before anybody else hears of a commit, it can be proven.
            _ = signal.add { news in
                if case .own(let head) = news { book.note([head]) }
            }
        } else {
            book.withRecords { records in
                // Another process may have taken some in since.
                records.restore(kept)
                records.bind(to: authority, origins: origins, heads: heads)
            }
        }
        return book
    }

    /// What the store's sessions prove and believe; `nil` as long as it speaks for no device.
    package var proofBook: (any ProofBook)? { proofs.withLock { $0 } }

    /// The public keys of all devices whose replicas this store has met.
    package func knownKeys() throws -> [[UInt8]] {
        try read(rows: false) { ledger in
            try HeadRecords(ledger.connection).keys().sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    private func speaks(for key: [UInt8], _ round: UInt8, _ ledger: RowLedger) throws -> Bool {
        let replica = try VectorRecords(connection: ledger.connection).replica(ledger.catalog)
        let origin = try HeadRecords(ledger.connection).origin(of: replica)
        return origin?.key == key && origin?.round == round
    }

    /// Makes the store a replica of `device`, unless it is one.
    private func adopt(_ device: NewReplica.Device, of authority: any ReplicaAuthority, _ state: WriterState) throws {
        let records = VectorRecords(connection: state.ledger.connection)
        var makesReplica = NewReplica(options: options)
        try makesReplica.setDevice(device, records)
        if try speaks(for: device.key, device.round, state.ledger) { return }
        try noteEarlier(try records.replica(state.ledger.catalog), of: authority, state)
        makesReplica.options.deviceKey = { device.key }
        note(try makesReplica.adopt(state.ledger, isSameStore: true))
        try presence?.note(try state.claim())
    }

    /// The store becomes a new replica with this transaction, and shall prove what it writes from the first commit on.
    func note(_ replica: NewReplica.Result) {
        guard let origin = replica.origin else { return }
        proofs.withLock { $0 }?.withRecords { $0.add(replica.id, origin) }
    }

    /// What the store was before is this device's, too, unless it was another's.
    private func noteEarlier(_ replica: ReplicaID, of authority: any ReplicaAuthority, _ state: WriterState) throws {
        let key = try HeadRecords(state.ledger.connection).origin(of: replica)?.key
        if key.map(authority.isOwn) ?? true { try Authors.noteOwn(replica, state.ledger.connection) }
    }

    /// Signs all that this device has written so far, so that whoever has the database can prove it: a copy on another device, or this
    /// device under another key.
    package func signAll() throws {
        guard let book = proofs.withLock({ $0 }) else { return }
        try read(rows: false) { ledger in try noteOwnHead(ledger) }
        let unsaved = try book.withRecords { records in
            try records.signAll()
            return records.unsaved
        }
        if !unsaved.isEmpty { didKeep(try write { _, state in try keepProofs(state) }) }
    }

    /// Keeps what was proven, as a part of the transaction that needs it. Returns what is to be told to the book once that is committed.
    func keepProofs(_ state: WriterState) throws -> [HeadProof] {
        guard let book = proofs.withLock({ $0 }) else { return [] }
        let unsaved = book.withRecords { $0.unsaved }
        let records = HeadRecords(state.ledger.connection)
        for proof in unsaved {
            try records.keep(proof)
            let (key, authority) = (proof.origin.key, book.authority)
            guard proof.origin.nonce != nil, authority.isMember(key), !authority.isOwn(key), let device = authority.device(of: key)
            else { continue }
            // The list of members may be older than the household's records: after a change of key, a device proves at once what it wrote
            // under its old key.
            try Authors.note(device, is: proof.head.dot.replica, state.ledger.connection)
        }
        return unsaved
    }

    /// What was kept is committed.
    func didKeep(_ kept: [HeadProof]) {
        if !kept.isEmpty { proofs.withLock({ $0 })?.withRecords { $0.saved(kept) } }
    }

    /// Own commits were read, which a session may be about to name.
    func noteOwnHead(_ ledger: RowLedger) throws {
        guard let book = proofs.withLock({ $0 }) else { return }
        if let head = try VectorRecords(connection: ledger.connection).ownHead(ledger.catalog) { book.note([head]) }
    }

    /// The store knows `vector`, which a session may be about to name. What another process has taken in, it has kept with its proofs.
    func noteProofs(of vector: VersionVector, _ ledger: RowLedger) throws {
        guard let book = proofs.withLock({ $0 }), book.withRecords({ $0.isBehind(vector) }) else { return }
        let kept = try HeadRecords(ledger.connection).proofs()
        book.withRecords { records in
            for proof in kept { records.restore(proof) }
        }
    }
}
