import KithLab
import KithNotes
import KithProgram

extension CommandFailure {
    /// What an error of the lab means for a command; `nil` for those of the argument parser.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as LabError: self.init(Self.status(of: error.code), error.message)
        case let error as NotesError: self.init(.software, error.message, details: error.details)
        default: return nil
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
