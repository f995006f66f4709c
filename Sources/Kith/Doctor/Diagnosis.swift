import KithTransport
import KithTrust

/// One thing that was looked at because two devices do not meet, and what came of it.
public struct DiagnosisFinding: Codable, Hashable, Sendable {
    /// How the finding is to be taken.
    public enum Verdict: String, Codable, Hashable, Sendable {
        case good
        /// It works, and could be better.
        case warning
        /// This alone keeps devices apart.
        case problem
    }

    /// What was looked at; stable, for programs.
    public var check: String
    /// What came of it: a fault carries more weight than a doubt.
    public var verdict: Verdict
    /// What was seen, in plain words.
    public var sentence: String
    /// What to do about it.
    public var remedy: String?

    public init(_ check: String, _ verdict: Verdict, _ sentence: String, remedy: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.sentence = sentence
        self.remedy = remedy
    }
}

/// What was seen of this machine and its network, before anybody draws conclusions. A pure value.
struct Observations: Sendable {
    /// What came of dialling a device.
    enum Reach: Hashable, Sendable {
        /// A running node is connected with it, and somebody listens there now; without an address that could not be tried.
        case connected(at: String?)
        /// A running node takes it for connected, and nobody answers there now.
        case silent(at: String)
        case reached(at: String)
        case noAddress
        case failed(at: String, TransportError.Code, String)
    }

    struct Device: Sendable {
        let name: String
        let reach: Reach
        /// What the running node heard last.
        var lastError: String?
        /// Where two machines are that use its key.
        var twins: [String]?
        var clockOffsetMilliseconds: Int64?
        var isAnnounced = false
    }

    /// An announcement that tells an hour which no right clock shows.
    struct WrongClock: Hashable, Sendable {
        /// Of a device that is trusted; `nil` if it is none, or not known.
        let name: String?
        let address: String?
        let hoursAhead: Int64
    }

    var standing = HouseholdStanding.alone
    var isNodeRunning = false
    /// Bytes free where the store is; `nil` if that cannot be told.
    var freeBytes: Int64?
    /// Addresses of this machine that others could use.
    var addresses: [String] = []
    /// Network cards that lead nowhere.
    var cutLinks: [String] = []
    var wrongClocks: [WrongClock] = []
    /// Where another machine uses the key of this one.
    var twin: String?
    /// Why mDNS does not work; `nil` if it does.
    var mdnsFailure: String?
    /// Whether mDNS was asked at all.
    var usesDiscovery = true
    /// Announcements heard, from whomever; those of this machine itself apart.
    var announcementsHeard = 0
    var isOwnAnnouncementHeard = false
    var devices: [Device] = []
}

extension Observations {
    /// Least room that is needed on the disk, in bytes.
    static let freeBytesMin: Int64 = 64 << 20

    /// The conclusions, in the order in which a person should look at them.
    var findings: [DiagnosisFinding] {
        var findings = [standingFinding, nodeFinding]
        if let diskFinding { findings.append(diskFinding) }
        findings += [addressFinding, mdnsFinding]
        if let twin {
            findings.append(
                DiagnosisFinding(
                    "key", .problem, "This device's key is in use on two machines: this one and another at \(twin).",
                    remedy: NodeStatus.twinRemedy))
        }
        return findings + clockFindings + devices.map(finding)
    }

    /// Clocks of which announcements tell; what a session has measured is said of the device itself.
    private var clockFindings: [DiagnosisFinding] {
        let measured = Set(devices.filter { $0.clockOffsetMilliseconds != nil }.map(\.name))
        return wrongClocks.filter { $0.name.map { !measured.contains($0) } ?? true }.map { clock in
            let who =
                clock.name.map { "\($0)'s clock is" } ?? "A Kith device here\(clock.address.map { " (\($0))" } ?? "") has a clock that is"
            let offset = PlainDuration.offset(milliseconds: clock.hoursAhead.multipliedReportingOverflow(by: 3_600_000).partialValue)
            let others = wrongClocks.count { $0.hoursAhead == clock.hoursAhead } - 1
            let hint = others > 0 ? " Several say so: it may be this one that is wrong." : ""
            return DiagnosisFinding(
                "clock", .warning, "\(who) \(offset) this one's.\(hint)",
                remedy: "Set the clocks. Devices that are more than a day apart may not find each other by mDNS.")
        }
    }

    private var standingFinding: DiagnosisFinding {
        switch standing {
        case .alone:
            DiagnosisFinding(
                "household", .problem, "This device trusts no other one.",
                remedy: "Run `kith pair` here and on the other device at the same time.")
        case .removed:
            DiagnosisFinding(
                "household", .problem, "This device was removed from its household.",
                remedy: "Run `kith pair` here and on a device of the household, or `kith household leave` to stay alone.")
        case .left:
            DiagnosisFinding(
                "household", .problem, "This device has left its household, and the others have not heard of it.",
                remedy: "Run `kith pair` here and on another device, or let `kith up` run here until they have.")
        case .joining:
            DiagnosisFinding(
                "household", .warning, "This device joins a household and has not heard from a member yet.",
                remedy: "Let `kith up` run here and on the device that it was paired with.")
        case .listed:
            DiagnosisFinding(
                "household", .good,
                "This device trusts \(devices.count == 1 ? "1 device that was" : "\(devices.count) devices that were") added by hand.")
        case .member:
            DiagnosisFinding(
                "household", .good, "This device is in a household with \(devices.count == 1 ? "1 other" : "\(devices.count) others").")
        }
    }

