import KithCausality

/// What a session is to hear when it gets to it. However long that takes, little waits: the newest knowledge of each kind, one relay for
/// each set of replicas that are served together, and what was said to or about the household and the session itself.
struct SessionInbox: Hashable, Sendable {
    private var inputs: [PeerSession.Input] = []

    var count: Int { inputs.count }

    mutating func add(_ input: PeerSession.Input) {
        switch input {
        case .committed:
            // It includes what the earlier one says, and a relay that has come since is told before it.
            remove { if case .committed = $0 { true } else { false } }
            inputs.append(input)
        case .durable(let vector):
            var vector = vector
            for case .durable(let earlier) in inputs { vector.join(earlier) }
            remove { if case .durable = $0 { true } else { false } }
            inputs.append(.durable(vector))
        case .relayed(let relay):
            if let index = inputs.firstIndex(where: { $0.isRelay(to: relay.replicas) }), case .relayed(let earlier) = inputs[index] {
                inputs[index] = .relayed(Relay(vector: earlier.vector.joined(with: relay.vector), replicas: relay.replicas))
            } else {
                inputs.append(input)
            }
        case .neighbours:
            if let index = inputs.firstIndex(where: { if case .neighbours = $0 { true } else { false } }) {
                inputs[index] = input
            } else {
                inputs.append(input)
            }
        case .mended where inputs.contains(.mended): break
        default: inputs.append(input)
        }
    }

    mutating func take() -> [PeerSession.Input] {
        defer { inputs = [] }
        return inputs
    }

    private mutating func remove(_ isObsolete: (PeerSession.Input) -> Bool) {
        if let index = inputs.firstIndex(where: isObsolete) { inputs.remove(at: index) }
    }
}

extension PeerSession.Input {
    fileprivate func isRelay(to replicas: [ReplicaID]) -> Bool {
        if case .relayed(let relay) = self { relay.replicas == replicas } else { false }
    }
}
