@testable import KithDiscovery

/// Drives a machine against an mDNS daemon that exists only as the list of what was asked of it, in virtual time.
final class SimulatedDaemon {
    typealias OperationID = DiscoveryMachine.OperationID

    private(set) var machine: DiscoveryMachine
    private(set) var now = ContinuousClock.now
    /// What the daemon was asked for and not released from.
    private(set) var open: [OperationID: ServiceRequest] = [:]
    private(set) var openMax = 0
    private(set) var updates: [TXTRecord] = []
    /// Events since they were taken last.
    private var events: [DiscoveryEvent] = []
    /// What it reports as soon as it is asked to browse.
    var announced: [Sighting] = []
    /// While it is down, nothing can be opened.
    var isDown = false
    private(set) var attemptsWhileDown = 0

    init(limits: DiscoveryLimits = DiscoveryLimits()) { machine = DiscoveryMachine(limits: limits) }

    func send(_ input: DiscoveryMachine.Input) {
        var inputs = [input][...]
        while let input = inputs.popFirst() {
            for effect in machine.handle(input, now: now) { inputs += perform(effect) }
        }
        openMax = max(openMax, open.count)
    }

    private func perform(_ effect: DiscoveryMachine.Effect) -> [DiscoveryMachine.Input] {
        switch effect {
        case .open(let id, _) where isDown:
            attemptsWhileDown += 1
            return [.reply(id, .failed(code: -65563))]
        case .open(let id, let request):
            open[id] = request
            let reports = request == .browse ? announced : []
            return [.opened(id)] + reports.map { .reply(id, .sighted($0, isPresent: true)) }
        case .update(_, let attributes): updates.append(attributes)
        case .close(let id): open[id] = nil
        case .emit(let event): events.append(event)
        }
        return []
    }

    /// Lets time pass, waking the machine whenever it asks for it.
    func advance(by duration: Duration) {
        let end = now + duration
        while let wake = machine.nextWake, wake <= end {
            now = max(now, wake)
            send(.wake)
        }
        now = end
    }

    func takeEvents() -> [DiscoveryEvent] {
        defer { events = [] }
        return events
    }

    /// Every operation of the daemon fails, as when it is killed.
    func die() {
        isDown = true
        for id in operations({ _ in true }) { send(.reply(id, .failed(code: -65563))) }
    }

    func sight(_ sighting: Sighting, isPresent: Bool = true) {
        for id in operations({ $0 == .browse }) { send(.reply(id, .sighted(sighting, isPresent: isPresent))) }
    }

    /// Answers the open look-up of a sighting, if there is one.
    func resolve(_ sighting: Sighting, host: String, port: UInt16 = 4747, text: TXTRecord = TXTRecord(), to addresses: [HostAddress]) {
        for id in operations({ $0 == .resolve(sighting) }) { send(.reply(id, .resolved(host: host, port: port, text: text.wire))) }
        for address in addresses { report(address, of: host, interface: sighting.interface) }
    }

    func report(_ address: HostAddress, of host: String, interface: UInt32, isPresent: Bool = true) {
        let family = address.bytes.count == 4 ? AddressFamily.ipv4 : .ipv6
        for id in operations({ $0 == .addresses(host: host, family: family, interface: interface) }) {
            send(.reply(id, .address(address, isPresent: isPresent)))
        }
    }

    func isOpen(_ request: ServiceRequest) -> Bool { open.values.contains(request) }

    func operations(_ isWanted: (ServiceRequest) -> Bool) -> [OperationID] {
        open.filter { isWanted($0.value) }.keys.sorted { $0.number < $1.number }
    }
}

func sighting(_ name: String, interface: UInt32 = 2) throws(TestNameError) -> Sighting {
    guard let name = InstanceName(bytes: name.utf8) else { throw TestNameError() }
    return Sighting(name: name, interface: interface)
}

func address(_ bytes: UInt8...) throws(TestNameError) -> HostAddress {
    guard let address = HostAddress(bytes: bytes, interface: 2) else { throw TestNameError() }
    return address
}

struct TestNameError: Error {}
