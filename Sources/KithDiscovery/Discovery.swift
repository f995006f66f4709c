import Dispatch
import Logging

/// Announces this node on the local network and finds others, by mDNS and DNS-SD (RFC 6762, RFC 6763).
///
/// ```swift
/// let discovery = Discovery(logger: logger)
/// await discovery.announce(Advertisement(port: 4747))
/// async let running: Void = discovery.run()
/// for await event in discovery.events {
///     if case .appeared(let announcement) = event { dial(announcement) }
/// }
/// ```
///
/// Whatever it finds is a hint: anybody can announce anything. Who answers at an address is for the connection to prove. A machine
/// without mDNS is no error: the status says so, and changes by itself when that changes.
package actor Discovery {
    /// What is found and lost. For one reader, from before `run` to its end; a slow reader gets the sum of what it missed.
    package nonisolated let events: AsyncStream<DiscoveryEvent>

    private let executor = QueueExecutor(label: "kith.discovery")
    private let channel: EventChannel
    private let logger: Logger
    private var machine: DiscoveryMachine
    private var operations: [DiscoveryMachine.OperationID: ServiceOperation] = [:]
    private var timer: (any DispatchSourceTimer)?
    private var armedFor: ContinuousClock.Instant?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init(limits: DiscoveryLimits = DiscoveryLimits(), logger: Logger) {
        let channel = EventChannel()
        self.channel = channel
        self.logger = logger
        machine = DiscoveryMachine(limits: limits)
        events = AsyncStream { await channel.next() }
    }

    /// Announces and browses until the task is cancelled, then says goodbye and ends the events. To be called once.
    package func run() async {
        perform(.start)
        let untilCancelled = AsyncStream.makeStream(of: Never.self)
        for await _ in untilCancelled.stream {}
        perform(.stop)
        channel.finish()
    }

    /// What this node says about itself from now on. With the same name and port as before only the attributes are replaced, without a pause.
    package func announce(_ advertisement: Advertisement) { perform(.announce(advertisement)) }

    /// Keeps a name that proved to be of use from being crowded out by a flood of others, until it disappears or this is taken back.
    package func keep(_ name: InstanceName, _ isKept: Bool = true) { perform(.keep(name, isKept)) }

    // MARK: Performing what the machine asks for

    private func perform(_ input: DiscoveryMachine.Input) {
        var inputs = [input][...]
        while let input = inputs.popFirst() {
            for effect in machine.handle(input, now: .now) { inputs += perform(effect) }
        }
        armTimer()
    }

    /// - Returns: what the machine must hear in answer.
    private func perform(_ effect: DiscoveryMachine.Effect) -> [DiscoveryMachine.Input] {
        switch effect {
        case .open(let id, let request): return open(id, request)
        case .update(let id, let attributes):
            do throws(DaemonFailure) { try operations[id]?.update(attributes) } catch { return [.reply(id, .failed(code: error.code))] }
        case .close(let id): operations.removeValue(forKey: id)?.cancel()
        case .emit(let event):
            log(event)
            channel.send(event)
        }
        return []
    }

    private func open(_ id: DiscoveryMachine.OperationID, _ request: ServiceRequest) -> [DiscoveryMachine.Input] {
        do throws(DaemonFailure) {
            let operation = try ServiceOperation(request, queue: executor.queue) { [weak self] in
                self?.assumeIsolated { $0.receive(id) }
            }
            operations[id] = operation
            return [.opened(id)] + operation.drain().map { .reply(id, $0) }
        } catch {
            return [.reply(id, .failed(code: error.code))]
        }
    }

    private func receive(_ id: DiscoveryMachine.OperationID) {
        for reply in operations[id]?.receive() ?? [] { perform(.reply(id, reply)) }
    }

    private func armTimer() {
        guard machine.nextWake != armedFor else { return }
        armedFor = machine.nextWake
        timer?.cancel()
        timer = nil
        guard let armedFor else { return }
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.setEventHandler { [weak self] in self?.assumeIsolated { $0.wake() } }
        // Rounded up, so that it is never too early.
        let milliseconds = (armedFor - .now) / .milliseconds(1)
        timer.schedule(deadline: .now() + .milliseconds(Int(max(0, milliseconds)) + 1))
        timer.resume()
        self.timer = timer
    }

    private func wake() {
        armedFor = nil
        perform(.wake)
    }

    private func log(_ event: DiscoveryEvent) {
        switch event {
        case .status(.running): logger.debug("mDNS is running")
        case .status(.unavailable(let error)): logger.notice("mDNS is not available", metadata: ["reason": "\(error)"])
        case .appeared(let announcement), .changed(let announcement):
            logger.debug("a node is announced", metadata: ["name": "\(announcement.name)", "addresses": "\(announcement.addresses)"])
        case .disappeared(let name): logger.debug("a node is no longer announced", metadata: ["name": "\(name)"])
        }
    }
}
