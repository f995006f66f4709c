/// What is known of one name, interface by interface.
struct KnownService: Sendable {
    /// The name on one interface.
    struct Presence: Sendable {
        let interface: UInt32
        /// Daemons may report a name once for each address family: it is gone when it has been taken back as often as reported.
        var reports = 1
        /// Not yet seen again since the last browse began.
        var isStale = false
        var endpoint: Endpoint?
        /// The addresses the present look-up has found.
        var addresses: [HostAddress] = []
        /// The addresses to go on with while the present look-up has found none.
        var lastGoodAddresses: [HostAddress] = []

        var usableAddresses: [HostAddress] { addresses.isEmpty ? lastGoodAddresses : addresses }
    }

    struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16
        let attributes: TXTRecord
    }

    let name: InstanceName
    /// Counts up over all names, so that the older of two is known.
    let arrival: UInt64
    /// The caller has found out that the name is worth following; nobody can crowd it out.
    var isKept = false
    /// Has been looked up for a whole turn, found or not.
    var hadTurn = false
    /// In the order of their interfaces.
    var presences: [Presence]
    /// What the reader of the events was told last.
    var published: Announcement?

    /// All interfaces together. Where they disagree on the endpoint, the lowest interface counts.
    func announcement(addressesMax: Int) -> Announcement? {
        let reachable = presences.filter { $0.endpoint != nil && !$0.usableAddresses.isEmpty }
        guard let endpoint = reachable.first?.endpoint else { return nil }
        var addresses: [HostAddress] = []
        for presence in reachable where presence.endpoint?.host == endpoint.host && presence.endpoint?.port == endpoint.port {
            addresses += presence.usableAddresses.filter { !addresses.contains($0) }
        }
        return Announcement(
            name: name, host: endpoint.host, port: endpoint.port, addresses: Array(addresses.sorted().prefix(addressesMax)),
            attributes: endpoint.attributes)
    }
}
