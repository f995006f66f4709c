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
    /// What to do about it; `nil` if nothing is, or if ``remedy`` alone says it.
    public var advice: Advice?
    /// What to do about it, in words that fit any app.
    public var remedy: String?

    public init(_ check: String, _ verdict: Verdict, _ sentence: String, remedy: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.sentence = sentence
        self.remedy = remedy
    }

    init(_ check: String, _ verdict: Verdict, _ sentence: String, _ advice: Advice) {
        self.init(check, verdict, sentence, remedy: advice.sentence)
        self.advice = advice
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
    /// Whether two different things were signed with its key.
    var isKeyForked = false
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
                    .renewKey))
        }
        if isKeyForked {
            findings.append(
                DiagnosisFinding(
                    "key", .problem,
                    "Two different things were signed with this device's key: it was put back from a backup, or another machine has its key. It "
                        + "can add and rename no device, and the others may leave out what it has added.",
                    .renewOwnKey))
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
                .setClocks)
        }
    }

    private var standingFinding: DiagnosisFinding {
        switch standing {
        case .alone:
            DiagnosisFinding(
                "household", .problem, "This device trusts no other one.",
                .pair)
        case .removed:
            DiagnosisFinding(
                "household", .problem, "This device was removed from its household.",
                .pairOrStayAlone)
        case .left:
            DiagnosisFinding(
                "household", .problem, "This device has left its household, and the others have not heard of it.",
                .pairOrWait)
        case .joining:
            DiagnosisFinding(
                "household", .warning, "This device joins a household and has not heard from a member yet.",
                .letBothRun)
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
            : DiagnosisFinding("node", .problem, "No node runs for these notes, so nothing is synchronised.", .start)
    }

    private var diskFinding: DiagnosisFinding? {
        guard let freeBytes else { return nil }
        return freeBytes < Self.freeBytesMin
            ? DiagnosisFinding(
                "disk", .problem, "The disk has only \(freeBytes >> 20) MiB left.", .makeRoom)
            : DiagnosisFinding("disk", .good, "There is room on the disk.")
    }

    private var addressFinding: DiagnosisFinding {
        addresses.isEmpty
            ? DiagnosisFinding(
                "network", .problem,
                cutLinks.isEmpty
                    ? "This machine has no network address."
                    : "This machine is connected to no network: \(cutLinks.joined(separator: ", ")) has no link.",
                .joinNetwork)
            : DiagnosisFinding("network", .good, "This machine is reached at \(addresses.joined(separator: ", ")).")
    }

    private var mdnsFinding: DiagnosisFinding {
        guard usesDiscovery else {
            return DiagnosisFinding("mdns", .warning, "Devices are not looked for by mDNS.", .allowDiscovery)
        }
        if let mdnsFailure {
            return DiagnosisFinding(
                "mdns", .problem, mdnsFailure, .startDiscovery)
        }
        if announcementsHeard > 0 {
            return DiagnosisFinding(
                "mdns", .good,
                "mDNS works: \(announcementsHeard == 1 ? "1 other node is" : "\(announcementsHeard) other nodes are") announced on this network."
            )
        }
        return DiagnosisFinding("mdns", .warning, "mDNS runs, and no other node is announced on this network.", .lookForBarriers)
    }

    private func finding(_ device: Device) -> DiagnosisFinding {
        let name = device.name
        if device.twins != nil {
            return DiagnosisFinding(
                "device", .problem, NodeStatus.sentence(onTwins: device.twins ?? [], of: name), .renewKey)
        }
        if case .silent(let address) = device.reach {
            return DiagnosisFinding(
                "device", .problem, "\(name): the node takes it for connected, but nobody answers at \(address) now.",
                .checkCables)
        }
        if let offset = device.clockOffsetMilliseconds {
            return DiagnosisFinding(
                "device", .warning,
                "\(name): its clock is \(PlainDuration.offset(milliseconds: offset)) this one's.",
                .setBothClocks)
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
                .waitOrUpdate)
        case .noAddress:
            return DiagnosisFinding(
                "device", .problem, "\(name): nobody knows where it is.",
                .startThereOrGiveAddress)
        case .failed(let address, let code, let message):
            return DiagnosisFinding("device", .problem, "\(name) at \(address): \(message)", Self.advice(for: code))
        }
    }

    private static func advice(for code: TransportError.Code) -> DiagnosisFinding.Advice {
        switch code {
        case .refusedByPeer: .pairAgain
        case .untrustedPeer, .unexpectedPeer: .correctAddress
        case .timedOut: .openFirewall
        case .unreachable: .startThere
        case .unknownHost: .correctName
        case .wrongProtocol, .handshakeFailed, .refusedCertificate: .updateBoth
        default: .tryAgain
        }
    }
}
