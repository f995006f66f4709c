import Foundation

/// How a key gives way to another one without a moment at which a crash leaves the device with neither.
///
/// 1. The new key is written beside the old one, where it means nothing yet.
/// 2. The record that replaces the key is written to the household: from here on the new key is the one that counts.
/// 3. The new key takes the place of the old one, which goes to a file of retired keys. Whoever loads the key does this if it was left
///    undone.
extension DeviceKey {
    /// Name of the new key's file between the first step and the last.
    static let renewalFileName = "device.key.new"

    /// Name of the file with the keys that this device had before, one behind the other: they sign for commits that were made under them.
    static let retiredFileName = "device.key.old"
    /// Largest file of retired keys that is read, in bytes.
    private static let retiredBytesMax = 1 << 20

    /// The keys that the device in `folder` had before.
    package static func retired(in folder: URL) throws(TrustError) -> [DeviceKey] {
        let path = folder.appendingPathComponent(retiredFileName).path
        guard let bytes = try PrivateFile.read(path, bytesMax: retiredBytesMax, forbiddenMode: 0o077) else { return [] }
        let end = "-----END PRIVATE KEY-----"
        return String(decoding: bytes, as: UTF8.self).components(separatedBy: end).compactMap { DeviceKey(pem: $0 + end) }
    }

    private func retire(in folder: URL) throws(TrustError) {
        let retired = try Self.retired(in: folder)
        if retired.contains(where: { $0.id == id }) { return }
        let text = (retired + [self]).map { $0.pem + "\n" }.joined()
        try PrivateFile.replace(folder.appendingPathComponent(Self.retiredFileName).path, with: Array(text.utf8))
    }

    /// The first step.
    func prepareRenewal(in folder: URL) throws(TrustError) {
        let pending = folder.appendingPathComponent(Self.renewalFileName).path
        try EditTurn.take(beside: pending) { () throws(TrustError) in try write(to: pending) }
    }

    /// The last step, if the second was done; otherwise this key stays. Any number of processes may do it at once.
    func finishingRenewal(in folder: URL) throws(TrustError) -> DeviceKey {
        guard try successor(in: folder) != nil else { return self }
        let path = folder.appendingPathComponent(Self.fileName).path
        let pending = folder.appendingPathComponent(Self.renewalFileName).path
        // One at a time: whoever is slow would otherwise forget keys that others have retired since it looked, or make a newer one
        // count before the household has it.
        return try EditTurn.take(beside: pending) { () throws(TrustError) in
            let current = try Self.read(path) ?? self
            guard try current.successor(in: folder) != nil else { return current }
            try current.retire(in: folder)
            try PrivateFile.move(pending, to: path)
            return try Self.read(path) ?? current
        }
    }

    /// The key beside this one, if the household has it in the place of this one.
    private func successor(in folder: URL) throws(TrustError) -> DeviceKey? {
        guard let new = try Self.read(folder.appendingPathComponent(Self.renewalFileName).path),
            let membership = try HouseholdFile.read(folder.appendingPathComponent(HouseholdFile.name).path)?.membership
        else { return nil }
        return membership.isSuccessor(new.id, of: id) ? new : nil
    }
}
