import KithStore
import KithSync
import KithTrust
import Synchronization

/// Gathers what is known of a node and publishes its status whenever it changes.
final class StatusBoard: Sendable {
    /// What may fail for a while, and keeps the node from working as long as it does.
    enum Work: Hashable, Comparable {
        /// Reading what is to be told to others.
        case reading
        /// Bringing to the disk what was committed.
        case flushing
        /// A session with this device: reading what it is told, or writing what it tells.
        case exchanging(DeviceID)
    }

    /// How long a device that joins the household may take to answer again.
    static let returnMilliseconds: Int64 = 10_000
    /// How soon what has failed is tried again.
    static let retryMilliseconds = 5_000

    private struct State {
        var facts = NodeStatus.Facts()
        var obstacles: [Work: String] = [:]
        var devices: [TrustedDevice] = []
        var unproven: [DeviceID]?
        var peers: [DeviceID: NodeStatus.Peer] = [:]
        /// Which session of a device counts: what one says that gave way to it may come later.
        var sessions: [DeviceID: SessionRouter.SessionID] = [:]
        /// Devices that have answered and that this node dials again shortly, with the time until which it would be false to call them out
        /// of reach.
        var returning: [DeviceID: Instant] = [:]
        /// Of the process that runs the node of this file, while this one stands by.
        var elsewhere: NodeStatus?
        var published: NodeStatus?
    }

    private let state: Mutex<State>
    private let readers = Broadcast<NodeStatus>()

    /// - Parameter memories: what is kept of the devices, by their ids.
    init(_ memories: [String: PeerMemory.Peer] = [:]) {
        var state = State()
        state.facts.isRunning = false
        for (id, memory) in memories {
            guard let device = DeviceID(id) else { continue }
            state.peers[device] = NodeStatus.Peer(deviceID: id, memory)
        }
        self.state = Mutex(state)
    }

    var current: NodeStatus { state.withLock { Self.status(of: $0) } }

    /// What is true now, and every change from now on, for one reader. It ends with the reader or with the board.
    var statuses: AsyncStream<NodeStatus> {
        // A reader that is slow needs only what is true now.
        state.withLock { state in
            let status = Self.status(of: state)
            if state.published == nil { state.published = status }
            return readers.stream(beginningWith: status, bufferedMax: 1)
        }
    }

    /// How many read now.
    var readerCount: Int { readers.readerCount }

    /// What is to be kept of the devices.
    var memories: [String: PeerMemory.Peer] {
        state.withLock { state in
            Dictionary(uniqueKeysWithValues: state.peers.map { ($0.key.description, PeerMemory.Peer($0.value)) })
        }
    }

    // MARK: What is known

    func runs(_ isRunning: Bool) {
        update { state in
            state.facts.isRunning = isRunning
            state.returning = [:]
            if !isRunning { return }
            state.elsewhere = nil
            state.facts.runsElsewhere = false
            state.facts.failure = nil
        }
    }

    /// Another process runs the node of this file, and says this of it, if it has said anything yet.
    func standsBy(_ status: NodeStatus?) {
        update { state in
            state.elsewhere = status
            state.facts.runsElsewhere = true
        }
    }

    /// The node is not to run any more.
    func rests() {
        update { state in
            state.elsewhere = nil
            state.facts.runsElsewhere = false
            state.facts.failure = nil
        }
    }

    /// The node stopped by itself, and is tried again.
    func cannotRun(_ reason: String) {
        update { $0.facts.failure = reason }
    }

    func trust(_ trust: TrustStore) {
        let devices = trust.devices
        update { state in
            state.devices = devices
            state.facts.standing = trust.standing
            state.facts.household = trust.household?.id.description
            let ids = Set(devices.map(\.id))
            state.peers = state.peers.filter { ids.contains($0.key) }
            state.returning = state.returning.filter { ids.contains($0.key) }
            state.obstacles = state.obstacles.filter { work, _ in
                if case .exchanging(let device) = work { ids.contains(device) } else { true }
            }
        }
    }

