import KithStore
import KithTrust

/// What to call devices where people read of them: by name, and where several have one name, with the beginning of their ids.
///
///     laptop (7ABCD) and laptop (Q2XYZ)
public struct DeviceNames: Sendable {
    private let names: [DeviceID: String]

    /// - Parameter devices: all that may be spoken of, this one aside.
    public init(_ devices: [TrustedDevice]) {
        var counts: [[UInt8]: Int] = [:]
        for device in devices { counts[Array(device.name.utf8), default: 0] += 1 }
        names = Dictionary(
            devices.map { device in
                let isOnly = counts[Array(device.name.utf8)] == 1
                let name = isOnly ? device.name : "\(device.name) (\(Self.beginning(of: device.id)))"
                return (device.id, device.name.isEmpty ? device.id.shortDescription : name)
            }, uniquingKeysWith: { first, _ in first })
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
