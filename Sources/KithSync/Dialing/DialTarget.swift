/// Something that may be dialled.
package enum DialTarget<Device: Hashable & Comparable & Sendable, Name: Hashable & Comparable & Sendable>: Hashable, Sendable, Comparable {
    /// A trusted device, at the addresses the user gave and where it was reached before.
    case device(Device)
    /// Whoever announces itself under this name: a hint, and nothing more.
    case announced(Name)

    package static func < (left: DialTarget, right: DialTarget) -> Bool {
        switch (left, right) {
        case (.device(let a), .device(let b)): a < b
        case (.announced(let a), .announced(let b)): a < b
        case (.device, .announced): true
        case (.announced, .device): false
        }
    }
}
