import Foundation
import GRDB
import KithStore
import KithSync
import KithTrust
import Logging
import Synchronization

/// Keeps a store in step with the trusted devices around it.
///
///     let node = Node(store: store, key: key, trust: trust, configuration: NodeConfiguration(app: "org.example.pantry"))
///     try await node.run()
///
/// It needs neither a network nor a peer nor a daemon to start. While no device is trusted it neither listens nor announces
/// itself; when one is, it finds it by mDNS or at its address, and catches up by itself whenever one appears.
///
/// An app that goes to the background cancels the task of ``run()``, and calls it again when it is back, as often as it likes.
public final class Node: Sendable {
    /// The status as it is now, and then every change of it; who reads slowly gets the newest.
    ///
    /// Each access is a reader of its own: any number may read, from whenever on, and none notices that another one ends. It goes on
    /// when the node stops, which is a status, too, and runs again; it ends when the reader's task is cancelled, or with the node object.
    public var statuses: AsyncStream<NodeStatus> { board.statuses }

    /// What the node does, from now on: setup, discovery, connections, rows that come and go, conflicts, garbage.
    ///
    ///     for await event in node.events where event.kind == .receive {
    ///         if event.phase == .ended { show("\(event.rows) rows came in \(event.elapsed)") }
    ///     }
    ///
    /// Each access is a reader of its own, as with ``statuses``; one that is slow misses the oldest of more than 256 events that wait. The
    /// same goes to the metrics and the tracer that the app has bootstrapped, if it has any, as docs/app.md says.
    public var events: AsyncStream<NodeEvent> { happenings.events }

    let store: SyncedDatabase
    /// Another one once it is renewed.
    var key: DeviceKey { identity.withLock { $0 } }
    let trust: TrustStore
    let configuration: NodeConfiguration
    let logger: Logger
    let hub: SessionHub
    let exchange: AttachmentExchange
    let board: StatusBoard
    let happenings = EventBoard()
    let upkeep: Upkeep
    /// Where the node listens, or will.
    let ports = PortChoice()
    /// What the store proves to peers and believes of them; `nil` until the node runs.
    let proofs = Mutex<(any ProofBook)?>(nil)
    private let isRunning = Mutex(false)
    private let identity: Mutex<DeviceKey>
    private let knownTrust: Mutex<TrustSnapshot>
    /// For whom the store speaks; `nil` until the node runs.
    private let speaker = Mutex<Speaker?>(nil)

    /// This device, in one of its memberships.
    private struct Speaker: Hashable {
        let id: DeviceID
        let roundsEnded: Int

        init(_ id: DeviceID, _ trust: TrustStore) {
            self.id = id
            roundsEnded = trust.roundsEnded(of: id)
        }
    }

    /// What of the list of devices and of the household the node has taken in.
    private struct TrustSnapshot: Hashable {
        let ownID: DeviceID
        let devices: [TrustedDevice]
        let standing: HouseholdStanding
        let household: HouseholdID?
        let digest: HouseholdMessage?

        init(_ trust: TrustStore) {
            ownID = trust.ownID
            devices = trust.devices
            standing = trust.standing
            household = trust.household?.id
            digest = trust.householdDigest
        }
    }

    /// How often the list of devices is looked at for changes by other processes.
    static let trustPollMilliseconds = 1_000

    public init(
        store: SyncedDatabase, key: DeviceKey, trust: TrustStore, configuration: NodeConfiguration,
        logger: Logger = Logger(label: "kith.node")
    ) {
        self.store = store
        identity = Mutex(key)
        self.trust = trust
        self.configuration = configuration
        self.logger = logger
        let file = URL(fileURLWithPath: store.database.path)
        let board = StatusBoard(PeerMemory(forStore: file).read())
        self.board = board
        hub = SessionHub(store) { board.obstacle($0, to: .reading) }
        upkeep = Upkeep(store, happenings, logger: logger)
        exchange = AttachmentExchange(store, logger: logger)
        knownTrust = Mutex(TrustSnapshot(trust))
        board.trust(trust)
        // A device that is paired with this one before this one listens learns the port from its status.
        if let port = configuration.port, port > 0 { board.willListen(on: port) }
    }

    /// What the node is doing now.
    public var status: NodeStatus { board.current }

