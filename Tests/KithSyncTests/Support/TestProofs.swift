import KithCausality
import KithSync

/// The proofs of a store that one thread uses.
final class TestProofs: ProofBook, @unchecked Sendable {
    private var records: ProofRecords

    init(_ authority: any ReplicaAuthority, _ records: ProofRecords? = nil) {
        self.records = records ?? ProofRecords(authority)
    }

    func withRecords<Result>(_ body: (inout sending ProofRecords) throws -> sending Result) rethrows -> Result {
        try body(&records)
    }

    func willTell(_ dot: Dot) {}
}
