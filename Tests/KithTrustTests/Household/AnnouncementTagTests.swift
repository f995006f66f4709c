import KithTrust
import TestSupport
import Testing

/// The risk: an announcement tells strangers whose it is, or members not.
@Suite struct AnnouncementTagTests {
    private let device = DeviceKey().id
    private let hour: Int64 = 3_600_000
    private let now: Int64 = 1_770_000_000_000

    private func secret(_ seed: UInt64) throws -> HouseholdSecret {
        var random = SplitMix64(seed: seed)
        return try #require(HouseholdSecret(number: 1, bytes: random.bytes(32)))
    }

    @Test func `a member knows whose tag it is`() throws {
        let (secret, other) = (try secret(1), try secret(2))
        var recognizer = AnnouncementTag.Recognizer(devices: [DeviceKey().id, device], secrets: [other, secret])
        let tag = AnnouncementTag(of: device, secret: secret, milliseconds: now)
        #expect(tag.bytes.count == AnnouncementTag.byteCount)
        #expect(recognizer.device(of: tag.bytes, milliseconds: now) == device)
        // Clocks may be a day apart, and not more: a tag that was recorded is of no use later.
        for hours in [-26, -1, 1, 26] as [Int64] {
            #expect(recognizer.device(of: tag.bytes, milliseconds: now + hours * hour) == device)
        }
        for hours in [-27, 27] as [Int64] { #expect(recognizer.device(of: tag.bytes, milliseconds: now + hours * hour) == nil) }
    }

    @Test func `a device with a wrong clock is recognised for a week at a bounded cost`() throws {
        let secret = try secret(1)
        var recognizer = AnnouncementTag.Recognizer(devices: [device], secrets: [secret])
        let tag = AnnouncementTag(of: device, secret: secret, milliseconds: now).bytes
        for hours in [-168, -48, -27, 27, 48, 168] as [Int64] {
            #expect(recognizer.distantDevice(of: tag, milliseconds: now + hours * hour) == device)
            #expect(AnnouncementTag.hoursAhead(of: tag, milliseconds: now + hours * hour) == -hours)
        }
        for hours in [-169, -26, 0, 26, 169] as [Int64] {
            #expect(recognizer.distantDevice(of: tag, milliseconds: now + hours * hour) == nil)
        }
        // Forged hours use up what is computed in an hour; what was recognised before still is, and in the next hour all is as before.
        let later = now + 48 * hour
        #expect(recognizer.distantDevice(of: tag, milliseconds: later) == device)
        for offset in 30...160 as ClosedRange<Int64> {
            let forged = later / hour + offset
            let tag = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: forged >> Int64($0)) } + [UInt8](repeating: 0, count: 12)
            #expect(recognizer.distantDevice(of: tag, milliseconds: later) == nil)
        }
        #expect(recognizer.distantDevice(of: tag, milliseconds: later) == device)
        let other = AnnouncementTag(of: device, secret: secret, milliseconds: later - 100 * hour).bytes
        #expect(recognizer.distantDevice(of: other, milliseconds: later) == nil)
        #expect(recognizer.distantDevice(of: other, milliseconds: later + hour) == device)
        #expect(AnnouncementTag.hoursAhead(of: [1, 2], milliseconds: now) == nil)
    }

    @Test func `no part of a tag stays longer than an hour`() throws {
        let secret = try secret(1)
        var seen: Set<[UInt8]> = []
        for index in 0..<24 as Range<Int64> {
            let tag = AnnouncementTag(of: device, secret: secret, milliseconds: now + index * hour).bytes
            #expect(tag == AnnouncementTag(of: device, secret: secret, milliseconds: now - now % hour + index * hour).bytes)
            for start in 4...12 { #expect(seen.insert(Array(tag[start..<start + 4])).inserted) }
        }
    }

    @Test func `who has no secret or an old one recognises nobody`() throws {
        let tag = AnnouncementTag(of: device, secret: try secret(2), milliseconds: now)
        var revoked = AnnouncementTag.Recognizer(devices: [device], secrets: [try secret(1)])
        var stranger = AnnouncementTag.Recognizer(devices: [device], secrets: [])
        #expect(revoked.device(of: tag.bytes, milliseconds: now) == nil)
        #expect(stranger.device(of: tag.bytes, milliseconds: now) == nil)
    }

    @Test func `a hundred thousand forged tags are nobodys`() throws {
        var random = SplitMix64(seed: 3)
        var recognizer = AnnouncementTag.Recognizer(devices: [device], secrets: [try secret(1)])
        for _ in 0..<100_000 {
            // In the hours that are looked at, and out of them.
            let forged = now / hour + Int64.random(in: -40...40, using: &random)
            let tag = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: forged >> Int64($0)) } + random.bytes(12)
            if recognizer.device(of: tag, milliseconds: now) != nil { Issue.record("a forged tag was recognised") }
        }
        #expect(recognizer.device(of: [], milliseconds: now) == nil)
        let tag = AnnouncementTag(of: device, secret: try secret(1), milliseconds: now)
        #expect(recognizer.device(of: tag.bytes, milliseconds: now) == device)
    }
}
