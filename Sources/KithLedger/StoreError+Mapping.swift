import GRDB
import GRDBSQLite
import KithSQLite
import KithSync

extension StoreError {
    /// Runs `body` and turns what SQLite, GRDB and the codec throw into one kind of error.
    package static func mapping<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch let error as SQLiteError {
            throw StoreError(sqlite: error.code, error.brief, details: error.description, error)
        } catch let error as DatabaseError {
            let code = error.extendedResultCode.rawValue
            throw StoreError(sqlite: code, SQLiteError.brief(code, error.message), details: error.description, error)
        } catch let error as TransactionRefused where error.row == nil {
            throw StoreError(refused: error)
        } catch let error as WireError {
            throw StoreError(.corrupt, "A record of this store cannot be read: \(error).", underlying: error)
        }
    }

    /// Runs `body` and turns every error into a ``StoreError``; one of unknown type gets the code `failed`.
    package static func typed<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do {
            return try mapping(body)
        } catch let error as StoreError {
            throw error
        } catch let error as TransactionRefused {
            throw StoreError(refused: error)
        } catch {
            throw StoreError(.failed, "\(error)", underlying: error)
        }
    }

    /// Runs `body`, which writes what a caller wants; that a rule of the app's table is against it is no failure of the store.
    package static func rejectingValue<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError where error.isConstraint {
            throw StoreError(
                .valueRejected, "A rule of the table does not allow this; nothing was changed. (\(error.brief))",
                details: error.description, sqliteCode: error.code, underlying: error)
        }
    }

    private init(sqlite code: Int32, _ detail: String, details: String, _ error: any Error) {
        let (kind, message) = Self.words(code, detail)
        self.init(kind, message, details: details, sqliteCode: code, underlying: error)
    }

    private init(refused error: TransactionRefused) {
        self.init(
            .valueRejected, "A rule of the table does not allow this; nothing was changed. (\(error.message))", underlying: error)
    }

    private static func words(_ code: Int32, _ detail: String) -> (Code, String) {
        // The index of the write-ahead log finds no room.
        switch code == ResultCode.SQLITE_IOERR_SHMSIZE.rawValue ? SQLITE_FULL : code & 0xff {
        case SQLITE_FULL:
            (.diskFull, "The disk is full; nothing was changed. Free some space and try again. (\(detail))")
        case SQLITE_CANTOPEN:
            (
                .readOnly,
                "The store's file, or one beside it, cannot be opened: check the room on the disk, and the permissions of file and folder. (\(detail))"
            )
        case SQLITE_READONLY, SQLITE_PERM:
            (.readOnly, "The store cannot be written: check the permissions of its file and folder. (\(detail))")
        case SQLITE_BUSY, SQLITE_LOCKED:
            (.busy, "Another process keeps the store busy; nothing was changed. Try again. (\(detail))")
        case SQLITE_TOOBIG:
            (
                .valueRejected,
                "A row of a tracked table holds at most \(TrackedTable.rowBytesMax >> 20) MiB; nothing was changed. Keep large content in files. (\(detail))"
            )
        case SQLITE_NOTADB:
            (.notAStore, "The file is not an SQLite database. (\(detail))")
        case let code where code == SQLITE_CORRUPT || code == SQLITE_ERROR && detail.contains(SQLiteError.unknownFormat):
            (.corrupt, "The database file is damaged. Keep a copy, and restore it or let peers refill a new one. (\(detail))")
        default:
            (.failed, detail)
        }
    }
}
