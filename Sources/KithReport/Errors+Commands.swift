import Kith

/// What to do about errors with the commands of `kith`, behind what they say of themselves.
extension TrustError {
    /// What happened and what to run.
    package var inCommands: String {
        let commands: String? =
            switch code {
            case .notHeardYet: "Let `kith up` run here and on another member, or run `kith household leave`, and then `kith pair`."
            case .notAMember: "Run `kith pair` here and on a member, or `kith household leave`."
            case .noHousehold: "Run `kith pair` here and on another machine."
            case .copiedKey: "Run `kith device renew`."
            default: nil
            }
        return [message, commands].compactMap(\.self).joined(separator: " ")
    }
}

extension PairingFailure {
    /// What happened and what to run.
    package var inCommands: String {
        code == .otherHousehold ? description + " Run `kith pair --join` on that device, and `kith pair` on the other one." : description
    }
}
