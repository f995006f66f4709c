import Foundation

extension TrustStore {
    /// Trusts `device`: in a household it becomes a member, otherwise it is put on the list. One that is trusted already keeps its
    /// date, takes over a name that is not empty, and gains the addresses it did not have, in front.
    /// - Throws: `.ownDevice`, `.limitReached`, `.notAMember`, and what reading or writing the files throws.
    /// - Returns: the device as it now stands.
    @discardableResult
    public func add(_ device: TrustedDevice) throws(TrustError) -> TrustedDevice {
        guard device.id != ownID else {
            throw TrustError(.ownDevice, "This is the id of this device. Add the id that the other device shows for itself.")
        }
        return try edit { (state) throws(TrustError) in
            let noted = try state.list.note(device)
            if state.standing == .removed || state.standing == .left { throw .notAMember }
            if state.standing == .member {
                let key = try key(of: state.ownID)
                try state.household?.admit(device, by: key)
            }
            state.settle()
            return state.trusted.first { $0.id == device.id } ?? noted
        }
    }

    /// Forgets the addresses that were given of `id`.
    /// - Throws: `.unknownDevice`, and what reading or writing the files throws.
    package func forgetAddresses(of id: DeviceID) throws(TrustError) {
        try edit { (state) throws(TrustError) in
            guard state.trusted.contains(where: { $0.id == id }) else { throw Self.unknown(id) }
            guard let known = state.list.device(id) else { return }
            try state.list.put(TrustedDevice(id: id, name: known.name, addresses: [], added: known.added))
        }
    }

    /// Ends the trust in `id`: in a household it is revoked everywhere, otherwise it is taken off the list.
    /// - Throws: `.unknownDevice`, `.notAMember`, and what reading or writing the files throws.
    public func remove(_ id: DeviceID) throws(TrustError) {
        try edit { (state) throws(TrustError) in
            guard state.trusted.contains(where: { $0.id == id }) else { throw Self.unknown(id) }
            _ = state.list.remove(id)
            guard state.standing == .member else { return }
            let key = try key(of: state.ownID)
            try state.household?.say(.revoke(id), by: key)
            state.household?.renewSecret()
        }
    }

    /// Gives `id` another name: in a household everywhere, otherwise on this device.
    /// - Throws: `.unknownDevice`, `.invalidName`, `.notAMember`, and what reading or writing the files throws.
    public func rename(_ id: DeviceID, to name: String) throws(TrustError) {
        try edit { (state) throws(TrustError) in
            let isOwn = id == ownID && state.standing == .member
            guard isOwn || state.trusted.contains(where: { $0.id == id }) else { throw Self.unknown(id) }
            if let known = state.list.device(id) {
                try state.list.put(TrustedDevice(id: id, name: name, addresses: known.addresses, added: known.added))
            }
            guard state.standing == .member else { return }
            let key = try key(of: state.ownID)
            try state.household?.say(.rename(id, name: name), by: key)
        }
    }
}

extension DeviceList {
    /// Adds what is known of `device` to what was known before.
    mutating func note(_ device: TrustedDevice) throws(TrustError) -> TrustedDevice {
        let known = self.device(device.id)
        let merged = try known.map { (known) throws(TrustError) in
            try TrustedDevice(
                id: known.id, name: device.name.isEmpty ? known.name : device.name,
                addresses: device.addresses + known.addresses.filter { !device.addresses.contains($0) }, added: known.added)
        }
        try put(merged ?? device)
        return merged ?? device
    }
}

extension Household {
    /// Makes `device` a member, unless it is one with this name.
    mutating func admit(_ device: TrustedDevice, by key: DeviceKey) throws(TrustError) {
        let member = membership.member(device.id)
        if member == nil {
            // Names of a list may contain what records do not allow.
            try say(.add(device.id, name: ProposedName.sanitized(Array(device.name.utf8))), by: key)
        } else if !device.name.isEmpty, member?.name != device.name {
            try say(.rename(device.id, name: ProposedName.sanitized(Array(device.name.utf8))), by: key)
        }
    }

    /// Makes members of the devices that this one trusted by hand, except those that were members before.
    mutating func enrol(_ devices: [TrustedDevice], by key: DeviceKey) throws(TrustError) {
        for device in devices where device.id != key.id && membership.member(device.id) == nil && !membership.isRevoked(device.id) {
            try admit(device, by: key)
        }
    }
}
