/// One operation of the mDNS daemon, which answers until it is closed.
enum ServiceRequest: Hashable, Sendable {
    /// Names as they come and go.
    case browse
    case register(Advertisement)
    /// Host, port and attributes of a name, as they change.
    case resolve(Sighting)
    /// Addresses of a host, as they come and go.
    case addresses(host: String, family: AddressFamily, interface: UInt32)
}

enum AddressFamily: CaseIterable, Sendable {
    case ipv4, ipv6
}

/// A name seen on an interface; the unit that is looked up.
struct Sighting: Hashable, Sendable {
    let name: InstanceName
    /// The index of the interface.
    let interface: UInt32
}
