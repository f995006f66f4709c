import Foundation
import KithCausality
import KithStore
import KithSync
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Files that are damaged, forged, foreign or too large.
@Suite("A file on a stick is taken in that should not be, or half of it")
struct CarryDamageTests {
    private let stick: TemporaryFolder

    init() throws {
        stick = try TemporaryFolder()
    }

    private func bytes(_ path: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: path))) }

    private func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let path = stick.file(name)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    @Test func `a flipped bit or an end at a byte of a file: refused, and nothing changes`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        try a.add("small")
        let good = try bytes(try a.carryOut(stick.path).path)
        _ = try b.carrier.prepare()
        let before = try b.state()
        var random = SplitMix64(seed: Soak.firstSeed)
        // A long run tries every byte, others every seventh and the last hundred.
        let first = Int(Soak.firstSeed % 7)
        for place in good.indices where Soak.isAsked || place % 7 == first || place >= good.count - 100 {
            var flipped = good
            flipped[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            for damaged in [flipped, Array(good[..<place])] {
                let path = try write(damaged, "damaged")
                let outcome = try b.carrier.read(path).map(\.outcome)
                #expect(outcome == [.refused] || outcome == [.notForUs], "byte \(place) of \(good.count)")
            }
        }
        #expect(try b.carrier.read(write(good + [0], "longer")).map(\.outcome) == [.refused])
        #expect(try b.state() == before)
        #expect(try b.carrier.read(write(good, "good")).map(\.outcome) == [.taken])
    }

    /// A file with these records, by who has the key and in an envelope of `member`.
    private func forge(_ name: String, _ member: CarryHome, head: [UInt8], signer: DeviceKey, _ records: [[UInt8]]) throws -> String {
        let path = stick.file(name)
        let envelope = try member.trust.seal(knownKeys: try member.store.knownKeys())
        let file = try CarriedFileWriter(
            path, CarriedHead(key: head, target: nil, madeMilliseconds: 0), by: signer, in: envelope)
        for record in records { try file.put(record) }
        _ = try file.finish()
        return path
    }

    private func hello(of home: CarryHome, app: AppID = "test", group: [UInt8]? = nil) throws -> [UInt8] {
        var configuration = try home.carrier.configuration(home.carrier.prepare())
        if app != configuration.app || group != nil {
            configuration = PeerSession.Configuration(app: app, group: group ?? configuration.group, software: "test")
        }
        var writer = try CarryWriter(configuration, home.store.summary())
        return try writer.greeting(durable: VersionVector(), wallClockMilliseconds: 0)[0]
    }

    @Test func `what a stranger has signed, or somebody else in the name of a member, is refused`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let stranger = DeviceKey()
        let records = [try hello(of: a)]
        _ = try b.carrier.prepare()
        let before = try b.state()
        let foreign = try forge("stranger", a, head: stranger.publicKeyBytes, signer: stranger, records)
        let inName = try forge("name", a, head: a.node.key.publicKeyBytes, signer: stranger, records)
        #expect(try b.carryIn(foreign) == [.refused])
        #expect(try b.carryIn(inName) == [.refused])
        #expect(try b.state() == before)
        let own = try forge("own", a, head: a.node.key.publicKeyBytes, signer: a.node.key, records)
        #expect(try b.carryIn(own) == [.nothingNew])
    }

    @Test func `a file of another household, or another app, is left alone and named, and the others are read`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let other = try CarryHome.household(2)[0]
        try other.add("not yours")
        try other.carryOut(stick.path)
        try a.add("yours")
        try a.carryOut(stick.path)
        let app = try forge(
            "app.kithcarry", a, head: a.node.key.publicKeyBytes, signer: a.node.key, [hello(of: a, app: "other.app")])
        let group = try forge(
            "group.kithcarry", a, head: a.node.key.publicKeyBytes, signer: a.node.key, [hello(of: a, group: Array("else".utf8))])
        let readings = try b.carrier.read(stick.path)
        #expect(readings.count == 4)
        #expect(readings.count { $0.outcome == .taken } == 1)
        #expect(readings.count { $0.outcome == .notForUs } == 1)
        #expect(Set(readings.filter { $0.outcome == .refused }.map(\.path)) == [app, group])
        #expect(try b.titles() == ["yours"])
    }

    @Test func `what is no regular file, or none of kith, is passed over`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        try a.add("note")
        let file = try a.carryOut(stick.path).path
        mkfifo(stick.file("pipe.kithcarry"), 0o600)
        try FileManager.default.createSymbolicLink(atPath: stick.file("link.kithcarry"), withDestinationPath: file)
        try FileManager.default.createDirectory(atPath: stick.file("folder.kithcarry"), withIntermediateDirectories: true)
        _ = try write(Array("kith-carry/2\n and more".utf8), "newer.kithcarry")
        _ = try write([], "what was this")
        let readings = try b.carrier.read(stick.path)
        #expect(readings.map(\.outcome) == [.taken, .notForUs] && readings[1].message.contains("newer"))
        // By its name it is one, of which nothing is left.
        let empty = try write([], "x.kithcarry")
        #expect(try b.carrier.read(stick.path).first { $0.path == empty }?.outcome == .refused)
        #expect(try b.carryIn(stick.file("newer.kithcarry")) == [.notForUs])
        #expect(throws: CarryError.self) { try b.carrier.read(stick.file("nothing")) }
        let folder = try TemporaryFolder()
        #expect(throws: CarryError.self) { try b.carrier.read(folder.path) }
        // And nothing of these is written over.
        #expect(throws: CarryError.self) { try a.carryOut(stick.file("newer.kithcarry")) }
        #expect(throws: CarryError.self) { try b.carryOut(file) }
        #expect(throws: CarryError.self) { try a.carryOut(stick.file("missing/file")) }
        #expect(try b.carryIn(file) == [.nothingNew])
    }

    @Test func `limits are at their numbers`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let key = a.node.key
        let file = try a.carryOut(stick.path)
        #expect(throws: Never.self) { try CarriedFile(file.path, b.trust, scratch: stick.url, bytesMax: file.bytes) }
        #expect(throws: CarryError.self) { try CarriedFile(file.path, b.trust, scratch: stick.url, bytesMax: file.bytes - 1) }
        let household = FrameCodec.encode(.household(try #require(a.trust.householdDigest).encoded))
        let most = Array(repeating: household, count: CarriedFile.householdFramesMax)
        let greeting = [try hello(of: a)]
        let good = try forge("most", a, head: key.publicKeyBytes, signer: key, greeting + most)
        let beyond = try forge("beyond", a, head: key.publicKeyBytes, signer: key, greeting + most + [household])
        #expect(try b.carryIn(good) == [.nothingNew])
        #expect(try b.carryIn(beyond) == [.refused])
        let names = try TemporaryFolder()
        for index in 0..<Carrier.namesMax - 1 { _ = FileManager.default.createFile(atPath: names.file("\(index)"), contents: nil) }
        try FileManager.default.copyItem(atPath: file.path, toPath: names.file("file"))
        #expect(try b.carryIn(names.path) == [.nothingNew])
        _ = FileManager.default.createFile(atPath: names.file("one more"), contents: nil)
        #expect(throws: CarryError.self) { try b.carrier.read(names.path) }
    }

    @Test func `records in another order, twice, or after the end are refused`() throws {
        let homes = try CarryHome.household(2)
        let (a, b) = (homes[0], homes[1])
        let key = a.node.key
        let greeting = try hello(of: a)
        let head = CarriedHead(key: key.publicKeyBytes, target: nil, madeMilliseconds: 0).bytes
        for (name, records) in [
            ("none", []), ("late", [FrameCodec.encode(.household([1])), greeting]), ("head twice", [head, greeting]),
            ("hello twice", [greeting, greeting]), ("end", [greeting, [CarriedRecord.endType], greeting]),
        ] as [(String, [[UInt8]])] {
            let path = try forge(name, a, head: key.publicKeyBytes, signer: key, records)
            #expect(try b.carryIn(path) == [.refused], "\(name)")
        }
    }

    @Test func `a copy of a file never has a name that a killed process could leave behind`() throws {
        let old = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: stick.path)
        // Where the file system always gives a name, it is taken away at once.
        guard CarryHandle.makeWithoutName(in: stick.url) != nil else { return }
        let copy = try CarryHandle.makeNameless(in: stick.url)
        try copy.append([1, 2, 3])
        #expect(try copy.read(at: 0, count: 9) == [1, 2, 3])
        // A name that came and went would have changed the folder.
        let after = try FileManager.default.attributesOfItem(atPath: stick.path)[.modificationDate] as? Date
        #expect(after == old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stick.path) == [])
    }
}
