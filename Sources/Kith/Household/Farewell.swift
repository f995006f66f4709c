import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging

/// Tells the household that this device has left it, and nothing else.
///
/// The certificate of this device says so (``TrustStore/statements``), and lets it in for this alone. One member that says it has
/// written it down is enough: that one tells the others, and this device forgets the household.
actor Farewell {
    /// How often it is looked whether somebody is to be dialled, or whether this device belongs to a household again.
    static let pauseMilliseconds = 1_000
    /// How long a farewell takes at most, the answer included.
    static let answerMilliseconds = 10_000
    static let over = "the farewell is over"

    private let node: Node
    private let transport: any PeerTransport
    private let discovery: Discovery?
    /// The record by which this device leaves, and what a member is to hear.
    private let farewell: (id: MembershipRecord.ID, messages: [HouseholdMessage])?
    private var planner = NodeDialPlanner()
    /// Whether a member has said that it has written it down.
    private var isHeard = false
    private var announcements: AnnouncementBook
    private var random = SystemRandomNumberGenerator()

    init(_ node: Node) throws {
        self.node = node
        announcements = AnnouncementBook(of: node.configuration.app)
        farewell = node.trust.farewell
        transport = try node.makeTransport(admission: node.trust.witness(in:))
        discovery = node.usesDiscovery ? Discovery(logger: node.logger) : nil
        // Members that renewed their secret or their key meanwhile are not recognised: whoever is announced is asked who it is.
        announcements.trust([], own: node.key.id, secrets: [])
        planner.trust(node.trust.leftBehind.map { ($0.id, node.addresses(of: $0)) }, now: MonotonicClock.now)
    }

    /// Runs until a member has heard, the household is forgotten or joined again, or the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            if let discovery {
                group.addTask { await discovery.run() }
                group.addTask { await self.follow(discovery) }
            }
            while !Task.isCancelled, let farewell, node.trust.farewell?.id == farewell.id {
                if isHeard { forget() } else { tellWhoIsDue(&group) }
                if node.trust.standing == .left { try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds)) }
                node.reloadTrust()
            }
            group.cancelAll()
            await transport.close()
        }
    }

    private func follow(_ discovery: Discovery) async {
        for await event in discovery.events {
            switch event {
            case .appeared(let announcement), .changed(let announcement): _ = announcements.found(announcement)
            case .disappeared(let name): announcements.lost(name)
            case .status: break
            }
            planner.found(
                announcements.targets(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds), now: MonotonicClock.now)
        }
    }

    /// Dials all that are to be dialled now, each by itself: whoever takes a connection and says nothing keeps nobody else waiting.
    private func tellWhoIsDue(_ group: inout DiscardingTaskGroup) {
        for dial in planner.start(now: MonotonicClock.now) {
            group.addTask { await self.tell(dial) }
        }
    }

    private func tell(_ dial: NodeDialPlanner.Dial) async {
        let outcome = await AddressRace.run(dial.addresses) {
            await !self.isHeard
        } discard: { (connection: Connection) in
            await connection.close(reason: "another address answered before")
        } dial: { [transport] (address) throws(TransportError) in
            try await transport.dial(host: address.host, port: address.port, expecting: dial.device, timeoutMilliseconds: 5_000)
        }
        switch outcome {
        case .success(let connection): if await tell(over: connection) { isHeard = true }
        case .failure(let error):
            node.logger.debug("nobody is there to hear the farewell", metadata: ["target": "\(dial.target)", "reason": "\(error)"])
        case nil: break
        }
        planner.failed(dial.target, .later, now: MonotonicClock.now, using: &random)
    }

    /// Whether a member is there, hears it and says so.
    private func tell(over connection: Connection) async -> Bool {
        guard let farewell else { return false }
        let deadline = Task {
            try await Task.sleep(for: .milliseconds(Self.answerMilliseconds))
            connection.abort(reason: Self.over)
        }
        defer {
            deadline.cancel()
            connection.abort(reason: Self.over)
        }
        do {
            // Not one after the other with the wait for room: a member answers as soon as it has heard enough, and hangs up.
            for message in farewell.messages { try connection.post(FrameCodec.encode(.household(message.encoded))) }
            for try await frame in connection.frames {
                guard case .household(let bytes)? = try FrameCodec.decode(frame) else { continue }
                if case .have(let known, _, _)? = HouseholdMessage(bytes), known.contains(farewell.id) { return true }
            }
        } catch {
            node.logger.debug("nobody heard the farewell", metadata: ["reason": "\(error)"])
        }
        return false
    }

    private func forget() {
        do {
            try node.trust.forgetHousehold()
        } catch {
            node.logger.error("the household cannot be forgotten", metadata: ["reason": "\(error.message)"])
        }
    }
}
