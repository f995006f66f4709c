import Foundation
import TestSupport
import Testing

@testable import KithTrust

/// The risk: a device that renews its key is locked out, or its old key still opens something.
@Suite struct RenewedKeyTests {
    private let a: TrustedHome
    private let b: TrustedHome

    init() throws {
        a = try TrustedHome()
        b = try TrustedHome()
        try a.pair(with: b)
    }

    @Test func `the others follow and the old key opens nothing`() throws {
        let (oldID, oldCertificate) = (b.id, try b.certificate)
        let secret = a.store.household?.secrets.first
        let id = try b.store.renewKey()
        #expect(b.id == id && id != oldID && b.store.standing == .member && b.trusted == [a.id])
        #expect(try b.key.id == id)
        #expect(try b.folder.mode("device.key") == 0o600 && !b.folder.names.contains("device.key.new"))
        // Until it hears, the other one lets the new key in, in the place of the old one.
        #expect(try a.store.admission(of: b.certificate) == oldID)
        #expect(a.store.admission(of: oldCertificate) == oldID)
        #expect(try a.meet(b))
        #expect(a.trusted == [id])
        #expect(a.store.admission(of: oldCertificate) == nil && b.store.admission(of: oldCertificate) == nil)
        #expect(a.store.household?.secrets.first != secret)
        try b.reopen()
        #expect(b.id == id && b.store.standing == .member)
    }

    @Test func `who was away for several renewals follows and keeps the address`() throws {
        let address = try PeerAddress(host: "10.0.0.7", port: 4747)
        try a.store.add(TrustedDevice(id: b.id, name: "attic", addresses: [address], added: Date(timeIntervalSince1970: 0)))
        let c = try TrustedHome()
        try b.pair(with: c)
        // The household goes on while a is away, so that it lacks what the records name.
        for round in 0..<3 {
            try c.store.rename(c.id, to: "laptop \(round)")
            #expect(try c.meet(b))
            _ = try b.store.renewKey()
        }
        #expect(try a.meet(b))
        #expect(a.trusted == [b.id, c.id])
        #expect(a.store.device(b.id)?.addresses == [address] && a.store.device(b.id)?.name == "attic")
        #expect(a.store.device(c.id)?.name == "laptop 2")
        #expect(try c.meet(b) && c.meet(a))
        #expect(c.trusted == [a.id, b.id])
    }

    @Test func `whoever looks at the key while it is renewed again and again makes none be forgotten`() async throws {
        let folder = b.folder.url
        var earlier: Set<DeviceID> = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !Task.isCancelled {
                        _ = try DeviceKey.load(from: folder)
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<16 {
                earlier.insert(b.id)
                _ = try b.store.renewKey()
                await Task.yield()
            }
            group.cancelAll()
        }
        #expect(try Set(DeviceKey.retired(in: folder).map(\.id)) == earlier && b.key.id == b.id)
        #expect(try b.folder.mode("device.key.old") == 0o600)
        try b.reopen()
        #expect(b.store.standing == .member && b.trusted == [a.id])
    }

