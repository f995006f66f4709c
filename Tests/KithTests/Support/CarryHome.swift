import Foundation
import GRDB
import KithStore
import KithSync
import KithTrust
import TestSupport

@testable import Kith

/// A machine that meets the others of its household by files alone.
struct CarryHome {
    static let noteSQL = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', file TEXT, picture BLOB)
        """

    let node: TestNode
    let app: AppID

    init(app: AppID = "test", options: SyncedDatabase.Options = SyncedDatabase.Options()) throws {
        self.app = app
        node = try TestNode(sql: Self.noteSQL, tables: [TrackedTable("note", attachments: ["file"])], options: options, app: app)
    }

    var carrier: Carrier { carrier(on: node.store) }
    var trust: TrustStore { node.trust }
    var store: SyncedDatabase { node.store }

    /// The same for another store of this device.
    func carrier(on store: SyncedDatabase) -> Carrier {
        Carrier(store: store, key: node.key, trust: node.trust, app: app, software: "test")
    }

    /// The store as it is now, without the bytes of attachments, to be put back later.
    func copyStore(to folder: TemporaryFolder, as name: String = "copy") throws -> DatabasePool {
        let path = folder.file("\(name).sqlite")
        let copy = try DatabaseQueue(path: path)
        try node.database.backup(to: copy)
        try copy.close()
        return try DatabasePool(path: path)
    }

    static func store(in database: DatabasePool) throws -> SyncedDatabase {
        try SyncedDatabase(database, tables: [TrackedTable("note", attachments: ["file"])])
    }

    /// Machines that were paired once, and have told each other nothing else.
    static func household(
        _ count: Int, options: (Int) -> SyncedDatabase.Options = { _ in SyncedDatabase.Options() }
    ) throws -> [CarryHome] {
        let homes = try (0..<count).map { try CarryHome(options: options($0)) }
        for (index, home) in homes.enumerated().dropFirst() { try homes[0].admit(home, as: "home\(index)") }
        for home in homes.dropFirst() { try home.hear(homes[0]) }
        return homes
    }

    /// Makes another machine a member.
    func admit(_ other: CarryHome, as name: String) throws {
        let device = try TrustedDevice(id: other.node.key.id, name: name, addresses: [], added: Date(timeIntervalSince1970: 0))
        try trust.admit(device, founding: Household.founded(as: "home0", by: node.key))
        let sponsor = try TrustedDevice(id: node.key.id, name: "home0", addresses: [], added: Date(timeIntervalSince1970: 0))
        if other.trust.standing != .member, let id = trust.household?.id { try other.trust.join(id, through: sponsor) }
    }

    /// What both say to each other of the household when they meet.
    func hear(_ other: CarryHome) throws {
        for message in other.trust.householdMessages { _ = try trust.answer(message) }
    }

    func add(_ title: String, file: AttachmentID? = nil) throws {
        var generator = SystemRandomNumberGenerator()
        let id = Data(RowID.random(using: &generator).bytes)
        try node.database.write {
            try $0.execute(sql: "INSERT INTO note (id, title, file) VALUES (?, ?, ?)", arguments: [id, title, file?.description])
        }
    }

    func titles() throws -> [String] { try node.titles() }

    @discardableResult
    func carryOut(_ place: String, to target: CarryHome? = nil, all: Bool = false) throws -> Carrier.Written {
        var wish = Carrier.Wish()
        wish.target = target?.node.key.id
        wish.isWhole = all
        return try carrier.write(to: place, wish)
    }

    @discardableResult
    func carryIn(_ place: String) throws -> [Carrier.Outcome] { try carrier.read(place).map(\.outcome) }

    /// All that may change by reading a file: rows, what is known, members and their words, the household.
    func state() throws -> [String] {
        let members = try store.members().map { "\($0.device) \(String(describing: $0.replica)) \($0.durable)" }
        return try titles() + ["\(try store.vector())", "\(trust.devices.map(\.id))", "\(String(describing: trust.householdDigest))"]
            + members
    }
}
