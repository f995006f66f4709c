import Foundation
import KithCapture
import KithCausality
import KithLedger
import KithLock
import KithMerge
import KithSQLite
import KithTexts

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How a store is gone that was in a file, as the files beside it know.
public enum StoreLoss: String, Codable, Hashable, Sendable {
    /// There is no file any more.
    case missing
    /// The file is empty.
    case emptied
    /// The file is a database, in which nothing is left of the store.
    case erased
}

extension SyncedDatabase {
    /// Whether a store that held something is gone: its file is missing or empty, and the files beside it know of it.
    ///
    /// Ask before the database is opened, for SQLite makes a new file where there is none, and discards the write-ahead log of an empty
    /// one. That a database was replaced by another one without the store is found when the store is opened.
    public static func loss(at path: String) -> StoreLoss? {
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG || status.st_size > 0 { return nil }
        guard Sentinel.knowsContent(ofDatabaseAt: path) else { return nil }
        return exists ? .emptied : .missing
    }

    /// Puts what is left of a lost or damaged store out of the way, so that a backup or a new store can take its place: the database and
    /// its write-ahead log get `ending` behind their names. Attachments and the files that know of the store stay.
    ///
    /// - Returns: the names that were given.
    /// - Throws: ``StoreError`` with code `busy` if a process still has the store open; `readOnly`, `failed`.
    public static func setAside(at path: String, ending: String) throws(StoreError) -> [String] {
        try StoreError.typed {
            let path = DatabaseFile.path(of: path)
            let lock = try StoreError.locking { () throws(FileLock.Failure) in
                let lock = try FileLock(path: path + "-kith-lock")
                return try lock.tryToTake(.exclusive) ? lock : nil
            }
            guard let lock else {
                throw StoreError(.busy, "A process still has the store in \(path) open. Stop it first, and try again.")
            }
            defer { lock.release() }
            var names: [String] = []
            // The log first: without its database it is never mistaken for that of another one.
            for suffix in ["-wal", "-shm", ""] {
                let name = path + ending + suffix
                if rename(path + suffix, name) == 0 {
                    names.append(name)
                } else if errno != ENOENT {
                    throw FileFailure.error("renamed", path + suffix)
                }
            }
            return names
        }
    }
}

extension StoreError {
    /// That there was a store in the file at `path`.
    static func lost(_ loss: StoreLoss, at path: String) -> StoreError {
        let what =
            switch loss {
            case .missing: "is missing"
            case .emptied: "is empty"
            case .erased: "holds nothing of the store any more"
            }
        return StoreError(
            .lost,
            """
            \(path) \(what), though a store with content was there. Nothing was put in its place. Put a backup there, or open it with \
            Options.refillsLostStore and let the other devices refill it.
            """)
    }
}

extension Sentinel {
    /// Whether the files beside a database tell of content, its own commits or those of others.
    static func knowsContent(ofDatabaseAt path: String) -> Bool {
        let path = DatabaseFile.path(of: path)
        guard let sentinel = Sentinel(path: path + "-kith") else { return false }
        if sentinel.isFilled == true || sentinel.sequence > 0 { return true }
        let mark = SmallFile.read(path + "-kith-lock") ?? []
        return CommitMark.sequence(in: mark, replica: sentinel.replica, opening: sentinel.opening).map { $0 > 0 } ?? false
    }
}
