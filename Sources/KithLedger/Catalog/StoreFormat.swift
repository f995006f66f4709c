import KithSQLite
import KithSync

/// The version of the layout of what Kith keeps in a database.
package enum StoreFormat {
    /// A store of another one is refused. None before it was ever released, so that none is taken over.
    package static let current: Int64 = 7

    /// Refuses a store, which must have been opened once, of a format that this version does not know.
    ///
    /// - Throws: ``StoreError`` with code `notAStore`.
    package static func check(_ connection: DatabaseConnection) throws {
        guard case .integer(let version)? = try VectorRecords(connection: connection).meta("format"), version != current else { return }
        if version > current {
            throw StoreError(
                .notAStore,
                "This store was written by a newer version of Kith (format \(version); this one understands \(current)). Update this program."
            )
        }
        throw StoreError(
            .notAStore,
            "This store was written by a version of Kith from before its first release (format \(version); this one understands \(current)). Open it with that version, or fill a new one from the other devices."
        )
    }
}
