/// How the people, or the scripts, make sure that the right two devices meet.
package enum PairingMethod: Hashable, Sendable {
    /// Two people compare six digits.
    case numbers
    /// One device is told the secret that the other one made, ``PairingLimits/tokenBytes`` random bytes.
    case token([UInt8])

    var code: UInt8 {
        switch self {
        case .numbers: 1
        case .token: 2
        }
    }
}

/// Which end of the connection a device is; taken from the connection, never from a message.
package enum PairingRole: UInt8, Hashable, Sendable {
    /// It accepted the connection.
    case acceptor = 0x41
    /// It dialled, and speaks first.
    case initiator = 0x42

    var other: PairingRole { self == .acceptor ? .initiator : .acceptor }
}
