import Foundation
import GRDB

/// Why an app cannot be opened, closed or brought together with another one. Nothing was changed.
public struct SyncedAppError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; stable, for programs.
    public enum Code: String, Hashable, Sendable {
        /// A folder cannot be made or used, or the key would be in that of the database.
        case unusableFolder
        /// The key of this device or the list of those it trusts cannot be read or made; see the underlying ``TrustError``.
        case identity
        /// A migration of the app failed; see the underlying error.
        case migration
        /// A table cannot be tracked as it is declared.
        case tableRejected
        /// The file is not a database, or was written by a newer version.
        case notAStore
        /// There was a store in the file, which is gone.
        case lost
        /// The store's records contradict each other, or the file is damaged.
        case corrupt
        /// Another process kept the database locked for too long.
        case busy
        /// The disk is full.
        case diskFull
        /// Nothing can be written.
        case readOnly
        /// Two apps cannot be brought together: they are different ones, or of two households.
        case cannotMeet
        /// Two apps did not come to hold the same in time.
        case notInTime
        /// Anything else that SQLite or the system refused.
        case failed
    }

    /// Stable, for programs.
    public let code: Code
    /// What happened, what it means, and what to do.
    public let message: String
    /// What was thrown below: a ``StoreError``, a ``TrustError``, an error of GRDB or of a migration.
    public let underlyingError: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        underlyingError = underlying
    }

    /// What would open the store all the same, best first: see ``SyncedApp/Options/recovery``.
    public var recoveries: [SyncedApp.Recovery] {
        switch code {
        case .lost, .corrupt: [.refill]
        case .diskFull, .readOnly: [.readOnlyCopy]
        default: []
        }
    }

    public var description: String { message }
}

extension SyncedAppError {
    init(_ error: any Error) {
        switch error {
        case let error as SyncedAppError: self = error
        case let error as StoreError: self.init(Code(error.code), error.message, underlying: error)
        case let error as TrustError: self.init(.identity, error.message, underlying: error)
        case let error as DatabaseError: self.init(Code(error), "SQLite refuses the database: \(error).", underlying: error)
        default: self.init(.failed, "\(error)", underlying: error)
        }
    }

    /// What is no database any more was one, if files of the store lie beside it; a file that never was a store is not to be put aside.
    func forStore(at file: URL) -> SyncedAppError {
        let code = (underlyingError as? StoreError)?.sqliteCode ?? (underlyingError as? DatabaseError)?.extendedResultCode.rawValue
        guard code == ResultCode.SQLITE_NOTADB.rawValue, SyncedDatabase.wasStore(at: file) else { return self }
        return SyncedAppError(
            .corrupt, "The database \(file.path) is damaged: it is none any more. Put a backup there, or let the other devices refill it.",
            underlying: underlyingError)
    }

    static func migration(_ error: any Error) -> SyncedAppError {
        if let error = error as? DatabaseError, Code(error) != .failed { return SyncedAppError(error) }
        return SyncedAppError(
            .migration, "A migration of the app failed, and nothing was changed: \(error)", underlying: error)
    }
}

extension SyncedAppError.Code {
    fileprivate init(_ code: StoreError.Code) {
        self =
            switch code {
            case .tableRejected: .tableRejected
            case .notAStore: .notAStore
            case .lost: .lost
            case .diskFull: .diskFull
            case .readOnly: .readOnly
            case .busy: .busy
            case .corrupt: .corrupt
            case .valueRejected: .migration
            case .notFound, .tokenExpired, .sliceRejected, .failed: .failed
            }
    }

    fileprivate init(_ error: DatabaseError) {
        self =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT: .corrupt
            case .SQLITE_NOTADB: .notAStore
            case .SQLITE_ERROR where error.message == "unsupported file format": .corrupt
            default: .failed
            }
    }
}
