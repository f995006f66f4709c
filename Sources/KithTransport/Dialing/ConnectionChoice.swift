import KithTrust

/// Which of two connections between the same two devices stays, so that both devices keep the same one without a word.
public enum ConnectionChoice: Hashable, Sendable {
    case keepOld
    case keepNew

    /// - Of two devices that dialled each other, the connection dialled by the smaller id stays.
    /// - Of two connections dialled by the same device, the newer stays: who dials again has lost the older one.
    ///   A device must therefore not dial a peer twice at once.
    public init(own: DeviceID, peer: DeviceID, oldIsInitiator: Bool, newIsInitiator: Bool) {
        if oldIsInitiator == newIsInitiator {
            self = .keepNew
        } else {
            self = newIsInitiator == (own < peer) ? .keepNew : .keepOld
        }
    }
}
