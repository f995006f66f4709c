import Foundation
import KithTrust
import Testing

@testable import Kith
@testable import KithDiscovery

/// The risk: a member dials whoever announces anything, or does not find its own among them.
@Suite struct AnnouncementBookTests {
    private let now: Int64 = 1_770_000_000_000
    private let own = DeviceKey().id
    private let member = DeviceKey().id

    private func announcement(_ name: String, tag: [UInt8]? = nil, port: UInt16 = 4747) throws -> Announcement {
        var attributes = TXTRecord()
        if let tag { try attributes.set("t", to: tag) }
        return Announcement(
            name: try #require(InstanceName(bytes: Array(name.utf8))), host: "x.local.", port: port,
            addresses: [try #require(HostAddress(bytes: [10, 0, 0, 1], interface: 2))], attributes: attributes)
    }

    private var secret: HouseholdSecret {
        get throws { try #require(HouseholdSecret(number: 1, bytes: [UInt8](repeating: 9, count: 32))) }
    }

    @Test func aMemberHeedsOnlyMembersAndNotItself() throws {
        var book = AnnouncementBook()
        book.trust([member], own: own, secrets: [try secret])
        _ = book.found(try announcement("stranger"))
        _ = book.found(try announcement("forger", tag: [UInt8](repeating: 0, count: 16)))
        _ = book.found(try announcement("self", tag: AnnouncementTag(of: own, secret: secret, milliseconds: now).bytes))
        #expect(book.targets(wallClockMilliseconds: now).isEmpty)
        _ = book.found(try announcement("member", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes))
        let targets = book.targets(wallClockMilliseconds: now)
        #expect(targets.map(\.device) == [member])
        book.lost(targets[0].name)
        #expect(book.targets(wallClockMilliseconds: now).isEmpty)
    }

    @Test func aMemberWithAWrongClockIsDialledAndNamed() throws {
        var book = AnnouncementBook()
        book.trust([member], own: own, secrets: [try secret])
        let ahead = now + 48 * 3_600_000
        _ = book.found(try announcement("member", tag: AnnouncementTag(of: member, secret: secret, milliseconds: ahead).bytes))
        _ = book.found(try announcement("year", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now * 2).bytes))
        #expect(book.targets(wallClockMilliseconds: now).map(\.device) == [member])
        let clocks = book.wrongClocks(wallClockMilliseconds: now)
        #expect(clocks.map(\.device) == [member, nil])
        #expect(clocks.first?.hoursAhead == 48 && clocks.first?.address == "10.0.0.1")
        #expect(book.wrongClocks(wallClockMilliseconds: ahead).count == 1)
    }

    @Test func whoeverAnnouncesThisDeviceIsTold() throws {
        var book = AnnouncementBook()
        book.trust([member], own: own, secrets: [try secret])
        #expect(book.own(wallClockMilliseconds: now).isEmpty)
        _ = book.found(try announcement("self", tag: AnnouncementTag(of: own, secret: secret, milliseconds: now).bytes))
        _ = book.found(try announcement("member", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes))
        #expect(book.own(wallClockMilliseconds: now).map(\.description) == ["10.0.0.1:4747"])
    }

    @Test func aDeviceWithoutASecretHeedsEverybodyWhoDoesNotPair() throws {
        var book = AnnouncementBook()
        book.trust([member], own: own, secrets: [])
        var pairing = TXTRecord()
        try pairing.set("pair", to: [1])
        _ = book.found(try announcement("tagged", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes))
        _ = book.found(try announcement("untagged"))
        #expect(book.targets(wallClockMilliseconds: now).count == 2)
        #expect(book.targets(wallClockMilliseconds: now).allSatisfy { $0.device == nil })
        // With the secret it sees at once which of them concerns it.
        book.trust([member], own: own, secrets: [try secret])
        #expect(book.targets(wallClockMilliseconds: now).map(\.device) == [member])
    }

    @Test func aFloodOfForgedAnnouncementsIsBoundedAndTheMemberIsFound() throws {
        var book = AnnouncementBook()
        book.trust([member], own: own, secrets: [try secret])
        _ = book.found(try announcement("member", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes))
        var kept = 0
        for index in 0..<10_000 where book.found(try announcement("flood \(index)", tag: [UInt8](repeating: 1, count: 16))) { kept += 1 }
        #expect(kept == AnnouncementBook.announcementsMax - 1)
        #expect(book.targets(wallClockMilliseconds: now).map(\.device) == [member])
    }
}
