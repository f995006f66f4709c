import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithTrust
import Testing

@testable import Kith

/// The risk: something is called safe that only this device has.
@Suite struct SafetyTests {
    private func device(_ node: TestNode, _ name: String, port: Int? = nil) throws -> TrustedDevice {
        let addresses = try port.map { [try PeerAddress(host: "127.0.0.1", port: $0)] } ?? []
        return try TrustedDevice(id: node.key.id, name: name, addresses: addresses, added: Date(timeIntervalSince1970: 0))
    }

    private func idOfNote1(_ node: TestNode) throws -> Data? {
        try node.database.read { try Data.fetchOne($0, sql: "SELECT id FROM note WHERE title = 'note 1'") }
    }

    private func change(_ node: TestNode, _ id: Data) throws {
        try node.database.write { try $0.execute(sql: "UPDATE note SET title = 'changed' WHERE id = ?", arguments: [id]) }
    }

    @Test func `only devices that said that they hold it count`() async throws {
        let (a, b, c) = (try TestNode(), try TestNode(), try TestNode())
        #expect(try a.store.safety(among: []).sentence == "Nothing is written here yet.")
        try a.trust.add(device(b, "kitchen"))
        try a.trust.add(device(c, "phone"))
        for index in 0..<3 { try a.add("note \(index)") }
        try a.store.setMembers([b.key.id.bytes, c.key.id.bytes])
        #expect(try a.store.safety(among: []).sentence == "Everything is on this device alone.")
        #expect(try a.store.safety(among: a.trust.devices).sentence == "Not confirmed yet: no other device has said what it holds.")
        #expect(try a.store.safety(among: a.trust.devices).commitsHereOnly == 3)
        a.start()
        for node in [b, c] {
            try node.trust.add(device(a, "desk", port: try await a.port()))
            node.start()
        }
        try await a.until { try a.store.safety(among: a.trust.devices).names == "kitchen and phone" }
        #expect(try a.store.safety(among: a.trust.devices).sentence == "Everything you wrote is safe on: kitchen and phone.")
        #expect(try a.store.safety(among: a.trust.devices).commitsHereOnly == 0)
        // One is away and does not get what is new; the other one still holds everything.
        await c.stop()
        try await a.until { a.node.status.peers.contains { $0.name == "phone" && $0.state == .notReachable } }
        let id = try #require(try idOfNote1(a))
        try a.add("while the phone is away")
        try await a.until { try a.store.safety(among: a.trust.devices).names == "kitchen" }
        let row = try #require(RowID(bytes: Array(id)))
        #expect(try a.store.safety(ofRow: row, in: "note", among: a.trust.devices).names == "kitchen and phone")
        await b.stop()
        try await a.until { a.node.status.peers.allSatisfy { $0.state == .notReachable } }
        try change(a, id)
        #expect(try a.store.safety(among: a.trust.devices).sentence == "1 change is confirmed by no other device yet.")
        #expect(try a.store.safety(ofRow: row, in: "note", among: a.trust.devices).holders.isEmpty)
        // Who is trusted no more does not count.
        try a.trust.remove(c.key.id)
        #expect(try a.store.safety(among: a.trust.devices).devices == 1)
        await a.stop()
    }

    @Test func `the bytes of attachments count and a device has them when it says so`() async throws {
        let sql = "CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)"
        let tables = [TrackedTable("photo", attachments: ["file"])]
        var options = SyncedDatabase.Options()
        options.attachmentBytesFetched = 100
        let (a, b) = (try TestNode(sql: sql, tables: tables), try TestNode(sql: sql, tables: tables, options: options))
        try a.trust.add(device(b, "attic"))
        a.start()
        try b.trust.add(device(a, "desk", port: try await a.port()))
        b.start()
        func sentence(_ node: TestNode) throws -> String { try node.store.safety(among: node.trust.devices).sentence }
        func attach(_ count: Int) async throws -> AttachmentID {
            let id = try a.store.attach(Array(repeating: 1, count: count))
            try await a.database.write { db in
                try db.execute(sql: "INSERT INTO photo (id, file) VALUES (randomblob(16), ?)", arguments: [id.description])
            }
            return id
        }
        _ = try await attach(100)
        try await a.until { try sentence(a) == "Everything you wrote is safe on: attic." }
        // The row travels, the film does not.
        let film = try await attach(300_000)
        try await b.until { b.store.attachmentState(film) == .notFetched(sizeBytes: 300_000) }
        try await a.until { try sentence(a) == "Rows are safe on attic; 1 attachment (292 KiB) is confirmed by no other device yet." }
        let safety = try a.store.safety(among: a.trust.devices)
        #expect(safety.holders.isEmpty && safety.rowHolders.map(\.name) == ["attic"])
        #expect(safety.attachmentsHereOnly == [Safety.LooseAttachment(id: film.description, sizeBytes: 300_000)])
        // It never wrote anything, and has what the other one has.
        try await b.until { try sentence(b) == "Everything here is safe on: desk." }
        _ = try await b.store.attachment(film)
        try await a.until { try sentence(a) == "Everything you wrote is safe on: attic." }
        // What is lost there is told when it is noticed.
        guard case .present(let file) = b.store.attachmentState(film) else { return }
        try FileManager.default.removeItem(at: file.url)
        await b.stop()
        try await a.until { a.node.status.peers.allSatisfy { $0.state == .notReachable } }
        b.start()
        try await a.until { try sentence(a).hasSuffix("1 attachment (292 KiB) is confirmed by no other device yet.") }
        await a.stop()
        await b.stop()
    }