    /// Runs until the task is cancelled; then closes every connection in order. It may run again after that.
    ///
    /// One node at a time runs for one database file; the others' writes are sent on by it.
    /// - Throws: ``NodeError`` if a port that was asked for is taken, or the node runs already; ``StoreError`` with code
    ///   `busy`, naming the process, if another node runs for the same file.
    public func run() async throws {
        let isFirst = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        guard isFirst else { throw NodeError(.alreadyRunning, "The node runs already. Wait until it has stopped.") }
        defer { isRunning.withLock { $0 = false } }
        let file = URL(fileURLWithPath: store.database.path)
        let isFile = store.isInFile
        let lock = try setUp(isFile)
        defer { lock?.release() }
        board.runs(true)
        defer {
            board.runs(false)
            // When all connections have ended. What cannot be kept is missing the next time, and nothing else.
            if isFile { try? PeerMemory(forStore: file).write(board.memories) }
        }
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observation = store.observeCommitNews { [hub, exchange] news in
            hub.handle(.committed(news))
            exchange.storeChanged()
            changed.yield()
        }
        // What was committed while the node did not run.
        changed.yield()
        hub.handle(.committed(.unknown))
        exchange.storeChanged()
        upkeep.trust(trust.devices)
        let end: Result<Void, any Error>
        do {
            end = .success(try await work(isFile, changes))
        } catch {
            end = .failure(error)
        }
        // Who waits for the end closes the store next.
        observation.cancel()
        await hub.isDone()
        await exchange.isDone()
        try end.get()
    }

    /// Runs all that a node does, until one part of it ends.
    private func work(_ isFile: Bool, _ changes: AsyncStream<Void>) async throws {
        let file = URL(fileURLWithPath: store.database.path)
        try await withThrowingTaskGroup { group in
            group.addTask { await self.hub.run() }
            group.addTask { await DurabilityLoop(store: self.store, hub: self.hub, board: self.board, changes: changes).run() }
            group.addTask { try await self.keepNetworking() }
            group.addTask { await self.upkeep.run() }
            if store.keepsAttachments { group.addTask { await self.exchange.run() } }
            if isFile {
                let status = StatusFile(forStore: file)
                group.addTask { await status.follow(self.board, logger: self.logger) }
                group.addTask { await status.keepFresh() }
                group.addTask { await PeerMemory(forStore: file).follow(self.board, logger: self.logger) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Takes the right to synchronise the file, and lets the store speak for this device.
    private func setUp(_ isFile: Bool) throws -> NodeLock? {
        let lock = isFile ? try store.takeNodeLock() : nil
        // Who stands by has nothing to tell.
        let setup = happenings.begin(.setup)
        do {
            try bindStore(to: key)
            setup.end()
            return lock
        } catch {
            setup.fail("\(error)")
            lock?.release()
            throw error
        }
    }

    /// Lets the store speak for this device.
    private func bindStore(to key: DeviceKey) throws {
        let book = try store.bind(to: NodeAuthority(key, trust))
        proofs.withLock { $0 = book }
        speaker.withLock { $0 = Speaker(key.id, trust) }
    }

    /// Meets the network whenever there is a device to meet.
    private func keepNetworking() async throws {
        while !Task.isCancelled {
            reloadTrust()
            if trust.standing == .left {
                try await Farewell(self).run()
            } else if trust.devices.isEmpty {
                await choosePort()
                try? await Task.sleep(for: .milliseconds(Self.trustPollMilliseconds))
            } else {
                try await Network(self).run()
            }
        }
    }

    /// A device that is paired by another process before this node listens learns the port from the status. What is free then may not be
    /// when the node begins to listen; then other devices find it by mDNS alone.
    private func choosePort() async {
        guard !configuration.isInProcess, board.current.futurePort == nil, let port = try? await port() else { return }
        board.willListen(on: port)
    }

    /// Takes in the list of devices and the household if either has changed, by this process or another. Returns whether it has.
    @discardableResult
    func reloadTrust() -> Bool {
        do {
            _ = try trust.reloadIfChanged()
        } catch {
            logger.error("the list of devices cannot be read", metadata: ["reason": "\(error.message)"])
        }
        let snapshot = TrustSnapshot(trust)
        let isChanged = knownTrust.withLock { known in
            defer { known = snapshot }
            return known != snapshot
        }
        // Before anything that takes time.
        if isChanged { hub.cutUntrusted(by: trust) }
        let isNew = adoptKey()
        if isChanged || isNew {
            board.trust(trust)
            upkeep.trust(snapshot.devices)
        }
        if let book = proofs.withLock({ $0 }) {
            board.awaitsProofs(of: book.isComplete ? nil : book.silencing.compactMap(DeviceID.init(bytes:)))
        }
        return isChanged || isNew
    }

    /// Goes on under the new key of this device, or in its new membership. Returns whether it does so from now on; what fails is tried
    /// again with the next look at the list of devices.
    private func adoptKey() -> Bool {
        let current = speaker.withLock { $0 }
        guard let current, current != Speaker(trust.ownID, trust) else { return false }
        do {
            let new = try trust.key()
            try bindStore(to: new)
            identity.withLock { $0 = new }
            return true
        } catch {
            logger.error("the store cannot speak for this device under its new key", metadata: ["reason": "\(error)"])
            return false
        }
    }
}
