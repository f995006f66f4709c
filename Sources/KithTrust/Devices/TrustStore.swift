import Foundation
import Synchronization

/// The devices that this one trusts: a JSON file that any number of processes may read and edit.
///
/// Each edit reads the file anew under a lock and replaces it whole, so no edit is lost. Questions are answered
/// from memory; a running node calls `reloadIfChanged()` a few times a second to notice what others did.
/// A file that is damaged, or that others may write, is refused and left as it is.
public final class TrustStore: Sendable {
    /// Name of the file in the identity folder.
    public static let fileName = "devices.json"
    /// Largest file that is read, in bytes.
    public static let fileBytesMax = 1024 * 1024
    /// Most devices in the list.
    public static let devicesMax = DeviceList.devicesMax

    /// The id of this device, which is never in the list.
    public let ownID: DeviceID
    /// Where the list is kept.
    public let file: URL
    private let state: Mutex<State>

    private struct State {
        var list: DeviceList
        var stamp: FileStatus.Stamp?
    }

    /// Opens the list in `folder`; without a file it is empty.
    /// - Throws: `TrustError` with `.corruptedList`, `.newerList`, `.exposedFile` or `.fileSystem`.
    public init(in folder: URL, ownID: DeviceID) throws(TrustError) {
        self.ownID = ownID
        file = folder.appendingPathComponent(Self.fileName)
        let stamp = FileStatus(path: file.path)?.stamp
        state = Mutex(State(list: try Self.read(file), stamp: stamp))
    }

    /// The trusted devices, in the order in which they were added.
    public var devices: [TrustedDevice] {
        state.withLock { $0.list.devices }
    }

    /// The trusted device with this id.
    public func device(_ id: DeviceID) -> TrustedDevice? {
        state.withLock { $0.list.device(id) }
    }

    /// Whether this device exchanges anything with `id`. Never true of its own id.
    public func isTrusted(_ id: DeviceID) -> Bool {
        id != ownID && device(id) != nil
    }

    /// Trusts `device`. One that is trusted already keeps its date, takes over a name that is not empty, and
    /// gains the addresses it did not have, in front.
    /// - Throws: `.ownDevice`, `.limitReached`, and what reading or writing the file throws.
    /// - Returns: the device as it now stands.
    @discardableResult
    public func add(_ device: TrustedDevice) throws(TrustError) -> TrustedDevice {
        guard device.id != ownID else {
            throw TrustError(.ownDevice, "This is the id of this device. Add the id that the other device shows for itself.")
        }
        return try edit { (list) throws(TrustError) in
            let merged = try list.device(device.id).map { (known) throws(TrustError) in
                try TrustedDevice(
                    id: known.id, name: device.name.isEmpty ? known.name : device.name,
                    addresses: device.addresses + known.addresses.filter { !device.addresses.contains($0) },
                    added: known.added)
            }
            try list.put(merged ?? device)
            return merged ?? device
        }
    }

    /// Ends the trust in `id`.
    /// - Throws: `.unknownDevice`, and what reading or writing the file throws.
    public func remove(_ id: DeviceID) throws(TrustError) {
        try edit { (list) throws(TrustError) in
            guard list.remove(id) else { throw Self.unknown(id) }
        }
    }

    /// Gives `id` another name.
    /// - Throws: `.unknownDevice`, `.invalidName`, and what reading or writing the file throws.
    public func rename(_ id: DeviceID, to name: String) throws(TrustError) {
        try edit { (list) throws(TrustError) in
            guard let known = list.device(id) else { throw Self.unknown(id) }
            try list.put(TrustedDevice(id: id, name: name, addresses: known.addresses, added: known.added))
        }
    }

    /// Reads the file again if it changed since it was last read. Costs one `stat` if it did not.
    ///
    /// When it cannot be read any more, the list stays as it was last known and each call throws anew.
    /// - Returns: whether the devices are different now.
    public func reloadIfChanged() throws(TrustError) -> Bool {
        try state.withLock { (state) throws(TrustError) in
            let stamp = FileStatus(path: file.path)?.stamp
            guard stamp != state.stamp else { return false }
            let list = try Self.read(file)
            let changed = list.devices != state.list.devices
            state = State(list: list, stamp: stamp)
            return changed
        }
    }

    // MARK: File

    private func edit<Value>(_ change: (inout DeviceList) throws(TrustError) -> Value) throws(TrustError) -> Value {
        try PrivateFolder.create(file.deletingLastPathComponent().path)
        return try FileLock.withLock(beside: file.path) { () throws(TrustError) in
            var list = try Self.read(file)
            let value = try change(&list)
            try PrivateFile.replace(file.path, with: list.json())
            let stamp = FileStatus(path: file.path)?.stamp
            state.withLock { $0 = State(list: list, stamp: stamp) }
            return value
        }
    }

    private static func read(_ file: URL) throws(TrustError) -> DeviceList {
        guard let bytes = try PrivateFile.read(file.path, bytesMax: fileBytesMax, forbiddenMode: 0o022) else { return DeviceList() }
        return try DeviceList(json: bytes, path: file.path)
    }

    private static func unknown(_ id: DeviceID) -> TrustError {
        TrustError(.unknownDevice, "The device \(id.shortDescription)… is not trusted, so there is nothing to change.")
    }
}
