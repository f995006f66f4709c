import KithSQLite
import KithSync

/// The version of the layout of what Kith keeps in a database.
package enum StoreFormat {
    /// A store of another one is refused. Each layout has a higher number than those before it; the first was 1.
    package static let current: Int64 = 8

    /// Refuses a store, which must have been opened once, of a format that this version does not know.
    ///
    /// - Throws: ``StoreError`` with code `notAStore`, or `corrupt` for what no version of Kith writes.
    package static func check(_ connection: DatabaseConnection) throws {
        guard let value = try VectorRecords(connection: connection).meta("format"), value != .integer(current) else { return }
        guard case .integer(let version) = value, version > 0 else {
            throw StoreError(
                .corrupt,
                "This store does not say in which format it is; there stands what no version of Kith writes. Look for a backup of it.")
        }
        let formats = "(format \(version); this one understands only format \(current))"
        if version > current {
            throw StoreError(.notAStore, "This store was written by a newer version of Kith \(formats). Update this program.")
        }
        throw StoreError(
            .notAStore,
            """
            This store was written by an older version of Kith \(formats), and stays as it is. Open it with that version to export what it \
            holds, or make a new store, which the other devices fill.
            """)
    }
}
