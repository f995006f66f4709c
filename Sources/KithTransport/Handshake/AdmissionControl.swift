import KithTrust

/// Keeps room for honest peers among connections that have not said who they are. A pure value.
///
/// A newcomer always comes in; where that breaks a limit, the oldest unauthenticated connection of the fullest address of the
/// fullest network gives way. So half-open connections, however many, cost an honest peer nothing as long as it finishes
/// its handshake before the limit's worth of newer ones arrive. Addresses at which somebody was let in have places of their own,
/// which no stranger elsewhere takes.
struct AdmissionControl: Sendable {
    struct Ticket: Hashable, Sendable, Comparable {
        fileprivate let number: UInt64

        static func < (left: Ticket, right: Ticket) -> Bool { left.number < right.number }
    }

    private struct Waiting: Sendable {
        let ticket: Ticket
        let address: String
        let network: String
        let isKnown: Bool
    }

    private let configuration: TransportConfiguration
    private var issued: UInt64 = 0
    /// Unauthenticated connections, oldest first.
    private var waiting: [Waiting] = []
    private var peers: [Ticket: DeviceID] = [:]
    /// Where somebody was let in, the last one last.
    private var known: [String] = []
    /// When a device will have let pass what its connections so far ask for, in milliseconds; without those that have.
    private var paid: [DeviceID: Int64] = [:]

    init(configuration: TransportConfiguration) {
        self.configuration = configuration
    }

    /// Unauthenticated connections.
    var waitingCount: Int { waiting.count }

    /// A connection from `address`, without its port.
    /// - Returns: its ticket, and the one that must be closed for it.
    mutating func arrive(from address: String) -> (ticket: Ticket, evicted: Ticket?) {
        let ticket = Ticket(number: issued)
        issued += 1
        let new = Waiting(
            ticket: ticket, address: address, network: Self.network(of: address), isKnown: known.contains(address))
        let evicted = evict(for: new)
        waiting.append(new)
        return (ticket, evicted)
    }

    /// The connection proved to be `peer`.
    ///
    /// - Parameter now: milliseconds by a clock that never goes back.
    /// - Returns: `false` if that device has as many connections as it may, or makes them too fast; the connection must be closed.
    mutating func authenticate(_ ticket: Ticket, as peer: DeviceID, now: Int64) -> Bool {
        if let address = waiting.first(where: { $0.ticket == ticket })?.address {
            known = Array((known.filter { $0 != address } + [address]).suffix(max(0, configuration.knownAddressesMax)))
        }
        waiting.removeAll { $0.ticket == ticket }
        guard peers.values.count(where: { $0 == peer }) < max(1, configuration.connectionsPerPeerMax) else { return false }
        guard pay(for: peer, now) else { return false }
        peers[ticket] = peer
        return true
    }

    /// Whether a device has let pass enough time since its connections before, a burst of them apart. One that is refused costs nothing.
    private mutating func pay(for peer: DeviceID, _ now: Int64) -> Bool {
        paid = paid.filter { $0.value > now }
        let pause = configuration.connectionsPerPeerPauseMilliseconds
        let due = max(paid[peer] ?? now, now) + pause
        if due - now > Int64(max(1, configuration.connectionsPerPeerBurst)) * pause { return false }
        paid[peer] = due
        return true
    }

    /// The connection is closed.
    mutating func leave(_ ticket: Ticket) {
        waiting.removeAll { $0.ticket == ticket }
        peers[ticket] = nil
    }

    // MARK: Who gives way

    private mutating func evict(for new: Waiting) -> Ticket? {
        let sameAddress = waiting.filter { $0.address == new.address }
        if sameAddress.count >= max(1, configuration.unauthenticatedPerAddressMax) { return remove(sameAddress.first) }
        let others = waiting.filter { $0.isKnown == new.isKnown }
        if new.isKnown {
            return others.count >= max(1, configuration.unauthenticatedKnownMax) ? remove(Self.oldestOfFullest(others)) : nil
        }
        let sameNetwork = others.filter { $0.network == new.network }
        if new.network != new.address, sameNetwork.count >= max(1, configuration.unauthenticatedPerNetworkMax) {
            return remove(Self.oldestOfFullest(sameNetwork))
        }
        return others.count >= max(1, configuration.unauthenticatedMax) ? remove(Self.oldestOfFullest(others)) : nil
    }

    private mutating func remove(_ one: Waiting?) -> Ticket? {
        waiting.removeAll { $0.ticket == one?.ticket }
        return one?.ticket
    }

    private static func oldestOfFullest(_ waiting: [Waiting]) -> Waiting? {
        let network = fullest(waiting.map(\.network))
        let inIt = waiting.filter { $0.network == network }
        let address = fullest(inIt.map(\.address))
        return inIt.first { $0.address == address }
    }

    /// The one that is there most often; of several the first.
    private static func fullest(_ names: [String]) -> String? {
        let counts = names.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return names.max { counts[$0, default: 0] < counts[$1, default: 0] }.flatMap { most in
            names.first { counts[$0] == counts[most] }
        }
    }

    /// The first 64 bits of an IPv6 address; an IPv4 address, and anything else, is a network by itself.
    private static func network(of address: String) -> String {
        let text = address.prefix { $0 != "%" }
        guard text.contains(":"), !text.contains("."), let bytes = PeerAddress.ipv6Bytes(String(text)) else { return address }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ".") + "/64"
    }
}