    @Test func `several renewals at once are taken from the oldest on`() throws {
        let old = b.id
        for _ in 0..<Household.statementsMax { _ = try b.store.renewKey() }
        let news = try a.store.news(in: b.certificate)
        #expect(news.map(\.author).first == old && news.count == Household.statementsMax)
        // On the way the connection that showed them is let in all the time.
        for record in news {
            #expect(try a.store.hear([record]))
            #expect(try a.store.admission(of: b.certificate) != nil)
        }
        #expect(a.trusted == [b.id])
        // And all of them fit at once.
        let other = try TrustedHome()
        try a.pair(with: other)
        for _ in 0..<Household.statementsMax { _ = try a.store.renewKey() }
        #expect(
            try other.store.hear(other.store.news(in: a.certificate)) && other.trusted == a.trusted.union([a.id]).subtracting([other.id]))
    }

    @Test func `the address outlives any number of renewals`() throws {
        let address = try PeerAddress(host: "10.0.0.7", port: 4747)
        try a.store.add(TrustedDevice(id: b.id, name: "attic", addresses: [address], added: Date(timeIntervalSince1970: 0)))
        for _ in 0..<2 * Household.statementsMax {
            _ = try b.store.renewKey()
            try a.meet(b)
        }
        #expect(a.store.device(b.id)?.addresses == [address])
    }

    @Test func `what is known or does not fit is not written down again`() throws {
        let news = try {
            _ = try b.store.renewKey(); return try a.store.news(in: b.certificate)
        }()
        try a.meet(b)
        #expect(try a.store.news(in: b.certificate).isEmpty)
        // One whose author is not known here.
        let c = try TrustedHome()
        try b.pair(with: c)
        _ = try c.store.renewKey()
        let early = c.store.statements
        #expect(early.count == 1)
        // Whoever writes reads before, and would notice.
        try a.folder.write("damaged", to: "household.json")
        #expect(try !a.store.hear(news) && !a.store.hear(early))
    }

    @Test func `a renewal is taken before what its device said before it`() throws {
        let c = try TrustedHome()
        try b.pair(with: c)
        let id = try b.store.renewKey()
        #expect(try a.store.hear(a.store.news(in: b.certificate)))
        #expect(a.trusted == [id])
        try a.meet(b)
        #expect(a.trusted == [id, c.id])
    }

    @Test func `a chain whose oldest link is forged opens nothing`() throws {
        _ = try b.store.renewKey()
        let (thief, link) = (DeviceKey(), DeviceKey())
        let membership = try #require(b.store.household?.membership)
        var bytes = try #require(b.store.statements.first).bytes
        // b's own record with the thief's key in the place of the new one, and what the thief can sign itself.
        bytes.replaceSubrange(bytes.count - 96..<bytes.count - 64, with: link.id.bytes)
        let forged = try RecordClaim(bytes: bytes)
        #expect(a.store.isTrusted(forged.author) && forged.action == .replace(by: link.id))
        var terms = RecordTerms()
        (terms.warrant, terms.number, terms.previous) = (forged.id, 1, forged.id)
        let own = try membership.record(.replace(by: thief.id), terms, by: RecordSigner(link))
        let certificate = try thief.makeCertificate(stating: [own, MembershipRecord(verified: forged)])
        #expect(a.store.admission(of: certificate) == nil && a.store.news(in: certificate).isEmpty)
    }

    @Test func `more renewals than a certificate names need one that has heard`() throws {
        let c = try TrustedHome()
        try b.pair(with: c)
        try a.meet(b)
        for round in 0...Household.statementsMax {
            _ = try b.store.renewKey()
            if round == 1 { #expect(try c.meet(b)) }
        }
        #expect(try b.store.statements.count == Household.statementsMax && b.certificate.derBytes.count <= DeviceCertificate.bytesMax)
        #expect(try !a.meet(b))
        #expect(try a.meet(c) && a.meet(b))
        #expect(a.trusted == [b.id, c.id])
    }

    @Test func `two copies of one device that renew at once are both out`() throws {
        let copy = try TrustedHome()
        for name in ["device.key", "household.json", "devices.json"] where try b.folder.names.contains(name) {
            try copy.folder.write(b.folder.text(name), to: name)
        }
        try copy.reopen()
        #expect(copy.id == b.id)
        let ids = [try b.store.renewKey(), try copy.store.renewKey()]
        #expect(ids[0] != ids[1])
        #expect(try a.meet(b))
        #expect(a.trusted == [ids[0]])
        // The second one's record makes both void: nobody can tell which of them is the thief.
        _ = try a.store.hear(copy.store.statements)
        #expect(a.trusted.isEmpty)
        for device in [b, copy] { #expect(try a.store.admission(of: device.certificate) == nil) }
    }

    @Test func `a device that was put back from a backup says that it needs a new key, and is well once it has one`() throws {
        let backup = try ["device.key", "household.json", "devices.json"].filter(b.folder.names.contains).map {
            ($0, try b.folder.text($0))
        }
        try b.store.rename(a.id, to: "before")
        #expect(try a.meet(b) && !b.store.isKeyForked)
        for (name, text) in backup { try b.folder.write(text, to: name) }
        try b.reopen()
        try b.store.rename(a.id, to: "after")
        #expect(try a.meet(b) && b.store.isKeyForked && !a.store.isKeyForked)
        #expect { try b.store.rename(a.id, to: "later") } throws: { ($0 as? TrustError)?.code == .copiedKey }
        _ = try b.store.renewKey()
        #expect(!b.store.isKeyForked)
        try b.store.rename(a.id, to: "later")
        #expect(try a.meet(b))
        for device in [a, b] { #expect(device.store.standing == .member) }
    }

    @Test func `who is revoked meanwhile is not let in under another key`() throws {
        try a.store.remove(b.id)
        _ = try b.store.renewKey()
        #expect(try a.store.admission(of: b.certificate) == nil && a.store.news(in: b.certificate).isEmpty)
        #expect(try !a.meet(b))
        #expect(a.trusted.isEmpty)
    }

    @Test func `nobody takes the place of another by what is not its own`() throws {
        _ = try b.store.renewKey()
        let thief = DeviceKey()
        // A record about another key, one of another household, one that is damaged, and one of a stranger.
        let stranger = try TrustedHome()
        try stranger.pair(with: TrustedHome())
        _ = try stranger.store.renewKey()
        var damaged = try #require(b.store.statements.first).bytes
        damaged[60] ^= 1
        #expect(throws: MembershipError.self) { try MembershipRecord(bytes: damaged) }
        for statements in [b.store.statements, stranger.store.statements, []] {
            #expect(a.store.admission(of: try thief.makeCertificate(stating: statements)) == nil)
        }
        #expect(try a.store.admission(of: stranger.certificate) == nil && a.store.news(in: stranger.certificate).isEmpty)
    }

    @Test(arguments: ["before the record", "after the record"])
    func `a crash on the way leaves one key that works`(moment: String) throws {
        let (id, household, old) = (b.id, try b.folder.text("household.json"), try b.folder.text("device.key"))
        let new = try b.store.renewKey()
        // As it was before the last step, or before the last two.
        try b.folder.write(b.folder.text("device.key"), to: "device.key.new")
        try b.folder.write(old, to: "device.key")
        if moment == "before the record" { try b.folder.write(household, to: "household.json") }
        try b.reopen()
        #expect(b.id == (moment == "before the record" ? id : new))
        #expect(b.store.standing == .member)
        #expect(try a.meet(b))
        #expect(a.trusted == [b.id])
        // And once more, whatever the crash has left.
        _ = try b.store.renewKey()
        #expect(try a.meet(b))
        #expect(try a.trusted == [b.id] && !b.folder.names.contains("device.key.new"))
    }

    @Test func `another process notices the new key`() throws {
        let other = try TrustStore(in: b.folder.url, ownID: b.id)
        let id = try b.store.renewKey()
        #expect(try other.reloadIfChanged())
        #expect(try other.ownID == id && other.standing == .member && other.key().id == id)
        try other.rename(id, to: "renewed")
        #expect(try other.renewKey() == other.ownID)
    }

    @Test func `who is no member has nobody to follow`() throws {
        let alone = try TrustedHome()
        let error = #expect(throws: TrustError.self) { try alone.store.renewKey() }
        #expect(error?.code == .noHousehold)
        #expect(try alone.key.id == alone.id)
    }
}