    private var nodeFinding: DiagnosisFinding {
        isNodeRunning
            ? DiagnosisFinding("node", .good, "A node runs for these notes.")
            : DiagnosisFinding("node", .problem, "No node runs for these notes, so nothing is synchronised.", remedy: "Start it: kith up")
    }

    private var diskFinding: DiagnosisFinding? {
        guard let freeBytes else { return nil }
        return freeBytes < Self.freeBytesMin
            ? DiagnosisFinding(
                "disk", .problem, "The disk has only \(freeBytes >> 20) MiB left.", remedy: "Make room; synchronising goes on by itself.")
            : DiagnosisFinding("disk", .good, "There is room on the disk.")
    }

    private var addressFinding: DiagnosisFinding {
        addresses.isEmpty
            ? DiagnosisFinding(
                "network", .problem,
                cutLinks.isEmpty
                    ? "This machine has no network address."
                    : "This machine is connected to no network: \(cutLinks.joined(separator: ", ")) has no link.",
                remedy: "Plug in the cable, or join the Wi-Fi.")
            : DiagnosisFinding("network", .good, "This machine is reached at \(addresses.joined(separator: ", ")).")
    }

    private var mdnsFinding: DiagnosisFinding {
        guard usesDiscovery else {
            return DiagnosisFinding("mdns", .warning, "Devices are not looked for by mDNS.", remedy: "Leave out --no-discovery.")
        }
        if let mdnsFailure {
            return DiagnosisFinding(
                "mdns", .problem, mdnsFailure, remedy: "Start the mDNS daemon, or give addresses: kith device add ID --address HOST:PORT")
        }
        if announcementsHeard > 0 {
            return DiagnosisFinding(
                "mdns", .good,
                "mDNS works: \(announcementsHeard == 1 ? "1 other node is" : "\(announcementsHeard) other nodes are") announced on this network."
            )
        }
        let remedy =
            "If the other device runs `kith up` on this very network: a VPN, a guest network or an access point that holds back multicast "
            + "keeps it from being heard. Give its address: kith device add ID --address HOST:PORT"
        return DiagnosisFinding("mdns", .warning, "mDNS runs, and no other node is announced on this network.", remedy: remedy)
    }

    private func finding(_ device: Device) -> DiagnosisFinding {
        let name = device.name
        if device.twins != nil {
            return DiagnosisFinding(
                "device", .problem, NodeStatus.sentence(onTwins: device.twins ?? [], of: name), remedy: NodeStatus.twinRemedy)
        }
        if case .silent(let address) = device.reach {
            return DiagnosisFinding(
                "device", .problem, "\(name): the node takes it for connected, but nobody answers at \(address) now.",
                remedy: "Is the cable in, the Wi-Fi on, there and here? The node finds out by itself within a minute.")
        }
        if let offset = device.clockOffsetMilliseconds {
            return DiagnosisFinding(
                "device", .warning,
                "\(name): its clock is \(PlainDuration.offset(milliseconds: offset)) this one's.",
                remedy: "Set both clocks. Nothing is lost, but times are shown wrong, and it may not be found by mDNS.")
        }
        switch device.reach {
        case .connected(let address):
            return DiagnosisFinding("device", .good, "\(name): connected\(address.map { ", and answers at \($0) now" } ?? "").")
        case .silent(let address): return DiagnosisFinding("device", .problem, "\(name): nobody answers at \(address).")
        case .reached(let address):
            guard let error = device.lastError, isNodeRunning else {
                return DiagnosisFinding("device", .good, "\(name): answers at \(address) and is who it should be.")
            }
            return DiagnosisFinding(
                "device", .warning, "\(name): answers at \(address) and is who it should be, but the last connection ended: \(error)",
                remedy: "The node tries again by itself. Update Kith on both devices if this stays.")
        case .noAddress:
            return DiagnosisFinding(
                "device", .problem, "\(name): nobody knows where it is.",
                remedy: "Start `kith up` there, on this network, or give its address: kith device add ID --address HOST:PORT")
        case .failed(let address, let code, let message):
            return DiagnosisFinding("device", .problem, "\(name) at \(address): \(message)", remedy: Self.remedy(for: code))
        }
    }

    private static func remedy(for code: TransportError.Code) -> String {
        switch code {
        case .refusedByPeer: "It does not trust this device. Pair the two again: kith pair, on both."
        case .untrustedPeer, .unexpectedPeer: "Somebody else is at this address. Correct it: kith device add ID --address HOST:PORT"
        case .timedOut: "A firewall may hold the connection back, there or in between. Let TCP to this port through."
        case .unreachable: "Start `kith up` there. If it runs, look whether its port is another one: kith status"
        case .unknownHost: "Correct the address: kith device add ID --address HOST:PORT"
        case .wrongProtocol, .handshakeFailed, .refusedCertificate: "Something else answers there, or another version. Update Kith on both."
        default: "Try again; if this stays, look at `kith up --verbose` on both."
        }
    }
}
