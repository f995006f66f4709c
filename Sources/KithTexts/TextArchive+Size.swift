import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

extension TextArchive {
    /// By replica, the bytes of its changes in all texts. A packed row is divided by how much each of its changes inserts and removes.
    package func bytesByReplica() throws -> [ReplicaID: Int] {
        let replicas = ledger.catalog.replicas.ids
        var bytes: [ReplicaID: Int] = [:]
        let unpacked = try connection.statement(ChangeRows.bytesByReplicaSQL)
        while try unpacked.step() {
            guard replicas.indices.contains(unpacked.int(0)) else { throw Self.corrupt }
            bytes[replicas[unpacked.int(0)], default: 0] += unpacked.int(1)
        }
        let packed = try connection.statement(ChunkRows.sizesSQL)
        while try packed.step() {
            let (first, end, size) = (packed.int(0), packed.int(1), packed.int(3))
            for header in try PackedChanges(times: [], graph: packed.blob(2)).headers(firstEvent: first) where end > first {
                bytes[header.dot.replica, default: 0] += size * header.length / (end - first)
            }
        }
        return bytes
    }
}
