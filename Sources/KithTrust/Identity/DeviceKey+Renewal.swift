import Foundation

/// How a key gives way to another one without a moment at which a crash leaves the device with neither.
///
/// 1. The new key is written beside the old one, where it means nothing yet.
/// 2. The record that replaces the key is written to the household: from here on the new key is the one that counts.
/// 3. The new key takes the place of the old one. Whoever loads the key does this if it was left undone.
extension DeviceKey {
    /// Name of the new key's file between the first step and the last.
    static let renewalFileName = "device.key.new"

    /// The first step.
    func prepareRenewal(in folder: URL) throws(TrustError) {
        try write(to: folder.appendingPathComponent(Self.renewalFileName).path)
    }

    /// The last step, if the second was done; otherwise this key stays. Any number of processes may do it at once.
    func finishingRenewal(in folder: URL) throws(TrustError) -> DeviceKey {
        let pending = folder.appendingPathComponent(Self.renewalFileName).path
        guard let new = try Self.read(pending),
            let membership = try HouseholdFile.read(folder.appendingPathComponent(HouseholdFile.name).path)?.membership
        else { return self }
        guard membership.isSuccessor(new.id, of: id) else { return self }
        let path = folder.appendingPathComponent(Self.fileName).path
        try PrivateFile.move(pending, to: path)
        // Another process may have been first, and further.
        return try Self.read(path) ?? new
    }
}
