import KithDiscovery
import KithTransport
import KithTrust

extension Pairing {
    func listen() async throws(NodeError) -> Int {
        try await transport.listen(on: configuration.port, preferring: PairingConfiguration.preferredPort)
    }

    func accept() async {
        await withDiscardingTaskGroup { group in
            for await connection in transport.incoming {
                group.addTask { await self.take(connection) }
            }
        }
    }

    /// Dials whatever is due, until the task is cancelled.
    func dial() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                if mayDial {
                    for (target, addresses) in targets.start(now: MonotonicClock.now) {
                        group.addTask { await self.dial(target, at: addresses) }
                    }
                }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private func dial(_ target: PairingTargets.Key, at addresses: [PeerAddress]) async {
        var failure: TransportError?
        for address in addresses where mayDial {
            do throws(TransportError) {
                let connection = try await transport.dial(host: address.host, port: address.port, timeoutMilliseconds: 3_000)
                failure = nil
                await take(connection)
                break
            } catch {
                failure = error
            }
        }
        if target == .address, let failure, failure.code != .cancelled { report(.notReachable(failure.message)) }
        targets.ended(target, now: MonotonicClock.now)
    }

    /// Notes who announces that it waits to be paired in the same way, for the same app.
    func follow(_ discovery: Discovery) async {
        for await event in discovery.events {
            switch event {
            case .appeared(let announcement), .changed(let announcement):
                guard announcement.attributes[Self.attribute] == configuration.method.attribute,
                    AppMark.isMark(announcement.attributes[AppMark.attribute], of: configuration.app)
                else { continue }
                let addresses = announcement.addresses.compactMap {
                    try? PeerAddress(host: $0.description, port: Int(announcement.port))
                }
                targets.found(announcement.name, addresses, now: MonotonicClock.now)
            case .disappeared(let name): targets.lost(name)
            case .status(.unavailable(let error)): report(.noDiscovery("\(error)"))
            case .status(.running): break
            }
        }
    }
}
