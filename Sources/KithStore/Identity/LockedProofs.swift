import KithSync
import Synchronization

/// The proofs of a store, behind a lock.
final class LockedProofs: ProofBook {
    private let records: Mutex<ProofRecords>

    init(_ records: sending ProofRecords) {
        self.records = Mutex(records)
    }

    func withRecords<Result>(_ body: (inout sending ProofRecords) throws -> sending Result) rethrows -> Result {
        try records.withLock(body)
    }
}
