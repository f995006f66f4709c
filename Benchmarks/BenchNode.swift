import Foundation
import GRDB
import Kith

/// A node over a notes database, on loopback.
final class BenchNode {
    let notes: NotesDatabase
    let store: SyncedDatabase
    let key: DeviceKey
    let trust: TrustStore
    let node: Node
    private var task: Task<Void, any Error>?

    struct NotReady: Error {}

    init(in folder: URL? = nil, port: Int = 0) throws {
        notes = try NotesDatabase(tracked: true, in: folder)
        guard let store = notes.store else { throw NotReady() }
        self.store = store
        key = try DeviceKey.loadOrCreate(in: notes.folder.appending(path: "keys"))
        trust = try TrustStore(in: notes.folder.appending(path: "keys"), ownID: key.id)
        var configuration = NodeConfiguration(app: "kith.bench")
        configuration.port = port
        configuration.usesDiscovery = false
        node = Node(store: store, key: key, trust: trust, configuration: configuration)
    }

    func trust(_ other: BenchNode, port: Int?) throws {
        let addresses = try port.map { [try PeerAddress(host: "127.0.0.1", port: $0)] } ?? []
        try trust.add(TrustedDevice(id: other.key.id, name: "peer", addresses: addresses, added: Date()))
    }

    func start() {
        task = Task { [node] in try await node.run() }
    }

    func stop() async {
        task?.cancel()
        _ = await task?.result
    }

    /// Starts both and connects `other` to this one.
    func connect(_ other: BenchNode) async throws {
        try trust(other, port: nil)
        start()
        while node.status.port == nil { try await Task.sleep(for: .milliseconds(1)) }
        try other.trust(self, port: node.status.port)
        other.start()
    }

    func count() throws -> Int {
        try notes.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } ?? 0
    }
}
