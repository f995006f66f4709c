import Foundation
import Kith
import KithFiles
import KithNotes
import KithReport
import KithWeb

extension CommandFailure {
    /// What an error of the parts below means for a command; `nil` for those of the argument parser.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as NotesError: self.init(Self.status(of: error.code), error.message, details: error.details)
        case let error as FilesError: self.init(Self.status(of: error.code), error.message)
        case let error as CarryError: self.init(Self.status(of: error.code), error.message)
        case let error as TrustError: self.init(Self.status(of: error.code), error.inCommands)
        case let error as DeviceIDError: self.init(.data, error.description)
        case let error as NodeError: self.init(error.code == .portUnavailable ? .unavailable : .software, error.message)
        case PageError.isServedElsewhere: self.init(.temporary, "Another process has just begun to serve the page. Run this again.")
        case PageError.portIsTaken(let port): self.init(.unavailable, "Another program listens on port \(port). Give another with --port.")
        case PageError.noNetwork:
            self.init(
                .unavailable,
                """
                This machine has no IPv4 address in a network that others could reach, and the page is served over IPv4 alone. Plug in the \
                cable or join the Wi-Fi, and run this again.
                """
            )
        case let error as SnapshotError: self.init(Self.status(of: error.code), error.message)
        case let error as StoreError: self.init(NotesError(error))
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

    private static func status(of code: SnapshotError.Code) -> Status {
        switch code {
        case .readOnly, .notASnapshot: .cannotCreate
        case .tooLong, .notEncodable: .data
        case .diskFull, .queryFailed, .failed: .inputOutput
        }
    }

    private static func status(of code: CarryError.Code) -> Status {
        switch code {
        case .notFound: .noInput
        case .notCarried, .notForUs, .damaged, .notAMember, .rejected, .cannotSend: .data
        case .cannotCreate: .cannotCreate
        case .diskFull, .inputOutput: .inputOutput
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
}
