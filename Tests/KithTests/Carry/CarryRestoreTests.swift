import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Machines that were set back, or have lost a part of what they had, and whose last file on the stick has the rest.
@Suite("What only the last file on the stick has is destroyed by the next one")
struct CarryRestoreTests {
    private let stick: TemporaryFolder
    private let folder: TemporaryFolder

    init() throws {
        stick = try TemporaryFolder()
        folder = try TemporaryFolder()
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: stick.path).sorted() }
    }

    /// What `home` knows of its household now.
    private func trust(of home: CarryHome) throws -> TrustStore {
        let keys = folder.url("keys-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: home.node.folder.appending(path: "keys"), to: keys)
        return try TrustStore(in: keys, ownID: home.node.key.id)
    }

    private func carrier(of home: CarryHome, on store: SyncedDatabase, _ trust: TrustStore) -> Carrier {
        Carrier(store: store, key: home.node.key, trust: trust, app: home.app, software: "test")
    }

    // MARK: The household

    /// Shows all the keys of all.
    private func acquaint(_ homes: [CarryHome]) throws {
        for home in homes {
            let path = try home.carryOut(stick.path).path
            for other in homes where other.node !== home.node { try other.carryIn(path) }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `a revocation that only its last file tells of counts for the one that replaces it`() throws {
        let homes = try CarryHome.household(3)
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try acquaint(homes)
        let (restored, trust) = (try a.copyStore(to: folder), try trust(of: a))
        try a.trust.remove(c.node.key.id)
        try a.add("not for c")
        let named = stick.file("named.kithcarry")
        for path in [stick.path, named] { try a.carryOut(path) }
        let store = try CarryHome.store(in: restored)
        defer { store.close() }
        let carrier = carrier(of: a, on: store, trust)
        #expect(trust.device(c.node.key.id) != nil)
        // Nothing is made for a machine that turns out to be out.
        var wish = Carrier.Wish()
        wish.target = c.node.key.id
        #expect(throws: CarryError.self) { try carrier.write(to: named, wish) }
        #expect(trust.device(c.node.key.id) == nil)
        _ = try carrier.write(to: stick.path)
        #expect(try Set(c.carryIn(stick.path)) == [.notForUs])
        #expect(try b.carryIn(stick.path).contains(.taken))
        #expect(try b.titles().contains("not for c") && b.trust.device(c.node.key.id) == nil)
    }

    @Test(arguments: [false, true])
    func `what only its last file tells of the household is heard, though it tells of no rows`(isRead: Bool) throws {
        let homes = try CarryHome.household(3)
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try acquaint(homes)
        try a.add("one")
        let trust = try trust(of: a)
        try a.trust.remove(c.node.key.id)
        try a.carryOut(stick.path)
        let carrier = carrier(of: a, on: a.store, trust)
        if isRead {
            #expect(try carrier.read(stick.path).map(\.outcome) == [.taken])
            #expect(try carrier.read(stick.path).map(\.outcome) == [.own])
        } else {
            _ = try carrier.write(to: stick.path)
        }
        #expect(trust.device(c.node.key.id) == nil && trust.household?.secrets == a.trust.household?.secrets)
        try b.carryIn(stick.path)
        #expect(b.trust.device(c.node.key.id) == nil)
    }

    // MARK: Attachments

    /// A machine with an attachment, which its file on the stick has, too.
    private func withAttachment() throws -> (CarryHome, AttachmentID) {
        let home = try CarryHome.household(2)[0]
        let file = try home.store.attach((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try home.add("with", file: file)
        #expect(try home.carryOut(stick.path).attachments == 1)
        return (home, file)
    }

    private func isPresent(_ file: AttachmentID, in store: SyncedDatabase) -> Bool {
        if case .present = store.attachmentState(file) { true } else { false }
    }

    /// The machine's disk loses the bytes.
    private func lose(_ file: AttachmentID, _ home: CarryHome) throws {
        guard case .present(let content) = home.store.attachmentState(file) else { return }
        try FileManager.default.removeItem(at: content.url)
        #expect(!isPresent(file, in: home.store))
    }

    @Test func `the bytes of attachments that only the last file has are taken in before it is replaced`() throws {
        let (a, file) = try withAttachment()
        try lose(file, a)
        let written = try a.carryOut(stick.path)
        #expect(written.attachments == 1 && written.kept == [])
        #expect(try isPresent(file, in: a.store) && names.count == 1)
    }

    @Test func `a restored store without attachments gets them back`() throws {
        let (a, file) = try withAttachment()
        let store = try CarryHome.store(in: a.copyStore(to: folder))
        defer { store.close() }
        let written = try a.carrier(on: store).write(to: stick.path)
        // The store knows the file, and all of it could be taken in.
        #expect(written.attachments == 1 && written.kept == [])
        #expect(try isPresent(file, in: store) && names.count == 1)
    }

    @Test func `a last file that breaks off before the attachments that are lacking is kept`() throws {
        let (a, file) = try withAttachment()
        let path = stick.file(a.carrier.fileName(for: nil))
        try Data(contentsOf: URL(filePath: path)).dropLast().write(to: URL(filePath: path))
        #expect(try a.carryOut(stick.path).kept == [])
        try Data(contentsOf: URL(filePath: path)).dropLast().write(to: URL(filePath: path))
        try lose(file, a)
        #expect(try a.carryOut(stick.path).kept.count == 1)
        #expect(try names.count == 2)
    }

    @Test func `a machine takes attachments that it lost back from its own file`() throws {
        let (a, file) = try withAttachment()
        try lose(file, a)
        let readings = try a.carrier.read(stick.path)
        #expect(readings.map(\.outcome) == [.taken] && readings.map(\.attachments) == [1])
        #expect(try a.carryIn(stick.path) == [.own])
    }

    // MARK: Numbers that were given twice

    /// What a store does after it was set back, and has not noticed.
    enum Afterwards: CaseIterable {
        /// It writes less than was lost.
        case less
        /// It writes more than was lost, and no row tells of it any more.
        case more
        /// As much, and then it hears from elsewhere that it was set back.
        case renamed
    }

    @Test(arguments: Afterwards.allCases)
    func `what was lost and whose numbers were given to something else stays on the stick`(_ afterwards: Afterwards) throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let place = try TemporaryFolder()
        func run(_ body: (DatabasePool, Carrier) throws -> Void) throws {
            let database = try DatabasePool(path: place.file("copy.sqlite"))
            let store = try CarryHome.store(in: database)
            let carrier = a.carrier(on: store)
            _ = try carrier.prepare()
            try body(database, carrier)
            store.close()
            try database.close()
        }
        let copy = try DatabaseQueue(path: place.file("copy.sqlite"))
        try a.node.database.backup(to: copy)
        try copy.close()
        func add(_ title: String, to database: DatabasePool) throws {
            var generator = SystemRandomNumberGenerator()
            let id = Data(RowID.random(using: &generator).bytes)
            try database.write { try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [id, title]) }
        }
        try run { (database, carrier) throws in
            try add("kept", to: database)
            _ = try carrier.write(to: stick.path)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        let files = try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: place.url($0))) })
        try run { (database, carrier) throws in
            try add("lost 1", to: database)
            if afterwards == .less { try add("lost 2", to: database) }
            #expect(try carrier.write(to: stick.path).kept == [])
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: place.path) where files[name] == nil {
            try FileManager.default.removeItem(atPath: place.file(name))
        }
        // The files stay the same, so that nothing but their contents tells of it.
        for (name, bytes) in files { try bytes.write(to: place.url(name)) }
        try run { (database, carrier) throws in
            #expect(carrier.store.identityDoubt == nil)
            try add("over", to: database)
            switch afterwards {
            case .less: break
            case .more: try database.write { try $0.execute(sql: "DELETE FROM note WHERE title = 'over'") }
            case .renamed: _ = try carrier.store.renewIdentity(from: carrier.store.summary().replica)
            }
            #expect(try carrier.write(to: stick.path).kept.count == 1)
            // From then on files are replaced as ever.
            for _ in 0..<2 { #expect(try carrier.write(to: stick.path).kept == []) }
        }
        #expect(try self.names.count == 2)
        // The others read both.
        try b.carryIn(stick.path)
        #expect(try b.titles().contains("lost 1"))
    }

    @Test func `a file whose rows were changed since is replaced`() throws {
        let homes = try CarryHome.household(2)
        let a = homes[0]
        try a.add("one")
        for title in ["two", "three"] {
            try a.carryOut(stick.path)
            try a.node.database.write { try $0.execute(sql: "UPDATE note SET title = ?", arguments: [title]) }
        }
        #expect(try a.carryOut(stick.path).kept == [] && names.count == 1)
    }

    // MARK: Files under an earlier key

    @Test func `a file of an earlier key that cannot be read is put aside once`() throws {
        let homes = try CarryHome.household(2)
        let b = homes[1]
        try b.add("one")
        let path = try b.carryOut(stick.path).path
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[HouseholdEnvelope.magic.count] ^= 1
        try bytes.write(to: URL(filePath: path))
        _ = try b.trust.renewKey()
        let carrier = Carrier(store: b.store, key: try b.trust.key(), trust: b.trust, app: b.app, software: "test")
        let kept = try carrier.write(to: stick.path).kept
        #expect(kept.count == 1 && kept.allSatisfy { $0.hasSuffix("-earlier-1.kithcarry") })
        #expect(try kept.allSatisfy { try Data(contentsOf: URL(filePath: $0)) == bytes })
        #expect(try carrier.write(to: stick.path).kept == [] && names.count == 2)
    }
}
