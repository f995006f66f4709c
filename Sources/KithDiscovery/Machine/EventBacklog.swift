/// Events that wait for a slow reader, summed up name by name so that they never take more room than there are names.
struct EventBacklog: Sendable {
    private var pending: [InstanceName: DiscoveryEvent] = [:]
    private var order: [InstanceName] = []
    private var status: DiscoveryStatus?

    var count: Int { pending.count + (status == nil ? 0 : 1) }

    mutating func append(_ event: DiscoveryEvent) {
        switch event {
        case .status(let status): self.status = status
        case .appeared(let announcement), .changed(let announcement): append(event, about: announcement.name)
        case .disappeared(let name): append(event, about: name)
        }
    }

    /// A status comes first, then names in the order in which they were first spoken of.
    mutating func popFirst() -> DiscoveryEvent? {
        if let status {
            self.status = nil
            return .status(status)
        }
        guard !order.isEmpty else { return nil }
        return pending.removeValue(forKey: order.removeFirst())
    }

    private mutating func append(_ event: DiscoveryEvent, about name: InstanceName) {
        guard let earlier = pending[name] else {
            pending[name] = event
            order.append(name)
            return
        }
        switch (earlier, event) {
        case (.appeared, .disappeared):
            pending[name] = nil
            order.removeAll { $0 == name }
        case (.appeared, .changed(let announcement)): pending[name] = .appeared(announcement)
        case (.disappeared, .appeared(let announcement)): pending[name] = .changed(announcement)
        default: pending[name] = event
        }
    }
}
