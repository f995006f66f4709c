import Foundation
import Kith
import KithFiles
import KithLab
import KithNotes

/// Why a command failed: one line for people, one number for programs.
struct CommandFailure: Error {
    /// The exit status, as in sysexits.h; documented in docs/cli.md.
    enum Status: Int32 {
        case usage = 64
        case data = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case temporary = 75
    }

    let status: Status
    /// What happened, what it means, and what to do.
    let message: String
    /// What `--verbose` shows besides.
    let details: String?

    init(_ status: Status, _ message: String, details: String? = nil) {
        self.status = status
        self.message = message
        self.details = details
    }

    /// Says what happened on standard error, in one line unless `isVerbose`, and ends the process.
    func exit(isVerbose: Bool) -> Never {
        try? Console.error.write("kith: \(PlainText.line(message))\n")
        if isVerbose, let details {
            for line in details.split(whereSeparator: \.isNewline) { try? Console.error.writeLine("      " + PlainText.line(String(line))) }
        }
        Foundation.exit(status.rawValue)
    }
}

extension CommandFailure {
    /// What an error of the parts below means for a command; `nil` for those of the argument parser.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as NotesError: self.init(Self.status(of: error.code), error.message, details: error.details)
        case let error as FilesError: self.init(Self.status(of: error.code), error.message)
        case let error as TrustError: self.init(Self.status(of: error.code), error.message)
        case let error as DeviceIDError: self.init(.data, error.description)
        case let error as NodeError: self.init(error.code == .portUnavailable ? .unavailable : .software, error.message)
        case let error as StoreError: self.init(error.code == .busy ? .temporary : .inputOutput, error.message, details: error.details)
        case let error as LabError: self.init(Self.status(of: error.code), error.message)
        default: return nil
        }
    }

    private static func status(of code: NotesError.Code) -> Status {
        switch code {
        case .notFound: .noInput
        case .ambiguous, .valueRejected, .notAStore, .lost, .corrupt: .data
        case .changedMeanwhile, .busy: .temporary
        case .cannotCreate, .readOnly: .cannotCreate
        case .diskFull, .failed: .inputOutput
        }
    }

    private static func status(of code: FilesError.Code) -> Status {
        switch code {
        case .notFound: .noInput
        case .data, .wrongPassphrase: .data
        case .cannotCreate: .cannotCreate
        case .inputOutput: .inputOutput
        case .needsConsent: .temporary
        }
    }

    private static func status(of code: TrustError.Code) -> Status {
        switch code {
        case .missingKey, .unknownDevice: .noInput
        case .busy: .temporary
        case .identityExists: .cannotCreate
        case .fileSystem: .inputOutput
        default: .data
        }
    }

    private static func status(of code: LabError.Code) -> Status {
        switch code {
        case .usage: .usage
        case .data: .data
        case .noInput: .noInput
        case .unavailable: .unavailable
        case .cannotCreate: .cannotCreate
        case .interrupted: .temporary
        case .software: .software
        }
    }
}