    /// On which port the node will listen, once it trusts a device.
    func willListen(on port: Int) {
        update { $0.facts.futurePort = port }
    }

    func listens(on port: Int?) {
        update { $0.facts.port = port }
    }

    func mdns(_ sentence: String, fails: Bool) {
        update { state in
            state.facts.mdns = sentence
            state.facts.mdnsFails = fails
        }
    }

    /// The machine has a way out, or these cards lead nowhere.
    func network(isConnected: Bool, cut: [String]) {
        update { state in
            state.facts.isOffline = !isConnected
            state.facts.cutLinks = cut
        }
    }

    /// Another machine uses this device's key; `nil` if nothing says so.
    func twin(at host: String?) {
        guard state.withLock({ $0.facts.twin != host }) else { return }
        update { $0.facts.twin = host }
    }

    /// Two machines use the key of `device`.
    func twins(_ device: DeviceID, at hosts: [String]?) {
        guard state.withLock({ $0.peers[device]?.twins != hosts }) else { return }
        update(device) { $0.twins = hosts }
    }

    func dials(_ isDialling: Bool) {
        update { $0.facts.isDialling = isDialling }
    }

    /// Something keeps the node from this work, or no longer does.
    func obstacle(_ sentence: String?, to work: Work) {
        update { $0.obstacles[work] = sentence }
    }

    /// The store holds commits of these devices that nobody has signed, and so sends nothing; `nil` if it can prove all that it holds.
    func awaitsProofs(of devices: [DeviceID]?) {
        guard state.withLock({ $0.unproven != devices }) else { return }
        update { $0.unproven = devices }
    }

    func connected(_ device: DeviceID, by session: SessionRouter.SessionID, address: PeerAddress?) {
        state.withLock { state in
            state.sessions[device] = session
            state.returning[device] = nil
        }
        update(device) { peer in
            peer.state = .connected
            peer.address = address?.description ?? peer.address
            peer.isInSync = false
            peer.forgetError()
        }
    }

    /// Returns whether more rows were mended than before.
    func progress(_ device: DeviceID, _ status: PeerStatus, of session: SessionRouter.SessionID) -> Bool {
        var isMended = false
        update(device, by: session) { peer in
            isMended = status.rowsMended > peer.rowsMended ?? 0
            peer.software = status.software
            peer.isRefused = nil
            peer.rowsToSend = status.rowsToSend
            peer.rowsToReceive = status.rowsToReceive
            if status.isInSync, !peer.isInSync { peer.lastSyncMilliseconds = MonotonicClock.wallClockMilliseconds }
            peer.isInSync = status.isInSync
            peer.clockOffsetMilliseconds = status.clockOffsetMilliseconds
            peer.sending = status.sending
            peer.receiving = status.receiving
            peer.isIdentical = status.isIdentical
            peer.rowsMended = status.rowsMended > 0 ? status.rowsMended : nil
            peer.mended = status.mended.isEmpty ? nil : status.mended.map(\.tableAndID)
            peer.withheld = status.withheld.isEmpty ? nil : status.withheld.map(\.tableAndID)
        }
        // Rows were written, or there are none to be written.
        let works = status.isInSync || status.receiving.map { $0.rows > 0 } == true
        if works, state.withLock({ $0.obstacles[.exchanging(device)] != nil }) { obstacle(nil, to: .exchanging(device)) }
        return isMended
    }

