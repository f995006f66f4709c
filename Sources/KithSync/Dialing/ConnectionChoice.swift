/// Which of two connections between the same two devices stays, so that both devices keep the same one without a word.
package enum ConnectionChoice: Hashable, Sendable {
    case keepOld
    case keepNew

    /// - Of two devices that dialled each other, the connection dialled by the smaller id stays.
    /// - Of two connections dialled by the same device, the newer stays: who dials again has lost the older one.
    ///   Where a device has dialled a peer at two places at once, each side may keep another one. Then both end, and it dials again.
    package init<Device: Comparable>(own: Device, peer: Device, oldIsInitiator: Bool, newIsInitiator: Bool) {
        if oldIsInitiator == newIsInitiator {
            self = .keepNew
        } else {
            self = newIsInitiator == (own < peer) ? .keepNew : .keepOld
        }
    }

    /// The same, if the older connection came about so long ago. A device that dials much later has lost it, of which this side has not
    /// heard: its address may have changed.
    package init<Device: Comparable>(
        own: Device, peer: Device, oldIsInitiator: Bool, newIsInitiator: Bool, oldAgeMilliseconds: Int64
    ) {
        if !newIsInitiator, oldAgeMilliseconds > Self.simultaneousMilliseconds {
            self = .keepNew
        } else {
            self.init(own: own, peer: peer, oldIsInitiator: oldIsInitiator, newIsInitiator: newIsInitiator)
        }
    }

    /// Connections that come about within this time may have been dialled at the same time: as long as dialling takes at most, twice.
    package static let simultaneousMilliseconds: Int64 = 10_000
}
