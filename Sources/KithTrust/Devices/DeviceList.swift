import Foundation

/// The content of the file of trusted devices: what this version understands, and the fields it does not.
///
///     {"version": 1, "devices": [{"id": "…", "name": "Attic", "addresses": ["10.0.0.7:4747"], "added": "2026-02-01T10:00:00Z"}]}
struct DeviceList: Hashable, Sendable {
    /// The version that this code writes; a file with a higher one is not touched.
    static let version: Int64 = 1
    /// Most devices in the list.
    static let devicesMax = 256

    /// In the order in which they were added.
    private(set) var devices: [TrustedDevice] = []
    private var unknown: [String: JSONValue] = [:]
    private var unknownByDevice: [DeviceID: [String: JSONValue]] = [:]

    init() {}

    func device(_ id: DeviceID) -> TrustedDevice? {
        devices.first { $0.id == id }
    }

    /// Adds `device`, or replaces the one with its id where that stands.
    mutating func put(_ device: TrustedDevice) throws(TrustError) {
        if let index = devices.firstIndex(where: { $0.id == device.id }) {
            devices[index] = device
            return
        }
        guard devices.count < Self.devicesMax else {
            throw TrustError(
                .limitReached, "At most \(Self.devicesMax) devices can be trusted. Remove one that is no longer used.")
        }
        devices.append(device)
    }

    /// Whether there was one to remove.
    mutating func remove(_ id: DeviceID) -> Bool {
        guard let index = devices.firstIndex(where: { $0.id == id }) else { return false }
        devices.remove(at: index)
        unknownByDevice[id] = nil
        return true
    }
}

// MARK: - File format

extension DeviceList {
    private enum Key {
        static let version = "version"
        static let devices = "devices"
        static let id = "id"
        static let name = "name"
        static let addresses = "addresses"
        static let added = "added"
    }

    /// Reads the file's content.
    /// - Throws: `.corruptedList` or `.newerList`, with a message that names `path`.
    init(json bytes: [UInt8], path: String) throws(TrustError) {
        func corrupted(_ what: String) -> TrustError {
            TrustError(
                .corruptedList,
                "The list of trusted devices \(path) is damaged (\(what)) and was left as it is. Mend it by hand, or move it away and add the devices again."
            )
        }
        guard let root = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)), var fields = root.object else {
            throw corrupted("not a JSON object")
        }
        guard let version = fields.removeValue(forKey: Key.version)?.integer else { throw corrupted("no version") }
        guard version <= Self.version else {
            throw TrustError(
                .newerList,
                "The list of trusted devices \(path) was written by a newer version of Kith and was left as it is. Update Kith on this machine."
            )
        }
        guard let entries = fields.removeValue(forKey: Key.devices)?.array else { throw corrupted("no devices") }
        unknown = fields
        for (index, entry) in entries.enumerated() {
            guard var fields = entry.object, let device = Self.takeDevice(from: &fields), self.device(device.id) == nil else {
                throw corrupted("device \(index + 1)")
            }
            try put(device)
            unknownByDevice[device.id] = fields
        }
    }

    /// The file's content; the same list always gives the same bytes.
    func json() throws(TrustError) -> [UInt8] {
        var fields = unknown
        fields[Key.version] = .integer(Self.version)
        fields[Key.devices] = .array(devices.map(entry))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(encoder.encode(JSONValue.object(fields))) + [UInt8(ascii: "\n")]
        } catch {
            throw TrustError(.fileSystem, "The list of trusted devices cannot be written: \(error)")
        }
    }

    private func entry(of device: TrustedDevice) -> JSONValue {
        var fields = unknownByDevice[device.id] ?? [:]
        fields[Key.id] = .string(device.id.description)
        fields[Key.name] = .string(device.name)
        fields[Key.addresses] = .array(device.addresses.map { .string($0.description) })
        fields[Key.added] = .string(device.added.formatted(.iso8601))
        return .object(fields)
    }

    private static func takeDevice(from fields: inout [String: JSONValue]) -> TrustedDevice? {
        guard let id = fields.removeValue(forKey: Key.id)?.string.flatMap({ DeviceID($0) }),
            let added = fields.removeValue(forKey: Key.added)?.string.flatMap({ try? Date($0, strategy: .iso8601) })
        else { return nil }
        let name = fields.removeValue(forKey: Key.name)?.string ?? ""
        var addresses: [PeerAddress] = []
        for text in fields.removeValue(forKey: Key.addresses)?.array ?? [] {
            guard let address = text.string.flatMap({ try? PeerAddress(parsing: $0) }) else { return nil }
            addresses.append(address)
        }
        return try? TrustedDevice(id: id, name: name, addresses: addresses, added: added)
    }
}
