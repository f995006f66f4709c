import KithTrust

extension NodeStatus {
    /// What is known of a node at one moment.
    struct Facts {
        var isRunning = true
        /// Why it does not run, though it was to run.
        var failure: String?
        var peers: [Peer] = []
        var port: Int?
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

    /// The state that follows from `facts`, with its sentence and its remedy.
    init(_ facts: Facts) {
        let connected = facts.peers.filter { $0.state == .connected }
        let rows = connected.reduce(0) { $0 + $1.rowsToSend + $1.rowsToReceive }
        let state: State
        let sentence: String
        var remedy: String?
        if !facts.isRunning, let failure = facts.failure {
            (state, sentence) = (.stalled, "Not synchronising: \(failure)")
            remedy = "It is tried again by itself."
        } else if !facts.isRunning {
            (state, sentence) = (.stopped, "Stopped: nothing is sent or received until the node runs again.")
        } else if let obstacle = facts.obstacle {
            (state, sentence) = (.stalled, "Not synchronising: \(obstacle)")
            remedy = "Your notes are safe here. Mend this, and the node goes on by itself."
        } else if facts.standing == .removed {
            (state, sentence) = (.localOnly, "Local only: this device was removed from its household, so nothing leaves this machine.")
            remedy =
                "Your notes are all here. To come back, run `kith pair` here and on a device of the household; "
                + "to stay alone, `kith household leave`."
        } else if facts.standing == .left {
            (state, sentence) = (.localOnly, "Local only: this device has left its household, so nothing leaves this machine.")
            remedy =
                "Your notes are all here. The others hear of it as soon as one of them is reached; "
                + "to come back, run `kith pair` here and on one of them."
        } else if facts.peers.isEmpty, facts.standing == .member {
            (state, sentence) = (.localOnly, "Local only: no other device is in the household, so nothing leaves this machine.")
            remedy = "To synchronise, run `kith pair` on both machines."
        } else if facts.peers.isEmpty {
            (state, sentence) = (.localOnly, "Local only: no other device is trusted, so nothing leaves this machine.")
            remedy =
                "To synchronise, run `kith pair` on both machines, "
                + "or `kith device add ID` with the id that `kith device id` shows on the other."
        } else if let twin = facts.twin {
            state = .stalled
            sentence = "This device's key is in use on two machines: this one and another at \(twin)."
            remedy = Self.twinRemedy
        } else if let peer = facts.peers.first(where: { $0.twins != nil }) {
            state = .stalled
            sentence = Self.sentence(onTwinsOf: peer)
            remedy = Self.twinRemedy
        } else if let devices = facts.unproven {
            let whose = devices.isEmpty ? "another device" : Self.list(devices)
            state = .stalled
            sentence = "Only receiving: this store is a copy of one of \(whose), with changes that were never signed there."
            remedy =
                "Everything is kept here, and is sent as soon as \(whose) was met. "
                + "If that device is gone for good, remove it from the household: `kith device revoke NAME`."
        } else if connected.isEmpty, facts.isOffline {
            let cards = facts.cutLinks.isEmpty ? "" : " (\(facts.cutLinks.joined(separator: ", ")))"
            (state, sentence) = (.waiting, "Waiting: this machine is connected to no network\(cards).")
            remedy = "Plug in the cable or join the Wi-Fi; the node goes on by itself."
        } else if connected.isEmpty, facts.standing == .joining, !facts.isDialling {
            (state, sentence) = (.waiting, "Waiting: this device joins a household and has not met a member yet.")
            remedy = "Let `kith up` run on the device that it was paired with; it joins by itself when they meet."
        } else if connected.isEmpty, !facts.isDialling, facts.peers.allSatisfy({ $0.isRefused == true }) {
            let whom = facts.peers.count == 1 ? "\(Self.list(facts.peers)) refuses" : "\(Self.list(facts.peers)) refuse"
            (state, sentence) = (.waiting, "Refused: \(whom) this device.")
            remedy =
                "It may have been removed on another device. Your notes are all here; "
                + "to share them again, run `kith pair` here and on one of the others."
        } else if connected.isEmpty {
            let isAlone = facts.peers.count == 1
            if facts.isDialling {
                (state, sentence) = (.connecting, "Connecting to \(isAlone ? "the other device" : "the other devices").")
            } else {
                let whom = isAlone ? "the other device cannot" : "none of \(facts.peers.count) devices can"
                (state, sentence) = (.waiting, "Waiting: \(whom) be reached right now.")
                remedy = Self.remedy(facts)
            }
        } else if rows > 0 {
            (state, sentence) = (.syncing, "Synchronising: \(Self.progress(connected) ?? "\(rows) rows to go").")
        } else if connected.allSatisfy(\.isInSync) {
            (state, sentence) = (.upToDate, "Up to date with \(Self.list(connected)).")
        } else {
            (state, sentence) = (.syncing, "Synchronising with \(Self.list(connected)).")
        }
        self.init(
            state: state, sentence: sentence, remedy: remedy, port: facts.port, mdns: facts.mdns, household: facts.household,
            peers: facts.peers)
    }

    static let twinRemedy =
        "Run `kith device renew` on one of them, and pair the other one again (`kith pair`); what both wrote is kept."

    /// That two machines use the key of a device.
    package static func sentence(onTwinsOf peer: Peer) -> String {
        sentence(onTwins: peer.twins ?? [], of: peer.name.isEmpty ? String(peer.deviceID.prefix(11)) : peer.name)
    }

    static func sentence(onTwins places: [String], of name: String) -> String {
        "The key of \(name) is in use on two machines\(places.count > 1 ? ": at \(places.joined(separator: " and "))" : "")."
    }

    private static func remedy(_ facts: Facts) -> String {
        if facts.peers.allSatisfy({ $0.lastError == nil }), facts.mdnsFails {
            return "Devices cannot be found by mDNS here (\(facts.mdns)). "
                + "Start the mDNS daemon, or give an address: `kith device add ID --address HOST:PORT`."
        }
        return "It catches up by itself when a device appears. Is `kith up` running there, and does it trust this device?"
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

    private static func list(_ peers: [Peer]) -> String {
        list(peers.map { $0.name.isEmpty ? String($0.deviceID.prefix(5)) : $0.name })
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "nobody" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