    /// - Parameters:
    ///   - reason: what went wrong; `nil` if nothing did.
    ///   - isRefused: whether it does not trust this device.
    ///   - obstacle: what this store could not do in the session, which stays true until more is known.
    ///   - returnsAt: if this node dials it again shortly, and expects it to answer: until when it is to have answered.
    func disconnected(
        _ device: DeviceID, _ reason: String?, isRefused: Bool = false, obstacle: String? = nil, returnsAt end: Instant? = nil
    ) {
        state.withLock { state in
            state.sessions[device] = nil
            if let end { state.returning[device] = end }
            state.obstacles[.exchanging(device)] = obstacle
        }
        update(device) { peer in
            peer.state = .notReachable
            peer.isInSync = false
            peer.rowsToSend = 0
            peer.rowsToReceive = 0
            peer.sending = nil
            peer.receiving = nil
            if let reason { peer.note(reason) }
            peer.isRefused = isRefused ? true : nil
        }
    }

    /// Devices that have not come back in time are out of reach.
    func passTime(_ now: Instant) {
        guard state.withLock({ !$0.returning.isEmpty }) else { return }
        update { state in state.returning = state.returning.filter { $0.value > now } }
    }

    func failed(_ device: DeviceID, _ reason: String, isRefused: Bool = false) {
        // Whether the store would do it now shows when the device is met again.
        state.withLock { state in
            state.obstacles[.exchanging(device)] = nil
            state.returning[device] = nil
        }
        update(device) { peer in
            peer.note(reason)
            peer.isRefused = isRefused ? true : nil
        }
    }

    // MARK: Publishing

    /// - Parameter session: who says so, if it is one; it is not listened to if it gave way to another.
    private func update(
        _ device: DeviceID, by session: SessionRouter.SessionID? = nil, _ change: (inout NodeStatus.Peer) -> Void
    ) {
        update { state in
            if let session, state.sessions[device] != session { return }
            var peer = state.peers[device] ?? NodeStatus.Peer(deviceID: device.description, name: "")
            change(&peer)
            state.peers[device] = peer
        }
    }

    private func update(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let status = Self.status(of: state)
            guard status != state.published else { return }
            state.published = status
            readers.add(status)
        }
        readers.tell()
    }

    private static func status(of state: State) -> NodeStatus {
        if !state.facts.isRunning, let elsewhere = state.elsewhere { return elsewhere }
        var facts = state.facts
        facts.isDialling = facts.isDialling || !state.returning.isEmpty
        facts.obstacle = state.obstacles.min { $0.key < $1.key }?.value
        let names = DeviceNames(state.devices)
        facts.peers = state.devices.sorted { $0.id < $1.id }.map { device in
            var peer = state.peers[device.id] ?? NodeStatus.Peer(deviceID: device.id.description, name: "")
            peer.name = device.name.isEmpty ? "" : names[device.id]
            return peer
        }
        facts.unproven = state.unproven.map { devices in
            devices.sorted().map { names[$0] }
        }
        return NodeStatus(facts)
    }
}

extension NodeStatus.Peer {
    fileprivate init(deviceID: String, _ memory: PeerMemory.Peer) {
        self.init(deviceID: deviceID, name: "")
        lastSyncMilliseconds = memory.lastSyncMilliseconds
        lastError = memory.lastError
        lastErrorMilliseconds = memory.lastErrorMilliseconds
        isErrorFromBefore = memory.lastError == nil ? nil : true
        address = memory.address
        software = memory.software
    }

    /// An error that is the same again began when it was first heard of.
    fileprivate mutating func note(_ error: String) {
        if lastError != error { lastErrorMilliseconds = MonotonicClock.wallClockMilliseconds }
        lastError = error
        isErrorFromBefore = nil
    }

    fileprivate mutating func forgetError() {
        (lastError, lastErrorMilliseconds, isErrorFromBefore) = (nil, nil, nil)
    }
}

extension PeerMemory.Peer {
    fileprivate init(_ peer: NodeStatus.Peer) {
        self.init(
            lastSyncMilliseconds: peer.lastSyncMilliseconds, lastError: peer.lastError, lastErrorMilliseconds: peer.lastErrorMilliseconds,
            address: peer.address, software: peer.software)
    }
}

extension SlicePosition {
    /// The row as people are told of it.
    var tableAndID: String { "\(String(decoding: table, as: UTF8.self)) \(row)" }
}
