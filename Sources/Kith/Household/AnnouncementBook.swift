import KithDiscovery
import KithSync
import KithTrust

/// What is announced on the network, and whose it is. A pure value.
///
/// What another app announces is not heeded. A member of a household heeds only what another member announces; a device that cannot tell yet heeds everybody.
struct AnnouncementBook: Sendable {
    /// The attribute that carries an ``AnnouncementTag``.
    static let attribute = "t"
    /// Most announcements kept; more than discovery follows.
    static let announcementsMax = 512

    private let app: AppID
    private var announcements: [InstanceName: Announcement] = [:]
    private var recognizer: AnnouncementTag.Recognizer?
    private var ownID: DeviceID?

    init(of app: AppID) {
        self.app = app
    }

    /// Whom to recognise from now on. Without secrets everybody is heeded.
    mutating func trust(_ devices: [DeviceID], own: DeviceID, secrets: [HouseholdSecret]) {
        ownID = own
        recognizer = secrets.isEmpty ? nil : AnnouncementTag.Recognizer(devices: devices + [own], secrets: secrets)
    }

    /// Whether it is kept.
    mutating func found(_ announcement: Announcement) -> Bool {
        // A pairing window answers nobody who does not pair.
        if announcement.attributes["pair"] != nil { return false }
        guard AppMark.isMark(announcement.attributes[AppMark.attribute], of: app) else {
            announcements[announcement.name] = nil
            return false
        }
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

    /// Where to dial what is announced under `name`; `nil` if it is not to be heeded. Without a device anybody may be there.
    private mutating func target(
        _ name: InstanceName, _ wallClockMilliseconds: Int64
    ) -> (name: InstanceName, device: DeviceID?, addresses: [PeerAddress])? {
        guard let announcement = announcements[name] else { return nil }
        var device: DeviceID?
        if recognizer != nil {
            device = announcement.attributes[Self.attribute].flatMap {
                recognizer?.device(of: $0, milliseconds: wallClockMilliseconds)
            }
            guard let device, device != ownID else { return nil }
        }
        let addresses = announcement.addresses.compactMap { try? PeerAddress(host: $0.description, port: Int(announcement.port)) }
        return (name, device, addresses)
    }
}
