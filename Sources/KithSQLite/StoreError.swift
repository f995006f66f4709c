/// Why a store could not do what it was asked. Nothing was changed.
public struct StoreError: Error, Hashable, Sendable {
    /// What kind of failure it is; stable, for programs.
    public enum Code: String, Hashable, Sendable {
        /// A table cannot be tracked as it is declared.
        case tableRejected
        /// The file is not a database, or not one of Kith's, or in the format of another version of Kith.
        case notAStore
        /// A named table, column or row does not exist.
        case notFound
        /// What came after a token of the history may be forgotten: see ``SyncedDatabase/history(after:tables:excluding:limit:)``.
        case tokenExpired
        /// A value does not fit its column.
        case valueRejected
        /// The store that was in this file is gone: see ``SyncedDatabase/loss(at:)`` and ``SyncedDatabase/Options/refillsLostStore``.
        case lost
        /// The disk is full.
        case diskFull
        /// The store can be read but not written.
        case readOnly
        /// Another process kept the store locked for too long.
        case busy
        /// The store's records contradict each other.
        case corrupt
        /// What a peer sent does not hold together.
        case sliceRejected
        /// Anything else that SQLite or the system refused.
        case failed
    }

    /// Stable, for programs.
    public let code: Code
    /// What happened, what it means, and what to do: a line or two.
    public let message: String
    /// What only who looks for the cause wants to know, such as the statement that SQLite was asked; of any length.
    public let details: String?
    /// SQLite's extended result code, if SQLite refused something (sqlite.org/rescode.html).
    public let sqliteCode: Int32?
    /// What was thrown first, such as GRDB's error, if that was another one. Equality does not look at it.
    public let underlyingError: (any Error)?

    public init(
        _ code: Code, _ message: String, details: String? = nil, sqliteCode: Int32? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.sqliteCode = sqliteCode
        underlyingError = underlying
    }

    public static func == (left: StoreError, right: StoreError) -> Bool {
        left.code == right.code && left.message == right.message && left.details == right.details
            && left.sqliteCode == right.sqliteCode
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String { message }
}
