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
        let makesReplica = NewReplica(options: options)
        let isBound = try read(rows: false) { ledger in
            let records = VectorRecords(connection: ledger.connection)
            return try HeadRecords(ledger.connection).origin(of: records.replica(ledger.catalog))?.key == authority.key
                && makesReplica.deviceKey(records) == authority.key
        }
        if !isBound {
            try signAll()
            try write { _, state in
                let records = VectorRecords(connection: state.ledger.connection)
                try makesReplica.setDeviceKey(authority.key, records)
                let before = try records.replica(state.ledger.catalog)
                if try HeadRecords(state.ledger.connection).origin(of: before)?.key == authority.key { return }
                try noteEarlier(before, of: authority, state)
                var makesReplica = makesReplica
                makesReplica.options.deviceKey = authority.key
                _ = try makesReplica.adopt(state.ledger, isSameStore: true)
                try presence?.note(try state.claim())
            }
        }
        let (heads, origins, kept) = try read(rows: false) { ledger in
            let records = HeadRecords(ledger.connection)
            return (try VectorRecords(connection: ledger.connection).heads(ledger.catalog), try records.origins(), try records.proofs())
        }
        let book = LockedProofs(authority, ProofRecords(authority, origins: origins, proofs: kept, heads: heads))
        let isFirst = proofs.withLock { proofs in
            defer { proofs = book }
            return proofs == nil
        }
        // Before anybody else hears of a commit, it can be proven.
        if isFirst {
            _ = signal.add { [weak self] news in
                if case .own(let head) = news { self?.proofs.withLock { $0 }?.note([head]) }
            }
        }
        return book
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
            if proof.origin.nonce != nil, let device = book.authority.device(of: proof.origin.key) {
                try Authors.note(device, is: proof.head.dot.replica, state.ledger.connection)
            }
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
        let records = VectorRecords(connection: ledger.connection)
        let replica = try records.replica(ledger.catalog)
        book.note(try records.heads(ledger.catalog).filter { $0.dot.replica == replica })
    }
}
