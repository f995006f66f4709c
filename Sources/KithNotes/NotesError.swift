import Foundation
import GRDB
import Kith

/// Why something could not be done with notes. Nothing was changed.
public struct NotesError: Error, Hashable, Sendable {
    /// What kind of failure it is; stable, for programs.
    public enum Code: String, Hashable, Sendable {
        /// No note is meant by this id or title.
        case notFound
        /// Several notes could be meant.
        case ambiguous
        /// What was to be written is not a note.
        case valueRejected
        /// The note is no longer as it was when the editing began.
        case changedMeanwhile
        /// The file is not a store of notes, or one of a newer version.
        case notAStore
        /// The notes that were in this file are gone: see ``NotesStore/loss(in:)`` and ``NotesStore/Options/refillsLostStore``.
        case lost
        /// The file or its folder cannot be made.
        case cannotCreate
        /// The store can be read but not written.
        case readOnly
        /// The disk is full.
        case diskFull
        /// Another process kept the store locked for too long.
        case busy
        /// The file is damaged.
        case corrupt
        /// Anything else that SQLite or the system refused.
        case failed
    }

    public let code: Code
    /// What happened, what it means, and what to do.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension NotesError: CustomStringConvertible {
    public var description: String { message }
}

extension NotesError {
    /// Runs `body` and turns what the store, GRDB and SQLite throw into this error.
    static func mapping<Result>(_ body: () throws -> Result) throws(NotesError) -> Result {
        do {
            return try body()
        } catch let error as NotesError {
            throw error
        } catch let error as StoreError {
            throw NotesError(error)
        } catch let error as DatabaseError {
            throw NotesError(error)
        } catch {
            throw NotesError(.failed, "\(error)")
        }
    }

    /// Nothing is made in the place of notes that are gone.
    init(lost loss: StoreLoss, _ file: URL) {
        let what = loss == .missing ? "is missing" : "is empty"
        self.init(
            .lost, "The notes are gone: \(file.path) \(what), though there were notes. Nothing was put in its place. \(Self.recovery)")
    }

    private static let recovery = "Look for a backup, or let the other machines refill it: kith recover"

    private init(_ error: StoreError) {
        if error.code == .lost {
            self.init(.lost, "The notes are gone: their file holds nothing of them any more. \(Self.recovery)")
            return
        }
        let code: Code =
            switch error.code {
            case .notAStore, .tableRejected: .notAStore
            case .lost: .lost
            case .notFound: .notFound
            case .valueRejected: .valueRejected
            case .diskFull: .diskFull
            case .readOnly: .readOnly
            case .busy: .busy
            case .corrupt: .corrupt
            default: .failed
            }
        self.init(code, error.message)
    }

    private init(_ error: DatabaseError) {
        let detail = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_NOTADB:
            self.init(.notAStore, "The file is not an SQLite database and was left as it is. Choose another file for the notes.")
        case .SQLITE_CORRUPT:
            self.init(.corrupt, "The notes' file is damaged (\(detail)). \(Self.recovery)")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN, .SQLITE_AUTH:
            self.init(.readOnly, "The notes' file cannot be written (\(detail)). Check the permissions of the file and its folder.")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, "Another process keeps the notes locked. Nothing was changed; try again.")
        case .SQLITE_FULL:
            self.init(.diskFull, "The disk is full. Nothing was changed; free some space and try again.")
        default:
            self.init(.failed, "SQLite refused: \(detail). Nothing was changed.")
        }
    }
}
