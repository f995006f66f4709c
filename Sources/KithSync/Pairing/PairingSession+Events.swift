extension PairingSession {
    /// What can happen.
    package enum Input: Hashable, Sendable {
        /// The connection is up.
        case connected
        /// A frame came.
        case received([UInt8])
        /// The person at this side has compared ``PairingSession/code``. Without effect while there is none.
        case answered(isSame: Bool)
        /// The other device is on the list now.
        case trusted
        /// It could not be put there.
        case trustFailed
        /// The connection is gone.
        case disconnected
        /// This side stops, for this reason.
        case stop(PairingFailure.Code)
        /// Time has passed.
        case tick
    }

    /// What is to be done.
    package enum Effect: Hashable, Sendable {
        case send([UInt8])
        /// Show the digits and ask; answered by ``Input/answered(isSame:)``.
        case show(PairingCode)
        /// Make the other device a member of this household, or join its; answered by ``Input/trusted`` or ``Input/trustFailed``.
        ///
        /// The name is what the other device calls itself: up to ``PairingLimits/nameBytesMax`` bytes of anything. `port` is where
        /// it says that its node listens; 0 if it does not say.
        case trust(name: [UInt8], port: UInt16, HouseholdChoice)
        /// Close the connection in order. Nothing comes after it.
        case end(PairingEnd)
    }
}

/// How a pairing ended.
package enum PairingEnd: Hashable, Sendable {
    /// Each device trusts the other one.
    case paired
    /// This device trusts the other one, which did not say that it does likewise. Harmless, and mended by pairing again.
    case trustedAlone(PairingFailure)
    /// Nothing was trusted here.
    case failed(PairingFailure)
}
