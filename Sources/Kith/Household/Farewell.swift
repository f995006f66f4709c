import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging

/// Tells the household that this device has left it, and nothing else.
///
/// The certificate of this device says so (``TrustStore/statements``). Showing it to one member is enough: that one tells the
/// others. No frame is sent or read.
actor Farewell {
    /// The pause between two rounds of dialling.
    static let pauseMilliseconds = 2_000
    /// How long a member has to hang up after it has seen the certificate.
    static let answerMilliseconds = 3_000

    private let node: Node
    private let transport: Transport
    private let discovery: Discovery?
    private let members: [TrustedDevice]
    private var announcements = AnnouncementBook()

    init(_ node: Node) throws {
        self.node = node
        let members = node.trust.leftBehind
        self.members = members
        do throws(TransportError) {
            transport = try Transport(
                key: node.key, stating: node.trust.statements,
                admission: { certificate in members.contains { $0.id == certificate.id } ? certificate.id : nil }, logger: node.logger)
        } catch {
            throw NodeError(.invalidIdentity, error.message)
        }
        discovery = node.configuration.usesDiscovery ? Discovery(logger: node.logger) : nil
        announcements.trust(members.map(\.id), own: node.key.id, secrets: node.trust.household?.secrets ?? [])
    }

    /// Runs until a member has heard, the household is forgotten or joined again, or the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            if let discovery {
                group.addTask { await discovery.run() }
                group.addTask { await self.follow(discovery) }
            }
            while !Task.isCancelled, node.trust.standing == .left {
                if await tellSomebody() {
                    forget()
                } else {
                    try? await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
                }
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
        }
    }

    private func tellSomebody() async -> Bool {
        let announced = announcements.targets(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds)
        let known = members.map { (device: Optional($0.id), addresses: $0.addresses) }
        for target in known + announced.map({ (device: $0.device, addresses: $0.addresses) }) {
            for address in target.addresses where !Task.isCancelled {
                if await tell(target.device, at: address) { return true }
            }
        }
        return false
    }

    /// Whether a member was there and has seen the certificate: it hangs up, since this device is none any more.
    private func tell(_ device: DeviceID?, at address: PeerAddress) async -> Bool {
        do throws(TransportError) {
            let connection = try await transport.dial(
                host: address.host, port: address.port, expecting: device, timeoutMilliseconds: 5_000)
            let deadline = Task {
                try await Task.sleep(for: .milliseconds(Self.answerMilliseconds))
                connection.abort(reason: "the farewell is over")
            }
            defer {
                deadline.cancel()
                connection.abort(reason: "the farewell is over")
            }
            for try await _ in connection.frames {}
            return false
        } catch {
            return error.code == .refusedByPeer
        }
    }

    private func forget() {
        do {
            try node.trust.forgetHousehold()
        } catch {
            node.logger.error("the household cannot be forgotten", metadata: ["reason": "\(error.message)"])
        }
    }
}
