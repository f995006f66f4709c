import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithTrust
import Synchronization
import TestSupport
import Testing

@testable import Kith

/// Machines that have lost their store, or a part of it, and go on with the same stick.
@Suite("What a machine has lost is lost on the stick, too, or is said to be safe there")
struct CarryLossTests {
    private let stick: TemporaryFolder

    init() throws {
        stick = try TemporaryFolder()
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: stick.path).sorted() }
    }

    private func titles(_ database: DatabasePool) throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") }
    }

    private func add(_ title: String, to database: DatabasePool) throws {
        var generator = SystemRandomNumberGenerator()
        let id = Data(RowID.random(using: &generator).bytes)
        try database.write { try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, ?)", arguments: [id, title]) }
    }

    // MARK: The last file of a machine that was set back

    @Test(arguments: [false, true])
    func `what only the last file on the stick has is taken in before it is replaced`(writesBefore: Bool) throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let folder = try TemporaryFolder()
        try a.add("kept")
        let restored = try a.copyStore(to: folder)
        try a.add("lost")
        let place = stick.file("named.kithcarry")
        for path in [stick.path, place] { try a.carryOut(path) }
        let store = try CarryHome.store(in: restored)
        defer { store.close() }
        // A commit under the number of the lost one.
        if writesBefore { try add("new", to: restored) }
        for path in [stick.path, place] {
            #expect(try a.carrier(on: store).write(to: path).kept.count == 1)
            let expected = writesBefore ? ["kept", "lost", "new"] : ["kept", "lost"]
            #expect(try titles(restored) == expected)
        }
        #expect(try names.count == 4)
        try b.carryIn(stick.path)
        #expect(try b.titles() == titles(restored))
    }

    @Test func `a last file that goes on from what is lost, too, stays beside the new one until its changes are here`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let folder = try TemporaryFolder()
        let restored = try a.copyStore(to: folder)
        try a.add("one")
        for home in [a, b] {
            try home.carryOut(stick.path)
            for other in homes { _ = try other.carryIn(stick.path) }
        }
        try a.add("two")
        #expect(try a.carryOut(stick.path).rows == 1)
        let store = try CarryHome.store(in: restored)
        defer { store.close() }
        try FileManager.default.removeItem(atPath: stick.file(b.carrier.fileName(for: nil)))
        _ = try a.carrier(on: store).write(to: stick.path)
        #expect(try names.count == 2 && titles(restored) == [])
        // It waits there for a machine that has what it goes on from.
        _ = try a.carrier(on: store).write(to: stick.path)
        #expect(try names.count == 2)
        try b.carryIn(stick.path)
        #expect(try b.titles() == ["one", "two"])
        try b.carryOut(stick.path)
        _ = try a.carrier(on: store).read(stick.path)
        #expect(try titles(restored) == ["one", "two"])
    }

    @Test func `a last file that cannot be read is kept`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let long = String(repeating: "1", count: 100_000)
        try a.add(long)
        let path = try a.carryOut(stick.path).path
        let good = try Data(contentsOf: URL(filePath: path))
        // Where its beginning is whole and tells nothing new, the rest does not matter.
        try good.dropLast().write(to: URL(filePath: path))
        try a.carryOut(stick.path)
        #expect(try names.count == 1)
        var damaged = good
        damaged[HouseholdEnvelope.magic.count] ^= 1
        try damaged.write(to: URL(filePath: path))
        try a.carryOut(stick.path)
        #expect(try names.count == 2)
        #expect(try names.contains { try Data(contentsOf: stick.url($0)) == damaged })
        try a.add("two")
        try a.carryOut(stick.path)
        #expect(try names.count == 2)
        #expect(try Set(b.carryIn(stick.path)) == [.taken, .notForUs])
        #expect(try b.titles() == [long, "two"])
    }

    @Test func `a store that was set back in its place takes in what it had of others, and what it wrote over is kept`() throws {
        let homes = try CarryHome.household(3)
        let (a, b) = (homes[0], homes[1])
        let folder = try TemporaryFolder()
        try a.copyStore(to: folder, as: "store").close()
        /// What the machine does between two starts.
        func run(_ body: (DatabasePool, Carrier) throws -> Void) throws {
            let database = try DatabasePool(path: folder.file("store.sqlite"))
            let store = try CarryHome.store(in: database)
            let carrier = a.carrier(on: store)
            _ = try carrier.prepare()
            try body(database, carrier)
            store.close()
            try database.close()
        }
        func files() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.url($0))) })
        }
        func putBack(_ files: [String: Data]) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where files[name] == nil {
                try FileManager.default.removeItem(atPath: folder.file(name))
            }
            // The files stay the same, so that nothing but their contents tells of it.
            for (name, bytes) in files { try bytes.write(to: folder.url(name)) }
        }
        try run { (database, _) throws in try add("kept", to: database) }
        let early = try files()
        try b.add("of b")
        try b.carryOut(stick.file("b.kithcarry"))
        try run { (_, carrier) throws in
            #expect(try carrier.read(stick.path).map(\.outcome) == [.taken])
            _ = try carrier.write(to: stick.path)
        }
        try FileManager.default.removeItem(atPath: stick.file("b.kithcarry"))
        try putBack(early)
        try run { (database, carrier) throws in
            #expect(try carrier.store.identityDoubt == nil && titles(database) == ["kept"])
            #expect(try carrier.write(to: stick.path).rowsTakenBack > 0)
            #expect(try titles(database) == ["kept", "of b"] && names.count == 2)
        }
        let late = try files()
        try run { (database, carrier) throws in
            try add("lost", to: database)
            _ = try carrier.write(to: stick.path)
        }
        try putBack(late)
        try run { (database, carrier) throws in
            #expect(try carrier.store.identityDoubt == nil && titles(database) == ["kept", "of b"])
            try add("written over", to: database)
            let written = try carrier.write(to: stick.path)
            #expect(try written.kept.count == 1 && names.count == 3)
            #expect(try carrier.write(to: stick.path).kept == [])
        }
    }

    @Test func `of two that write at once, neither takes the name that the other gives to the file from before`() throws {
        let path = stick.file("named.kithcarry")
        try Data("before".utf8).write(to: URL(filePath: path))
        let drafts = try ["one", "two"].map { text in
            let draft = try CarryDraft(for: path)
            try draft.handle.append(Array(text.utf8))
            return draft
        }
        let kept = try drafts.map { try $0.finish(movingAside: true) }
        #expect(kept.map { $0 == nil } == [false, false] && Set(kept).count == 2)
        let texts = try names.map { String(decoding: try Data(contentsOf: stick.url($0)), as: UTF8.self) }
        #expect(texts == ["before", "one", "two"])
        // Nothing is left of a name that was not needed.
        #expect(try CarryDraft.moveAside(stick.file("gone.kithcarry")) == nil && names.count == 3)
    }

    // MARK: Files under an earlier key

    @Test func `the files of an earlier key go once there are new ones, and what was lost of them is taken in`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let folder = try TemporaryFolder()
        try b.add("kept")
        let restored = try b.copyStore(to: folder)
        try b.add("lost")
        try b.carryOut(stick.path)
        try b.carryOut(stick.path, to: a)
        #expect(try names.count == 2)
        _ = try b.trust.renewKey()
        let store = try CarryHome.store(in: restored)
        defer { store.close() }
        let carrier = Carrier(store: store, key: try b.trust.key(), trust: b.trust, app: b.app, software: "test")
        // The store does not know them: they stay, under other names.
        var wish = Carrier.Wish()
        var kept: [String] = []
        for target in [nil, a.node.key.id] {
            wish.target = target
            kept += try carrier.write(to: stick.path, wish).kept.map { URL(filePath: $0).lastPathComponent }
        }
        #expect(kept.count == 2)
        #expect(try names == (kept + [carrier.fileName(for: nil), carrier.fileName(for: a.node.key.id)]).sorted())
        // Those that it has made itself go.
        _ = try b.trust.renewKey()
        let next = Carrier(store: store, key: try b.trust.key(), trust: b.trust, app: b.app, software: "test")
        for target in [nil, a.node.key.id] {
            wish.target = target
            #expect(try next.write(to: stick.path, wish).kept == [])
        }
        #expect(try names == (kept + [next.fileName(for: nil), next.fileName(for: a.node.key.id)]).sorted())
        // The one under the earlier key may come after that which tells of the new one.
        #expect(try a.carryIn(stick.path).contains(.taken))
        #expect(try a.titles() == ["kept", "lost"])
    }

    // MARK: What is said to be safe

    @Test func `a machine that has lost its store is not called safe, even if its clock is behind`() throws {
        let ahead = ClockAhead()
        let homes = try CarryHome.household(2) { $0 == 0 ? SyncedDatabase.Options(clock: ahead.clock) : SyncedDatabase.Options() }
        let (a, b) = (homes[0], homes[1])
        let file = try a.store.attach((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try a.add("with", file: file)
        try a.carryOut(stick.path)
        try b.carryIn(stick.path)
        try b.add("of b")
        try b.carryOut(stick.path)
        try a.carryIn(stick.path)
        // They meet on the network, where the clock of a is two hours ahead of that of b.
        ahead.milliseconds.withLock { $0 = 2 * 3_600_000 }
        let device = b.node.key.id.bytes
        try a.store.noteMember(device, replica: try b.store.summary().replica, durable: try a.store.vector())
        ahead.milliseconds.withLock { $0 = 0 }
        func holders() throws -> [String] { try a.store.safety(among: a.trust.devices).holders.map(\.name) }
        #expect(try holders() == ["home1"])
        let old = stick.file("old of b")
        try FileManager.default.copyItem(atPath: stick.file(b.carrier.fileName(for: nil)), toPath: old)
        // b loses all but its keys.
        let folder = try TemporaryFolder()
        let empty = try DatabasePool(path: folder.file("new.sqlite"))
        try empty.write { try $0.execute(sql: CarryHome.noteSQL) }
        let store = try CarryHome.store(in: empty)
        defer { store.close() }
        let carrier = b.carrier(on: store)
        try FileManager.default.removeItem(atPath: stick.file(b.carrier.fileName(for: nil)))
        _ = try carrier.write(to: stick.path)
        try a.carryIn(stick.path)
        #expect(try holders() == [] && a.store.acknowledged(by: [device]).isEmpty)
        // It is sent everything, attachments too, although no word of it is known to be the newest.
        let sent = try a.carryOut(stick.path, to: b)
        #expect(sent.isWhole && sent.attachments == 1)
        #expect(try carrier.read(sent.path).map(\.outcome) == [.taken])
        guard case .present = store.attachmentState(file) else {
            Issue.record("the attachment is not there")
            return
        }
        // An old word does not make it safe.
        try a.carryIn(old)
        #expect(try holders() == [])
        // When they meet again, it is known.
        let summary = try store.summary()
        try a.store.noteMember(device, replica: summary.replica, durable: summary.vector)
        var news = HoldingNews()
        for holdings in AttachmentHoldings.all(store.attachmentsHere()) { news.hear(holdings) }
        try a.store.noteHoldings(news, of: device)
        #expect(try holders() == ["home1"])
        // And the old one does not take that back.
        try a.carryIn(old)
        #expect(try holders() == ["home1"])
    }
}

/// A clock that a test puts forward.
private final class ClockAhead: Sendable {
    let milliseconds = Mutex<Int64>(0)

    var clock: @Sendable () -> HybridTimestamp {
        { [self] in
            HybridTimestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) + milliseconds.withLock { $0 })
        }
    }
}
