import Foundation
import Synchronization

/// The devices that this one trusts: the members of its household or, without one, a list that people keep by hand.
///
/// Both are files in the identity folder that any number of processes may read and edit. Each edit reads them anew under a lock and
/// replaces them whole, so no edit is lost. Questions are answered from memory; a running node calls `reloadIfChanged()` a few
/// times a second to notice what others did. A file that is damaged, or that others may write, is refused and left as it is.
public final class TrustStore: Sendable {
    /// Name of the list in the identity folder.
    static let fileName = "devices.json"
    /// Largest list that is read, in bytes.
    package static let fileBytesMax = 1024 * 1024
    /// Most devices in the list.
    package static let devicesMax = DeviceList.devicesMax

    /// Where the list is kept.
    public let file: URL
    private let householdFile: URL
    private let state: Mutex<TrustState>
    /// Of what members last said that they hold; see ``Household/isImported``.
    private let heardDigests = Mutex<[[UInt8]]>([])
    private static let heardDigestsMax = 16

    /// Opens what is in `folder`; without files nobody is trusted.
    /// - Throws: `TrustError` with `.corruptedList`, `.corruptedHousehold`, `.newerList`, `.exposedFile` or `.fileSystem`.
    public init(in folder: URL, ownID: DeviceID) throws(TrustError) {
        file = folder.appendingPathComponent(Self.fileName)
        householdFile = folder.appendingPathComponent(HouseholdFile.name)
        state = Mutex(try Self.read(file, householdFile, ownID))
    }

    // MARK: Questions

    /// The id of this device, which is never trusted as another one. Another one once its key is renewed.
    public var ownID: DeviceID {
        state.withLock { $0.ownID }
    }

    /// The trusted devices: members by id, or the list in the order in which it was made.
    public var devices: [TrustedDevice] {
        state.withLock { $0.trusted }
    }

    /// The trusted device with this id.
    public func device(_ id: DeviceID) -> TrustedDevice? {
        state.withLock { state in state.trusted.first { $0.id == id } }
    }

    /// Whether this device exchanges anything with `id`. Never true of its own id.
    public func isTrusted(_ id: DeviceID) -> Bool {
        id != ownID && device(id) != nil
    }

    /// The household, if there is one.
    package var household: Household? {
        state.withLock { $0.household }
    }

    /// All of it, at one moment.
    var snapshot: TrustState {
        state.withLock { $0 }
    }

    /// A member holds what has this digest.
    func heard(_ digest: [UInt8]) {
        heardDigests.withLock { $0 = [digest] + $0.filter { $0 != digest }.prefix(Self.heardDigestsMax - 1) }
    }

    /// Whether a member holds what has this digest, as one has said lately.
    func hasHeard(_ digest: [UInt8]) -> Bool {
        heardDigests.withLock { $0.contains(digest) }
    }

    /// How this device stands to a household.
    package var standing: HouseholdStanding {
        state.withLock { $0.standing }
    }

    /// The members of the household that this device has left, who are to hear of it.
    package var leftBehind: [TrustedDevice] {
        state.withLock { $0.standing == .left ? $0.household.map($0.members) ?? [] : [] }
    }

    /// Reads the files again if they changed since they were last read. Costs two `stat` if they did not.
    ///
    /// When they cannot be read any more, all stays as it was last known and each call throws anew.
    /// - Returns: whether the devices or the household are different now.
    package func reloadIfChanged() throws(TrustError) -> Bool {
        try state.withLock { (state) throws(TrustError) in
            guard Self.stamps(file, householdFile) != state.stamps else { return false }
            let new = try Self.read(file, householdFile, state.ownID)
            defer { state = new }
            return !new.isSame(as: state)
        }
    }

    // MARK: Edits

    /// Changes both files under their lock.
    ///
    /// The list is written first: a device on the list without a household gets to it, a household without a list lacks only hints.
    func edit<Value>(_ change: (inout TrustState) throws(TrustError) -> Value) throws(TrustError) -> Value {
        try PrivateFolder.create(folder.path)
        return try EditTurn.take(beside: file.path) { () throws(TrustError) in
            let old = try Self.read(file, householdFile, ownID)
            var new = old
            let value = try change(&new)
            if new.list != old.list { try PrivateFile.replace(file.path, with: new.list.json()) }
            if !new.hasSameHousehold(as: old) || new.household?.shownKeys != old.household?.shownKeys {
                try HouseholdFile.write(new.household, to: householdFile.path)
            }
            new.stamps = Self.stamps(file, householdFile)
            new.settle()
            state.withLock { $0 = new }
            return value
        }
    }

    /// The key of this device.
    /// - Throws: `.busy` if it is that of another device meanwhile, and what reading it throws.
    package func key() throws(TrustError) -> DeviceKey { try key(of: ownID) }

    /// The key, if this device is `id` still.
    func key(of id: DeviceID) throws(TrustError) -> DeviceKey {
        let key = try DeviceKey.load(from: folder)
        guard key.id == id else {
            throw TrustError(.busy, "The key of this device was replaced meanwhile. Start the program again.")
        }
        return key
    }

    /// The keys that this device had before; none if they cannot be read.
    package var retiredKeys: [DeviceKey] { (try? DeviceKey.retired(in: folder)) ?? [] }

    /// Whether a device is a member, or was one.
    package func isOrWasMember(_ id: DeviceID) -> Bool {
        if id == ownID || device(id) != nil { return true }
        return household?.membership.isOrWasMember(id) ?? false
    }

    /// How often a device has ceased to be a member of the household, as far as this one knows; 0 without a household.
    package func roundsEnded(of id: DeviceID) -> Int {
        household?.membership.roundsEnded(of: id) ?? 0
    }

    /// Where everything is kept.
    var folder: URL { file.deletingLastPathComponent() }

    // MARK: Files

    private static func read(_ file: URL, _ householdFile: URL, _ ownID: DeviceID) throws(TrustError) -> TrustState {
        let stamps = stamps(file, householdFile)
        let bytes = try PrivateFile.read(file.path, bytesMax: fileBytesMax, forbiddenMode: 0o022)
        let list = try bytes.map { (bytes) throws(TrustError) in try DeviceList(json: bytes, path: file.path) } ?? DeviceList()
        let household = try HouseholdFile.read(householdFile.path)
        return TrustState(ownID: currentID(ownID, household, file), list: list, household: household, stamps: stamps)
    }

    /// Who this device is now, if it was `id` when this was last looked at.
    private static func currentID(_ id: DeviceID, _ household: Household?, _ file: URL) -> DeviceID {
        guard let membership = household?.membership, membership.replacement(of: id) != nil,
            let key = try? DeviceKey.load(from: file.deletingLastPathComponent()), membership.isSuccessor(key.id, of: id)
        else { return id }
        return key.id
    }

    private static func stamps(_ files: URL...) -> [FileStatus.Stamp?] {
        files.map { FileStatus(path: $0.path)?.stamp }
    }

    static func unknown(_ id: DeviceID) -> TrustError {
        TrustError(.unknownDevice, "The device \(id.shortDescription)… is not trusted, so there is nothing to change.")
    }
}
