import KithCausality
import KithSQLite
import KithSync

/// What rows of broken-off catch-ups know. A member that lies can give each row a vector of its own, so no slice and no commit looks at all.
extension VectorRecords {
    /// What they know, all together, and perhaps what the store's vector covers.
    package func ahead(_ catalog: Catalog) throws -> VersionVector {
        if try ContextRecords(connection).isEmpty() { return VersionVector() }
        var (last, vector) = try notedAhead(catalog)
        for context in try contexts(catalog, after: last) { vector.join(context.vector) }
        return vector
    }

    /// What ``noteAhead(_:_:)`` has noted, and the last context in it.
    package func notedAhead(_ catalog: Catalog) throws -> (last: Int64, vector: VersionVector) {
        guard case .integer(let last)? = try meta(Self.aheadLast), case .blob(let bytes)? = try meta(Self.ahead) else {
            return (0, VersionVector())
        }
        var reader = ByteReader(bytes)
        return (last, try reader.vector(catalog.replicas))
    }

    /// Keeps ``ahead(_:)``, so that it is not put together anew.
    package func noteAhead(_ vector: VersionVector, _ ledger: RowLedger) throws {
        var writer = ByteWriter()
        try ledger.numberingReplicas { writer.vector(vector, &$0) }
        try setMeta(Self.ahead, .blob(writer.bytes))
        try setMeta(Self.aheadLast, .integer(try ContextRecords(connection).lastNumber()))
    }

    /// Forgets the vectors that the store's own now covers; the rows that refer to them need them no more.
    ///
    /// Of many, some stay until all are covered, or until there are twice as many.
    package func dropCoveredContexts(_ ledger: RowLedger) throws {
        let records = ContextRecords(connection)
        if try records.isEmpty() { return }
        let last = try records.lastNumber()
        let vector = try vector(ledger.catalog)
        if case .integer(let due)? = try meta(Self.due), last < due, try !vector.covers(ahead(ledger.catalog)) { return }
        let contexts = try contexts(ledger.catalog)
        let covered = contexts.filter { vector.covers($0.vector) }.map(\.number)
        let left = contexts.count - covered.count
        if left > Self.fewMax { try setMeta(Self.due, .integer(last + Int64(left))) } else { try removeMeta(Self.due) }
        if covered.isEmpty { return }
        try records.remove(covered)
        try HiddenRows(connection).removeWithoutContext()
        if left == 0 { for name in [Self.ahead, Self.aheadLast] { try removeMeta(name) } }
    }

    /// The vectors that rows of broken-off catch-ups refer to.
    private func contexts(_ catalog: Catalog, after last: Int64 = 0) throws -> [(number: Int64, vector: VersionVector)] {
        try ContextRecords(connection).all(after: last).compactMap { number, bytes in
            var reader = ByteReader(bytes)
            return (try? reader.vector(catalog.replicas)).map { (number, $0) }
        }
    }

    /// So many contexts are looked at by each commit that arrives. Each delta that breaks off leaves one, here or where its rows came from.
    private static let fewMax = 32

    private static let ahead = "ahead"
    private static let aheadLast = "ahead:last"
    /// The number of the context with which all are looked at again.
    private static let due = "contexts:due"
}
