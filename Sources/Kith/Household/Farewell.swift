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
    private let transport: Transport
    private let discovery: Discovery?
    /// The record by which this device leaves, and what a member is to hear.
    private let farewell: (id: MembershipRecord.ID, messages: [HouseholdMessage])?
    private var planner = NodeDialPlanner()
    private var announcements: AnnouncementBook
    private var random = SystemRandomNumberGenerator()

    init(_ node: Node) throws {
        self.node = node
        announcements = AnnouncementBook(of: node.configuration.app)
        farewell = node.trust.farewell
        do throws(TransportError) {
            transport = try Transport(
                key: node.key, stating: node.trust.statements, admission: node.trust.witness(in:), logger: node.logger)
        } catch {
            throw NodeError(.invalidIdentity, error.message)
        }
        discovery = node.configuration.usesDiscovery ? Discovery(logger: node.logger) : nil
        // Members that renewed their secret or their key meanwhile are not recognised: whoever is announced is asked who it is.
        announcements.trust([], own: node.key.id, secrets: [])
        planner.trust(node.trust.leftBehind.map { ($0.id, $0.addresses) }, now: MonotonicClock.now)
    }

    /// Runs until a member has heard, the household is forgotten or joined again, or the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            if let discovery {
                group.addTask { await discovery.run() }
                group.addTask { await self.follow(discovery) }
            }
            var isHeard = false
            while !Task.isCancelled, let farewell, node.trust.farewell?.id == farewell.id {
                if !isHeard { isHeard = await tellWhoIsDue() }
                if isHeard { forget() }
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

    /// Whether one of those that are to be dialled now has heard.
    private func tellWhoIsDue() async -> Bool {
        var isHeard = false
        for dial in planner.start(now: MonotonicClock.now) {
            for address in dial.addresses where !isHeard && !Task.isCancelled {
                isHeard = await tell(dial.device, at: address)
            }
            planner.failed(dial.target, .later, now: MonotonicClock.now, using: &random)
        }
        return isHeard
    }

    /// Whether a member was there, heard it and said so.
    private func tell(_ device: DeviceID?, at address: PeerAddress) async -> Bool {
        guard let farewell else { return false }
        do {
            let connection = try await transport.dial(
                host: address.host, port: address.port, expecting: device, timeoutMilliseconds: 5_000)
            let deadline = Task {
                try await Task.sleep(for: .milliseconds(Self.answerMilliseconds))
                connection.abort(reason: Self.over)
            }
            defer {
                deadline.cancel()
                connection.abort(reason: Self.over)
            }
            for message in farewell.messages { try await connection.send(FrameCodec.encode(.household(message.encoded))) }
            for try await frame in connection.frames {
                guard case .household(let bytes)? = try FrameCodec.decode(frame) else { continue }
                if case .have(let known, _, _)? = HouseholdMessage(bytes), known.contains(farewell.id) { return true }
            }
        } catch {
            node.logger.debug("nobody heard the farewell", metadata: ["address": "\(address)", "reason": "\(error)"])
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
