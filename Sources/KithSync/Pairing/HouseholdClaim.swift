/// What a device that pairs says of its household. From the two claims both sides draw the same conclusion.
package struct HouseholdClaim: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        /// It has none; this one would be made.
        case new = 0
        /// It is in this one, and gives it up if the other device has one.
        case yielding = 1
        /// It is in this one and stays.
        case staying = 2
    }

    package let kind: Kind
    /// The household; ``PairingLimits/hashBytes`` bytes.
    package let household: [UInt8]

    package init(_ kind: Kind, _ household: [UInt8]) {
        precondition(household.count == PairingLimits.hashBytes, "a household id has 32 bytes")
        self.kind = kind
        self.household = household
    }

    /// In whose household both are from now on.
    ///
    /// Who stays is joined; who has one is joined by who has none; between equals it is the acceptor's.
    /// - Throws: `otherHousehold` if both are to stay in different ones.
    static func choose(own: HouseholdClaim, peer: HouseholdClaim, role: PairingRole) throws(PairingFailure) -> HouseholdChoice {
        if own.household == peer.household { return .own }
        if own.kind == .staying, peer.kind == .staying { throw PairingFailure(.otherHousehold) }
        let isOwn = own.kind == peer.kind ? role == .acceptor : own.kind.rawValue > peer.kind.rawValue
        return isOwn ? .own : .peer(peer.household)
    }
}

/// In whose household two devices are once they are paired.
package enum HouseholdChoice: Hashable, Sendable {
    /// In this device's, which makes the other one a member.
    case own
    /// In the other device's, with this id, which this one joins.
    case peer([UInt8])
}
