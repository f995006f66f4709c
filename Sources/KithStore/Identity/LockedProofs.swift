import KithCausality
import KithSync
import Synchronization

/// The proofs of a store, behind a lock.
final class LockedProofs: ProofBook {
    private let records: Mutex<ProofRecords>
    private let tells: @Sendable (Dot) throws -> Void

    /// - Parameter tells: called with a commit of this device before others are told of it, which fails if they must not be.
    init(_ records: sending ProofRecords, tells: @escaping @Sendable (Dot) throws -> Void) {
        self.records = Mutex(records)
        self.tells = tells
    }

    func willTell(_ dot: Dot) throws(CloseReason) {
        do { try tells(dot) } catch { throw CloseReason(.storeFailed, String(describing: error)) }
    }

    func withRecords<Result>(_ body: (inout sending ProofRecords) throws -> sending Result) rethrows -> Result {
        try records.withLock(body)
    }
}
