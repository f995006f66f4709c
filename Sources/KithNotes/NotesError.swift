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

    /// Stable, for programs.
    public let code: Code
    /// What happened, what it means, and what to do: a line or two.
    public let message: String
    /// What only who looks for the cause wants to know, such as the statement that SQLite was asked; of any length.
    public let details: String?

    public init(_ code: Code, _ message: String, details: String? = nil) {
        self.code = code
        self.message = message
        self.details = details
    }
}

extension NotesError: CustomStringConvertible {
    public var description: String { message }
}

extension NotesError {
    /// Whether the notes could perhaps be read all the same: a file or a folder could not be written, or made, or the disk failed.
    var isAboutWriting: Bool {
        switch code {
        case .readOnly, .diskFull, .cannotCreate, .failed: true
        default: false
        }
    }

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

    /// What cannot be read as a database, where notes are known to have been, is damaged, and not another program's.
    func ofNotes(in file: URL) -> NotesError {
        guard code == .notAStore, message == Self.noDatabase, SyncedDatabase.wasStore(at: file) else { return self }
        return NotesError(.corrupt, "The notes' file is damaged (its beginning is no database). \(Self.recovery)", details: details)
    }

    private static let noDatabase = "The file is not an SQLite database and was left as it is. Choose another file for the notes."
    private static let recovery = "Look for a backup, or let the other machines refill it: kith recover"

    package init(_ error: StoreError) {
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
        if error.code == .corrupt {
            // In parentheses is what SQLite says; without that, the first sentence says it.
            let what = error.message.split(separator: "(").dropFirst().last?.prefix { $0 != ")" } ?? error.message.prefix { $0 != "." }
            let details = [error.message, error.details].compactMap(\.self).joined(separator: "\n")
            self.init(code, "The notes' file is damaged (\(what)). \(Self.recovery)", details: details)
            return
        }
        self.init(code, error.message, details: error.details)
    }

    private init(_ error: DatabaseError) {
        let words = error.message?.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) }
        let detail = words ?? "SQLite error \(error.extendedResultCode.rawValue)"
        let details = error.description
        // The index of the write-ahead log finds no room.
        switch error.extendedResultCode == .SQLITE_IOERR_SHMSIZE ? .SQLITE_FULL : error.resultCode {
        case .SQLITE_NOTADB:
            self.init(.notAStore, Self.noDatabase, details: details)
        case let code where code == .SQLITE_CORRUPT || code == .SQLITE_ERROR && error.message == "unsupported file format":
            self.init(.corrupt, "The notes' file is damaged (\(detail)). \(Self.recovery)", details: details)
        case .SQLITE_CANTOPEN:
            self.init(
                .readOnly,
                "The notes' file, or one beside it, cannot be opened. Check the room on the disk, and the permissions of the file and its folder.",
                details: details)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(
                .readOnly, "The notes' file cannot be written (\(detail)). Check the permissions of the file and its folder.",
                details: details)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, "Another process keeps the notes locked. Nothing was changed; try again.", details: details)
        case .SQLITE_FULL:
            self.init(.diskFull, "The disk is full. Nothing was changed; free some space and try again.", details: details)
        default:
            self.init(.failed, "SQLite refused: \(detail). Nothing was changed.", details: details)
        }
    }
}
