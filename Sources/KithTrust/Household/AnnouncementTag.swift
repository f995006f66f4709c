import Crypto

/// What an announcement carries so that members know whose it is, and nobody else learns anything: another one each hour.
///
/// The hour, then the first twelve bytes of HMAC-SHA256(secret, label ‖ hour ‖ id of the device). A tag that was recorded is good for
/// a day at most; whoever plays it back gets dialled, and the connection finds out who it is (RFC 8882, 3.4).
package struct AnnouncementTag: Hashable, Sendable {
    /// Length in bytes.
    package static let byteCount = 16
    /// How far the clocks of two devices may be apart, in hours.
    package static let hoursApartMax: Int64 = 26
    /// How far apart they may be for a device to be recognised as one with a wrong clock, in hours.
    static let distantHoursMax: Int64 = 7 * 24
    private static let label = Array("kith-household/1 announcement".utf8)

    package let bytes: [UInt8]

    /// The tag of `device` in the hour of `milliseconds` since 1970.
    package init(of device: DeviceID, secret: HouseholdSecret, milliseconds: Int64) {
        self.init(of: device, secret: secret, hour: Self.hour(milliseconds))
    }

    private init(of device: DeviceID, secret: HouseholdSecret, hour: UInt32) {
        let hourBytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: hour >> UInt32($0)) }
        let code = HMAC<SHA256>.authenticationCode(for: Self.label + hourBytes + device.bytes, using: SymmetricKey(data: secret.bytes))
        bytes = hourBytes + Array(code).prefix(Self.byteCount - 4)
    }

    /// How many hours the hour that a tag tells is ahead of `milliseconds` since 1970, whoever says so; `nil` for what is no tag.
    package static func hoursAhead(of tag: [UInt8], milliseconds: Int64) -> Int64? {
        guard tag.count == byteCount else { return nil }
        return Int64(hour(of: tag)) - Int64(hour(milliseconds))
    }

    fileprivate static func hour(of tag: [UInt8]) -> UInt32 { tag.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }

    /// The number of whole hours since 1970; 0 for times before.
    static func hour(_ milliseconds: Int64) -> UInt32 { UInt32(clamping: milliseconds / 3_600_000) }

    /// Recognises the tags of some devices.
    ///
    /// The tags of an hour are computed once, when the first tag of that hour comes: a flood of false ones costs little.
    package struct Recognizer: Sendable {
        private let devices: [DeviceID]
        private let secrets: [HouseholdSecret]
        private var known: [UInt32: [[UInt8]: DeviceID]] = [:]
        /// The same for hours that a right clock does not show, as far as computed in the present hour.
        private var distant: [UInt32: [[UInt8]: DeviceID]] = [:]
        private var distantSince: UInt32?

        /// Distant hours that are computed in one hour: each costs as much as there are devices and secrets, and anybody can tell any hour.
        static let distantHoursComputedMax = 64

        package init(devices: [DeviceID], secrets: [HouseholdSecret]) {
            self.devices = devices
            self.secrets = secrets
        }

        /// Whose tag this is; `nil` for anything else.
        package mutating func device(of tag: [UInt8], milliseconds: Int64) -> DeviceID? {
            guard tag.count == AnnouncementTag.byteCount else { return nil }
            let hour = AnnouncementTag.hour(of: tag)
            let now = AnnouncementTag.hour(milliseconds)
            guard abs(Int64(hour) - Int64(now)) <= AnnouncementTag.hoursApartMax else { return nil }
            if known[hour] == nil {
                known = known.filter { abs(Int64($0.key) - Int64(now)) <= AnnouncementTag.hoursApartMax }
                known[hour] = tags(of: hour)
            }
            return known[hour]?[tag]
        }

        /// Whose tag this is though its hour is more than ``AnnouncementTag/hoursApartMax`` off, because one of the two clocks is wrong.
        package mutating func distantDevice(of tag: [UInt8], milliseconds: Int64) -> DeviceID? {
            guard let apart = AnnouncementTag.hoursAhead(of: tag, milliseconds: milliseconds)?.magnitude,
                apart > AnnouncementTag.hoursApartMax, apart <= AnnouncementTag.distantHoursMax
            else { return nil }
            let (hour, now) = (AnnouncementTag.hour(of: tag), AnnouncementTag.hour(milliseconds))
            if distantSince != now { (distant, distantSince) = ([:], now) }
            if distant[hour] == nil {
                guard distant.count < Self.distantHoursComputedMax else { return nil }
                distant[hour] = tags(of: hour)
            }
            return distant[hour]?[tag]
        }

        private func tags(of hour: UInt32) -> [[UInt8]: DeviceID] {
            var tags: [[UInt8]: DeviceID] = [:]
            for secret in secrets {
                for device in devices { tags[AnnouncementTag(of: device, secret: secret, hour: hour).bytes] = device }
            }
            return tags
        }
    }
}