    @Test func `what is still on its way here is safe only where its bytes are`() throws {
        let sql = "CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)"
        let (a, b) = (try TestNode(sql: sql, tables: [TrackedTable("photo", attachments: ["file"])]), try TestNode())
        let devices = [try device(b, "attic")]
        try a.store.setMembers([b.key.id.bytes])
        let film = try #require(AttachmentID(bytes: Array(repeating: 0xAB, count: 32)))
        let id = try #require(RowID(bytes: Array(repeating: 7, count: 16)))
        try a.database.write { db in
            try db.execute(sql: "INSERT INTO photo (id, file) VALUES (?, ?)", arguments: [Data(id.bytes), film.description])
        }
        try a.store.noteMember(b.key.id.bytes, replica: b.store.summary().replica, durable: a.store.summary().vector)
        // A third device has the bytes, and neither this one nor the attic.
        for safety in [try a.store.safety(among: devices), try a.store.safety(ofRow: id, in: "photo", among: devices)] {
            #expect(safety.holders.isEmpty && safety.rowHolders.map(\.name) == ["attic"] && safety.attachmentsHereOnly.isEmpty)
        }
        let label = try a.store.safety(ofRow: id, in: "photo", among: devices).label()
        #expect(label == "Row safe on: attic. Not here, and on no other device that was heard of: 1 attachment.")
        #expect(
            try a.store.safety(among: devices).sentence { _ in "film" }
                == "Everything here is on other devices, too, though none of them has all of it yet. "
                + "Not here, and on no other device that was heard of: film.")
        var news = HoldingNews()
        news.hear(AttachmentHoldings(.only, [film]))
        try a.store.noteHoldings(news, of: b.key.id.bytes)
        #expect(try a.store.safety(among: devices).names == "attic")
        #expect(try a.store.safety(ofRow: id, in: "photo", among: devices).names == "attic")
    }

    @Test(arguments: KeyForm.allCases) func `a row whose id is text is safe only where its attachment is`(form: KeyForm) throws {
        let sql = "CREATE TABLE photo (id \(form == .blob ? "BLOB" : "TEXT") PRIMARY KEY NOT NULL, file TEXT)"
        let (a, b) = (try TestNode(sql: sql, tables: [TrackedTable("photo", attachments: ["file"], ids: form)]), try TestNode())
        let devices = [try device(b, "attic")]
        try a.store.setMembers([b.key.id.bytes])
        let film = try a.store.attach([1, 2, 3])
        let id = try #require(RowID(bytes: Array(repeating: 7, count: 16)))
        try a.database.write { try $0.execute(sql: "INSERT INTO photo VALUES (\(form.literal(id)), ?)", arguments: [film.description]) }
        try a.store.noteMember(b.key.id.bytes, replica: b.store.summary().replica, durable: a.store.summary().vector)
        #expect(try a.store.safety(ofRow: id, in: "photo", among: devices).holders.isEmpty)
    }

    @Test func `nothing is called safe before anybody said anything`() throws {
        let (a, b) = (try TestNode(), try TestNode())
        let devices = [try device(b, "attic")]
        try a.store.setMembers([b.key.id.bytes])
        // What holds nothing is held by everybody, and safe nowhere.
        #expect(try a.store.safety(among: devices).sentence == "Nothing is written here yet.")
        #expect(try a.store.safety(among: devices).holders.isEmpty)
        try a.add("a note")
        #expect(try a.store.safety(among: devices).sentence == "Not confirmed yet: no other device has said what it holds.")
        try a.store.noteMember(b.key.id.bytes, replica: b.store.summary().replica, durable: VersionVector())
        #expect(try a.store.safety(among: devices).sentence == "1 change is confirmed by no other device yet.")
    }

    @Test func `what no other device has confirmed is named and counted`() {
        func holders(_ names: String...) -> [Safety.Holder] { names.map { Safety.Holder(deviceID: $0, name: $0) } }
        let films = (1...5).map { Safety.LooseAttachment(id: "\($0)", sizeBytes: Int64($0) << 20) }
        func safety(_ rowHolders: [Safety.Holder], _ commits: UInt64?, _ films: ArraySlice<Safety.LooseAttachment>) -> Safety {
            Safety(
                holders: [], rowHolders: rowHolders, devices: 2, devicesHeard: 2, commitsHereOnly: commits,
                attachmentsHereOnly: Array(films), attachmentsNowhere: [], isEmpty: false, isWrittenHere: true)
        }
        let both = holders("attic", "laptop")
        func texts(_ safety: Safety) -> String { safety.sentence(rows: "Texts") { "film \($0.id)" } }
        #expect(
            texts(safety(both, 0, films[..<1]))
                == "Texts are safe on attic and laptop; film 1 (1.0 MiB) is confirmed by no other device yet.")
        #expect(
            texts(safety(both, 0, films[...]))
                == "Texts are safe on attic and laptop; film 1 (1.0 MiB), film 2 (2.0 MiB), film 3 (3.0 MiB) and 2 more attachments (9.0 MiB) "
                + "are confirmed by no other device yet.")
        #expect(texts(safety([], 1, films[..<1])) == "1 change, and film 1 (1.0 MiB), are confirmed by no other device yet.")
        #expect(
            texts(safety([], 0, films[..<2]))
                == "Texts are on other devices, too, though none of them has all yet; film 1 (1.0 MiB) and film 2 (2.0 MiB) are confirmed by no other device yet."
        )
        #expect(
            safety([], 2_000, films[..<2]).sentence == "2,000 changes, and 2 attachments (3.0 MiB), are confirmed by no other device yet.")
        #expect(safety(both, 0, []).sentence == "Everything here is on other devices, too, though none of them has all of it yet.")
        let label = safety(both, nil, films[..<1]).label(rows: "Text") { _ in "film" }
        #expect(label == "Text safe on: attic and laptop; film (1.0 MiB) confirmed by no other device yet.")
        #expect(safety([], nil, []).label() == "As it is now, confirmed by no other device yet.")
        let long = safety(both, 0, films[..<1]).sentence(rows: "Texts") { _ in String(repeating: "é", count: 1_000_000) }
        let accents = safety(both, 0, films[..<1]).sentence(rows: "Texts") { _ in "e" + String(repeating: "\u{301}", count: 1_000_000) }
        #expect(accents.utf8.count < 1_000)
        #expect(long.hasPrefix("Texts are safe on attic and laptop; éé") && long.count < 400 && long.contains("é… (1.0 MiB)"))
    }

    @Test func `numbers that a peer made up crash nothing`() throws {
        let node = try TestNode()
        // The most that the wire allows, of replicas that nobody knows: together more than there are numbers.
        let heads = (1...3 as ClosedRange<UInt64>).map {
            Head(dot: Dot(replica: ReplicaID(high: 9, low: $0), sequence: UInt64(Int64.max)), timestamp: .zero)
        }
        let slice = Slice(
            since: VersionVector(), vector: VersionVector(heads.map(\.dot)), target: heads, clock: .zero, isFirst: true, isLast: true,
            position: nil, rowsRemaining: 0, tables: [], rows: [])
        _ = try node.store.apply(slice)
        let phone = try TestNode()
        let device = try device(phone, "phone")
        try node.store.setMembers([device.id.bytes])
        try node.store.noteMember(device.id.bytes, replica: phone.store.summary().replica, durable: VersionVector())
        let safety = try node.store.safety(among: [device])
        #expect(safety.commitsHereOnly == .max)
        #expect(safety.sentence.hasSuffix("changes are confirmed by no other device yet."))
    }
}
