import KithTrust

/// Keeps room for honest peers among connections that have not said who they are. A pure value.
///
/// A newcomer always comes in; where that breaks a limit, the oldest unauthenticated connection of the fullest
/// address gives way. So half-open connections, however many, cost an honest peer nothing as long as it finishes
/// its handshake before the limit's worth of newer ones arrive.
struct AdmissionControl: Sendable {
    struct Ticket: Hashable, Sendable, Comparable {
        fileprivate let number: UInt64

        static func < (left: Ticket, right: Ticket) -> Bool { left.number < right.number }
    }

    private let unauthenticatedMax: Int
    private let perAddressMax: Int
    private let perPeerMax: Int
    private var issued: UInt64 = 0
    /// Unauthenticated connections, oldest first.
    private var waiting: [(ticket: Ticket, address: String)] = []
    private var peers: [Ticket: DeviceID] = [:]

    init(configuration: TransportConfiguration) {
        unauthenticatedMax = max(1, configuration.unauthenticatedMax)
        perAddressMax = max(1, configuration.unauthenticatedPerAddressMax)
        perPeerMax = max(1, configuration.connectionsPerPeerMax)
    }

    /// Unauthenticated connections.
    var waitingCount: Int { waiting.count }

    /// A connection from `address`, without its port.
    /// - Returns: its ticket, and the one that must be closed for it.
    mutating func arrive(from address: String) -> (ticket: Ticket, evicted: Ticket?) {
        let ticket = Ticket(number: issued)
        issued += 1
        var evicted: Ticket?
        if count(of: address) >= perAddressMax {
            evicted = evictOldest(of: address)
        } else if waiting.count >= unauthenticatedMax {
            evicted = fullestAddress.flatMap { evictOldest(of: $0) }
        }
        waiting.append((ticket, address))
        return (ticket, evicted)
    }

    /// The connection proved to be `peer`.
    /// - Returns: `false` if that device has as many connections as it may; the connection must be closed.
    mutating func authenticate(_ ticket: Ticket, as peer: DeviceID) -> Bool {
        waiting.removeAll { $0.ticket == ticket }
        guard peers.values.count(where: { $0 == peer }) < perPeerMax else { return false }
        peers[ticket] = peer
        return true
    }

    /// The connection is closed.
    mutating func leave(_ ticket: Ticket) {
        waiting.removeAll { $0.ticket == ticket }
        peers[ticket] = nil
    }

    private func count(of address: String) -> Int {
        waiting.count { $0.address == address }
    }

    /// Of several, the one that has waited longest.
    private var fullestAddress: String? {
        waiting.map { ($0.address, count(of: $0.address)) }.reduce(nil as (String, Int)?) { best, next in
            if let best, best.1 >= next.1 { best } else { next }
        }?.0
    }

    private mutating func evictOldest(of address: String) -> Ticket? {
        waiting.firstIndex { $0.address == address }.map { waiting.remove(at: $0).ticket }
    }
}
