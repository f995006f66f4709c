import KithStore
import KithTrust

/// What to call devices where people read of them: by name, and where several have one name, with the beginning of their ids.
///
///     laptop (7ABCD) and laptop (Q2XYZ)
public struct DeviceNames: Sendable {
    private let names: [DeviceID: String]

    /// - Parameter devices: all that may be spoken of, this one aside.
    public init(_ devices: [TrustedDevice]) { self.init(devices, former: []) }

    /// - Parameter former: who was a member. A device that is one under another key is called as it is now; another one as it was called last,
    ///   with "(removed)".
    init(_ devices: [TrustedDevice], former: [FormerMember]) {
        var counts: [[UInt8]: Int] = [:]
        for device in devices { counts[Array(device.name.utf8), default: 0] += 1 }
        var names: [DeviceID: String] = [:]
        for device in devices where names[device.id] == nil {
            let isOnly = counts[Array(device.name.utf8)] == 1
            let name = isOnly ? device.name : "\(device.name) (\(Self.beginning(of: device.id)))"
            names[device.id] = device.name.isEmpty ? device.id.shortDescription : name
        }
        for device in former where names[device.id] == nil {
            let name = device.name.isEmpty ? device.id.shortDescription : device.name
            names[device.id] = device.isMember ? names[device.last] ?? name : "\(name) (removed)"
        }
        self.names = names
    }

    /// Its name; the beginning of its id if it has none, or is not among the devices.
    public subscript(id: DeviceID) -> String { names[id] ?? id.shortDescription }

    /// The same for whoever has written something: `this device` for this one, and `nil` where nobody knows.
    public subscript(author: Author) -> String? {
        switch author {
        case .own: "this device"
        case .device(let bytes): names.first { $0.key.bytes.elementsEqual(bytes) }?.value
        case .unknown: nil
        }
    }

    /// The first group of the id.
    private static func beginning(of id: DeviceID) -> Substring { id.description.prefix { $0 != "-" } }
}

extension TrustStore {
    /// What to call the devices that are trusted, and those that were in the household.
    package var deviceNames: DeviceNames { DeviceNames(devices, former: formerMembers) }
}
