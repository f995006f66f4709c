import KithCausality
import KithLedger
import KithSync
import Synchronization

extension SyncedDatabase {
    /// Brings this store what `other`, in the same process, has and this one lacks: for the tests of an app. Between machines, a node does it.
    public func pull(from other: SyncedDatabase) throws(StoreError) {
        try StoreError.typed {
            try pullProofs(from: other)
            var since = try vector()
            while true {
                let delta = try other.delta(since: since)
                // From here on another store knows what the other one holds.
                for dot in delta.vector.entries { try other.willTell(dot) }
                switch try apply(delta) {
                case .applied: return
                case .refused(let summary): since = summary.vector
                // A row that was collected here comes back.
                case .incomplete: since = VersionVector()
                }
            }
        }
    }

    /// What the other store can prove, this one can prove, too, once it has the rows.
    private func pullProofs(from other: SyncedDatabase) throws {
        try other.signAll()
        let proofs = try other.read(rows: false) { ledger in try HeadRecords(ledger.connection).proofs() }
        if proofs.isEmpty { return }
        try self.proofs.withLock { $0 }?.take(proofs.map { ProofOffer($0, isToldBefore: false) })
        try write { _, state in
            for proof in proofs { try HeadRecords(state.ledger.connection).keep(proof) }
        }
    }
}
