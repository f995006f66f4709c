import KithDiscovery
import KithSync
import KithTrust

/// What is announced on the network, and whose it is. A pure value.
///
/// A member of a household heeds only what another member announces; a device that cannot tell yet heeds everybody.
struct AnnouncementBook: Sendable {
    /// The attribute that carries an ``AnnouncementTag``.
    static let attribute = "t"
    /// Most announcements kept; more than discovery follows.
    static let announcementsMax = 512

    private var announcements: [InstanceName: Announcement] = [:]
    private var recognizer: AnnouncementTag.Recognizer?
    private var ownID: DeviceID?

    /// Whom to recognise from now on. Without secrets everybody is heeded.
    mutating func trust(_ devices: [DeviceID], own: DeviceID, secrets: [HouseholdSecret]) {
        ownID = own
        recognizer = secrets.isEmpty ? nil : AnnouncementTag.Recognizer(devices: devices + [own], secrets: secrets)
    }

    /// Whether it is kept.
    mutating func found(_ announcement: Announcement) -> Bool {
        // A pairing window answers nobody who does not pair.
        if announcement.attributes["pair"] != nil { return false }
        guard announcements[announcement.name] != nil || announcements.count < Self.announcementsMax else { return false }
        announcements[announcement.name] = announcement
        return true
    }

    mutating func lost(_ name: InstanceName) {
        announcements[name] = nil
    }

    /// What to dial, by name.
    mutating func targets(wallClockMilliseconds: Int64) -> [(name: InstanceName, device: DeviceID?, addresses: [PeerAddress])] {
        announcements.keys.sorted().compactMap { target($0, wallClockMilliseconds) }
    }

    /// Where this device itself is announced, by whomever.
    mutating func own(wallClockMilliseconds: Int64) -> [PeerAddress] {
        announcements.keys.sorted().flatMap { name -> [PeerAddress] in
            guard let announcement = announcements[name], let tag = announcement.attributes[Self.attribute], let ownID,
                recognizer?.device(of: tag, milliseconds: wallClockMilliseconds) == ownID
            else { return [] }
            return Self.places(announcement)
        }
    }

    /// Announcements whose hour no right clock shows, by how many hours it is ahead: evidence that a clock is wrong, there or here. Whose
    /// they are is told of members alone.
    mutating func wrongClocks(wallClockMilliseconds: Int64) -> [(device: DeviceID?, address: String?, hoursAhead: Int64)] {
        announcements.keys.sorted().compactMap { name in
            guard let announcement = announcements[name], let tag = announcement.attributes[Self.attribute],
                let hours = AnnouncementTag.hoursAhead(of: tag, milliseconds: wallClockMilliseconds),
                hours.magnitude > AnnouncementTag.hoursApartMax
            else { return nil }
            let device = recognizer?.distantDevice(of: tag, milliseconds: wallClockMilliseconds)
            return device == ownID && device != nil ? nil : (device, announcement.addresses.first?.description, hours)
        }
    }

    /// Where to dial what is announced under `name`; `nil` if it is not to be heeded. Without a device anybody may be there.
    private mutating func target(
        _ name: InstanceName, _ wallClockMilliseconds: Int64
    ) -> (name: InstanceName, device: DeviceID?, addresses: [PeerAddress])? {
        guard let announcement = announcements[name] else { return nil }
        var device: DeviceID?
        if recognizer != nil {
            device = announcement.attributes[Self.attribute].flatMap { tag in
                // Who seems to be far away in time may have a wrong clock, or this device has.
                recognizer?.device(of: tag, milliseconds: wallClockMilliseconds)
                    ?? recognizer?.distantDevice(of: tag, milliseconds: wallClockMilliseconds)
            }
            guard let device, device != ownID else { return nil }
        }
        return (name, device, Self.places(announcement))
    }

    private static func places(_ announcement: Announcement) -> [PeerAddress] {
        announcement.addresses.compactMap { try? PeerAddress(host: $0.description, port: Int(announcement.port)) }
    }
}
