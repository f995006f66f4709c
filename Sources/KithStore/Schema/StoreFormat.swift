import KithSync

/// The version of the layout of what Kith keeps in a database.
enum StoreFormat {
    /// A store of a higher one is refused.
    static let current: Int64 = 2

    /// The format of the store, which must have been opened once.
    ///
    /// - Throws: ``StoreError`` with code `notAStore` if it is one that this version does not know.
    @discardableResult
    static func check(_ connection: Connection) throws -> Int64 {
        guard case .integer(let version)? = try VectorRecords(connection: connection).meta("format") else { return current }
        guard version <= current else {
            throw StoreError(
                .notAStore,
                "This store was written by a newer version of Kith (format \(version); this one understands \(current)). Update this program."
            )
        }
        return version
    }
}
