/// Where each device was reached last: as many addresses as are worth a try, the newest first. A value; whoever has a disk keeps it there.
package struct AddressBook<Device: Hashable & Sendable, Address: Hashable & Sendable>: Sendable {
    /// Addresses kept of one device.
    static var addressesMax: Int { 4 }

    private var known: [Device: [Address]] = [:]

    package init() {}

    /// - Parameter known: what was kept of each device, the newest first.
    package init(_ known: [Device: [Address]]) {
        self.known = known.mapValues { Array($0.prefix(Self.addressesMax)) }
    }

    /// What is to be kept.
    package var contents: [Device: [Address]] { known }

    /// Where `device` was reached, the newest first.
    package func addresses(of device: Device) -> [Address] { known[device] ?? [] }

    /// `device` was reached at these addresses, the best first. Returns whether that is news.
    package mutating func note(_ addresses: [Address], of device: Device) -> Bool {
        let before = known[device] ?? []
        var merged: [Address] = []
        for address in addresses + before where !merged.contains(address) {
            if merged.count == Self.addressesMax { break }
            merged.append(address)
        }
        if merged == before { return false }
        known[device] = merged
        return true
    }

    /// Forgets all devices but these. Returns whether there were others.
    package mutating func keep(only devices: [Device]) -> Bool {
        let kept = Set(devices)
        let count = known.count
        known = known.filter { kept.contains($0.key) }
        return known.count != count
    }
}
