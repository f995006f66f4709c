import Foundation
import GRDB
import Kith
import KithCausality
import Logging

/// A node with a store, a key and a list of devices of its own, in a folder that goes with it.
final class TestNode {
    let folder: URL
    private let app: AppID
    let database: DatabasePool
    let store: SyncedDatabase
    let key: DeviceKey
    let trust: TrustStore
    private(set) var node: Node
    private var task: Task<Void, any Error>?

    static let noteSQL = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '')"

    init(
        sql: String = noteSQL, tables: [TrackedTable] = [TrackedTable("note")], options: SyncedDatabase.Options = SyncedDatabase.Options(),
        app: AppID = "test", withKeyOf other: TestNode? = nil
    ) throws {
        self.app = app
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-node-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder.appending(path: "store"), withIntermediateDirectories: true)
        database = try DatabasePool(path: folder.appending(path: "store/test.sqlite").path)
        try database.write { try $0.execute(sql: sql) }
        store = try SyncedDatabase(database, tables: tables, options: options)
        if let other {
            try FileManager.default.copyItem(at: other.folder.appending(path: "keys"), to: folder.appending(path: "keys"))
        }
        key = try DeviceKey.loadOrCreate(in: folder.appending(path: "keys"))
        trust = try TrustStore(in: folder.appending(path: "keys"), ownID: key.id)
        node = Self.makeNode(store, key, trust, app)
    }

    deinit {
        task?.cancel()
        store.close()
        try? database.close()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func makeNode(_ store: SyncedDatabase, _ key: DeviceKey, _ trust: TrustStore, _ app: AppID, port: Int = 0) -> Node {
        var configuration = NodeConfiguration(app: app)
        configuration.port = port
        configuration.usesDiscovery = false
        return Node(store: store, key: key, trust: trust, configuration: configuration)
    }

    /// Lets this node trust `other`, and dial it if it has an address.
    func trust(_ other: TestNode, port: Int? = nil) throws {
        let addresses = try port.map { [try PeerAddress(host: "127.0.0.1", port: $0)] } ?? []
        try trust.add(TrustedDevice(id: other.key.id, name: "peer", addresses: addresses, added: Date(timeIntervalSince1970: 0)))
    }

    /// Starts the node. A node that was stopped starts anew.
    func start(port: Int = 0) {
        node = Self.makeNode(store, key, trust, app, port: port)
        task = Task { [node] in try await node.run() }
    }

    func stop() async {
        task?.cancel()
        _ = await task?.result
    }

    /// The port, once the node listens.
    func port() async throws -> Int {
        try await until { self.node.status.port != nil }
        return node.status.port ?? 0
    }

    // MARK: Notes

    func add(_ title: String) throws {
        var generator = SystemRandomNumberGenerator()
        let id = Data(RowID.random(using: &generator).bytes)
        try database.write { try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [id, title]) }
    }

    func titles() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") }
    }

    /// Waits until `condition` holds; fails after half a minute.
    func until(_ condition: () throws -> Bool) async throws {
        for _ in 0..<24_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TimedOut(status: node.status)
    }

    struct TimedOut: Error {
        let status: NodeStatus
    }
}
