import Foundation
import GRDB
import Kith
import KithNotes

/// Why files could not be read or written. Nothing was left half done.
package struct FilesError: Error, Hashable, Sendable {
    /// What kind of failure it is; stable, for programs.
    package enum Code: String, Hashable, Sendable {
        /// There is no such file or folder.
        case notFound
        /// The content is not what it should be: damaged, of another format, or past a limit.
        case data
        /// Something is there already, or the place cannot be written.
        case cannotCreate
        /// The disk is full, or reading or writing failed.
        case inputOutput
        /// The passphrase does not open the file.
        case wrongPassphrase
        /// It asks a person first.
        case needsConsent
    }

    package let code: Code
    /// What happened, what it means, and what to do: a line or two.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension FilesError: CustomStringConvertible {
    package var description: String { message }
}

extension FilesError {
    static let diskFull = FilesError(.inputOutput, "The disk is full. Nothing was left half written; free some space and try again.")

    /// Runs `body` and turns what the system and SQLite throw into this error.
    static func mapping<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL || error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
            throw diskFull
        } catch let error as DatabaseError {
            throw FilesError(.inputOutput, "SQLite refused: \(error.message ?? "error \(error.extendedResultCode.rawValue)").")
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw diskFull
        } catch let error as CocoaError {
            let path = error.filePath ?? error.url?.path ?? "A file"
            throw FilesError(.inputOutput, "\(path) could not be read or written (\(error.localizedDescription)).")
        }
    }
}
