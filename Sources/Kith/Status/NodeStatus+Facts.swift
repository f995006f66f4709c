import KithTrust

extension NodeStatus {
    /// What is known of a node at one moment.
    struct Facts {
        var isRunning = true
        /// Why it does not run, though it was to run.
        var failure: String?
        /// Whether another process runs it.
        var runsElsewhere = false
        var peers: [Peer] = []
        var port: Int?
        var futurePort: Int?
        var mdns = "not used"
        var mdnsFails = false
        var isDialling = false
        var standing = HouseholdStanding.alone
        var household: String?
        /// Whether the machine is connected to no network, and which of its cards lead nowhere.
        var isOffline = false
        var cutLinks: [String] = []
        /// Where another machine uses this device's key.
        var twin: String?
        /// The devices whose commits the store holds, and cannot prove; `nil` if it can prove all.
        var unproven: [String]?
        /// What keeps the node from working at all.
        var obstacle: String?
    }

    /// The state that follows from `facts`, with its reason.
    init(_ facts: Facts) {
        let reason = Reason(facts)
        let (state, sentence) = reason.map { ($0.state, $0.sentence) } ?? Self.progress(of: facts)
        self.init(
            state: state, reason: reason, sentence: sentence, port: facts.port, mdns: facts.mdns, household: facts.household,
            peers: facts.peers)
        futurePort = facts.port == nil ? facts.futurePort : nil
    }

    /// What goes on where nothing stands in the way.
    private static func progress(of facts: Facts) -> (State, String) {
        let connected = facts.peers.filter { $0.state == .connected }
        let rows = connected.reduce(0) { $0 + $1.rowsToSend + $1.rowsToReceive }
        if connected.isEmpty {
            return (.connecting, "Connecting to \(facts.peers.count == 1 ? "the other device" : "the other devices").")
        }
        if rows > 0 { return (.syncing, "Synchronising: \(progress(connected) ?? "\(rows) rows to go").") }
        if connected.allSatisfy(\.isInSync) { return (.upToDate, "Up to date with \(list(connected)).") }
        return (.syncing, "Synchronising with \(list(connected)).")
    }

    /// That two machines use the key of a device.
    package static func sentence(onTwinsOf peer: Peer) -> String { sentence(onTwins: peer.twins ?? [], of: peer.longName) }

    static func sentence(onTwins places: [String], of name: String) -> String {
        "The key of \(name) is in use on two machines\(places.count > 1 ? ": at \(places.joined(separator: " and "))" : "")."
    }

    /// How far large exchanges have come, as one.
    private static func progress(_ peers: [Peer]) -> String? {
        let progresses = peers.flatMap { [$0.sending, $0.receiving].compactMap(\.self) }
        if progresses.isEmpty { return nil }
        let done = progresses.reduce(0) { $0 + $1.rows }
        return "\(grouped(done)) of about \(grouped(progresses.reduce(0) { $0 + $1.rowsTotal })) rows"
    }

    /// A number as people read it in English, with commas between thousands.
    public static func grouped(_ number: Int) -> String {
        var digits = Array(String(number))
        for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
        return String(digits)
    }

    private static func list(_ peers: [Peer]) -> String { list(peers.map(\.shortName)) }

    static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "nobody" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}

extension NodeStatus.Peer {
    fileprivate var shortName: String { name.isEmpty ? String(deviceID.prefix(5)) : name }
    fileprivate var longName: String { name.isEmpty ? String(deviceID.prefix(11)) : name }
}

extension NodeStatus.Reason {
    /// What stands in the way, the weightiest first; `nil` if nothing does.
    init?(_ facts: NodeStatus.Facts) {
        if let reason = Self.inNode(facts) ?? Self.inHousehold(facts) ?? Self.inKeys(facts) ?? Self.inNetwork(facts) {
            self = reason
        } else {
            return nil
        }
    }

    private static func inNode(_ facts: NodeStatus.Facts) -> Self? {
        if !facts.isRunning { return facts.failure.map(Self.cannotRun) ?? (facts.runsElsewhere ? .runsElsewhere : .notRunning) }
        return facts.obstacle.map(Self.storeFails)
    }

    private static func inHousehold(_ facts: NodeStatus.Facts) -> Self? {
        switch facts.standing {
        case .removed: .removed
        case .left: .left
        case .member where facts.peers.isEmpty: .noOtherMember
        default: facts.peers.isEmpty ? .noDevice : nil
        }
    }

    private static func inKeys(_ facts: NodeStatus.Facts) -> Self? {
        if let twin = facts.twin { return .ownKeyTwice(at: twin) }
        if let peer = facts.peers.first(where: { $0.twins != nil }) { return .keyTwice(device: peer.longName, at: peer.twins ?? []) }
        return facts.unproven.map(Self.unproven)
    }

    private static func inNetwork(_ facts: NodeStatus.Facts) -> Self? {
        if facts.peers.contains(where: { $0.state == .connected }) { return nil }
        if facts.isOffline { return .noNetwork(cards: facts.cutLinks) }
        if facts.isDialling { return nil }
        if facts.standing == .joining { return .joining }
        if facts.peers.allSatisfy({ $0.isRefused == true }) { return .refused(by: facts.peers.map(\.shortName)) }
        let isUnfound = facts.mdnsFails && facts.peers.allSatisfy { $0.lastError == nil || $0.isErrorFromBefore == true }
        return .notReachable(devices: facts.peers.count, withoutDiscovery: isUnfound ? facts.mdns : nil)
    }
}
