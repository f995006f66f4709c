extension TrustStore {
    /// Gives this device a new key, and with it a new id. The other members follow by themselves, and trust the old key no more
    /// from the moment that they hear of it.
    ///
    /// - Throws: `.noHousehold` if this device is no member, since nobody would follow; and what reading or writing the files throws.
    /// - Returns: the new id.
    public func renewKey() throws(TrustError) -> DeviceID {
        try edit { (state) throws(TrustError) in
            guard state.standing == .member else { throw .cannotRenew }
            if state.household?.isImported == true { throw .notHeardYet }
            let (old, new) = (try key(of: state.ownID), DeviceKey())
            try new.prepareRenewal(in: folder)
            try state.household?.say(.replace(by: new.id), by: old)
            // The old key may be in wrong hands, and the secret with it.
            state.household?.renewSecret()
            state.ownID = new.id
        }
        return try DeviceKey.load(from: folder).id
    }
}

extension TrustError {
    fileprivate static let cannotRenew = TrustError(
        .noHousehold,
        "This device is not a member of a household, so nobody would follow it to another key. Pair it first.")
}
