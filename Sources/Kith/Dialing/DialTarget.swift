import KithDiscovery
import KithTrust

/// Something that may be dialled.
enum DialTarget: Hashable, Sendable, Comparable {
    /// A trusted device, at the addresses the user gave.
    case device(DeviceID)
    /// Whoever announces itself under this name: a hint, and nothing more.
    case announced(InstanceName)

    static func < (left: DialTarget, right: DialTarget) -> Bool {
        switch (left, right) {
        case (.device(let a), .device(let b)): a < b
        case (.announced(let a), .announced(let b)): a < b
        case (.device, .announced): true
        case (.announced, .device): false
        }
    }
}
