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

    private func announcement(_ name: String, tag: [UInt8]? = nil, port: UInt16 = 4747, app: AppID? = "test") throws -> Announcement {
        var attributes = TXTRecord()
        if let app { try attributes.set("a", to: AppMark(of: app).bytes) }
        if let tag { try attributes.set("t", to: tag) }
        return Announcement(
            name: try #require(InstanceName(bytes: Array(name.utf8))), host: "x.local.", port: port,
            addresses: [try #require(HostAddress(bytes: [10, 0, 0, 1], interface: 2))], attributes: attributes)
    }

    private var secret: HouseholdSecret {
        get throws { try #require(HouseholdSecret(number: 1, bytes: [UInt8](repeating: 9, count: 32))) }
    }

    @Test func `a member heeds only members and not itself`() throws {
        var book = AnnouncementBook(of: "test")
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

    @Test func `a member with a wrong clock is dialled and named`() throws {
        var book = AnnouncementBook(of: "test")
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

    @Test func `whoever announces this device is told`() throws {
        var book = AnnouncementBook(of: "test")
        book.trust([member], own: own, secrets: [try secret])
        #expect(book.own(wallClockMilliseconds: now).isEmpty)
        _ = book.found(try announcement("self", tag: AnnouncementTag(of: own, secret: secret, milliseconds: now).bytes))
        _ = book.found(try announcement("member", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes))
        #expect(book.own(wallClockMilliseconds: now).map(\.description) == ["10.0.0.1:4747"])
    }

    @Test func `a device without a secret heeds everybody who does not pair`() throws {
        var book = AnnouncementBook(of: "test")
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

    @Test func `what is of another app or of none is not seen`() throws {
        var book = AnnouncementBook(of: "test")
        book.trust([member], own: own, secrets: [])
        #expect(try !book.found(announcement("other", app: "pantry")))
        #expect(try !book.found(announcement("nameless", app: nil)))
        #expect(try book.found(announcement("same")))
        #expect(book.targets(wallClockMilliseconds: now).count == 1)
        // A device on which the app was changed for another one, under the same name.
        #expect(try !book.found(announcement("same", app: "pantry")))
        #expect(book.targets(wallClockMilliseconds: now).isEmpty)
        var secretBook = AnnouncementBook(of: "test")
        secretBook.trust([member], own: own, secrets: [try secret])
        let tag = try AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes
        #expect(try !secretBook.found(announcement("member", tag: tag, app: "pantry")))
    }

    @Test func `no two announcements of one app look alike`() {
        let marks = (0..<200).map { _ in AppMark(of: "test").bytes }
        #expect(Set(marks).count == marks.count && Set(marks.map { $0.suffix(8) }).count == marks.count)
        #expect(marks.allSatisfy { AppMark.isMark($0, of: "test") && !AppMark.isMark($0, of: "tesu") })
        #expect(!AppMark.isMark(nil, of: "test") && !AppMark.isMark([], of: "test") && !AppMark.isMark(marks[0] + [0], of: "test"))
    }

    @Test func `a flood of forged announcements is bounded and the member is found`() throws {
        var book = AnnouncementBook(of: "test")
        book.trust([member], own: own, secrets: [try secret])
        _ = book.found(try announcement("member", tag: AnnouncementTag(of: member, secret: secret, milliseconds: now).bytes))
        var kept = 0
        for index in 0..<10_000 where book.found(try announcement("flood \(index)", tag: [UInt8](repeating: 1, count: 16))) { kept += 1 }
        #expect(kept == AnnouncementBook.announcementsMax - 1)
        #expect(book.targets(wallClockMilliseconds: now).map(\.device) == [member])
    }
}
