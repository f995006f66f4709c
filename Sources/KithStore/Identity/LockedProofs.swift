import KithSync
import Synchronization

/// The proofs of a store, behind a lock.
final class LockedProofs: ProofBook {
    let authority: any ReplicaAuthority
    private let records: Mutex<ProofRecords>

    init(_ authority: any ReplicaAuthority, _ records: sending ProofRecords) {
        self.authority = authority
        self.records = Mutex(records)
    }

    func withRecords<Result>(_ body: (inout sending ProofRecords) throws -> sending Result) rethrows -> Result {
        try records.withLock(body)
    }
}
