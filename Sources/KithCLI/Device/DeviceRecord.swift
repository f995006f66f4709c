import Foundation
import Kith
import KithNotes

/// A trusted device in the JSON that commands print.
struct DeviceRecord: Encodable {
    let id: String
    let name: String
    let addresses: [String]
    let added: String
    /// `member` of the household, or `addedByHand`; `nil` while this machine joins a household, and where it was not asked for.
    let role: String?
    /// What the running node says of it; `nil` if none runs or it was never met.
    let state: String?
    /// When it was last heard of; `nil` if it never was.
    let lastSeen: String?
    let lastInStep: String?
    let address: String?
    let software: String?
    let clockOffsetMilliseconds: Int64?
    let lastSeenMilliseconds: Int64?

    init(_ device: TrustedDevice, role: String? = nil, seen peer: NodeStatus.Peer? = nil, lastSeenMilliseconds: Int64? = nil) {
        id = device.id.description
        name = device.name
        addresses = device.addresses.map(\.description)
        added = device.added.formatted(.iso8601)
        self.role = role
        state = peer?.state.rawValue
        let seen = [lastSeenMilliseconds, peer?.lastSyncMilliseconds].compactMap(\.self).max()
        self.lastSeenMilliseconds = seen
        lastSeen = seen.flatMap(TimeText.init(milliseconds:))?.iso8601
        lastInStep = peer?.lastSyncMilliseconds.flatMap(TimeText.init(milliseconds:))?.iso8601
        address = peer?.address
        software = peer?.software
        clockOffsetMilliseconds = peer?.clockOffsetMilliseconds
    }

    var isConnected: Bool { state == NodeStatus.Peer.State.connected.rawValue }

    /// Where it was reached last, and then what people have said.
    var allAddresses: [String] { [address].compactMap(\.self).filter { !addresses.contains($0) } + addresses }

    /// How far its clock is off, if that is known: `right`, `+14 min`.
    var clock: String? {
        guard let offset = clockOffsetMilliseconds else { return isConnected ? "right" : nil }
        let minutes = offset.magnitude / 60_000
        return (offset > 0 ? "+" : "-") + (minutes < 600 ? "\(minutes) min" : "\(minutes / 60) h")
    }
}

extension TrustedDevice {
    /// For people, in messages.
    var label: String { name.isEmpty ? id.shortDescription : "\(name) (\(id.shortDescription))" }
}

extension TrustStore {
    /// The trusted device that a person means: by its id, the beginning of its id, or its name.
    func find(_ reference: String) throws -> TrustedDevice {
        if let id = DeviceID(reference) {
            if let device = device(id) { return device }
            throw CommandFailure(.noInput, "The device \(id.shortDescription) is not trusted, so there is nothing to change.")
        }
        let found = devices.filter { $0.name.utf8.elementsEqual(reference.utf8) || $0.id.begins(as: reference) }
        if let device = found.first, found.count == 1 { return device }
        if found.isEmpty {
            throw CommandFailure(.noInput, "No trusted device is called \u{201C}\(reference.prefix(80))\u{201D}. See kith device list.")
        }
        let labels = found.map(\.label).joined(separator: ", ")
        throw CommandFailure(.data, "\u{201C}\(reference.prefix(80))\u{201D} could be any of \(labels). Name one by its id.")
    }
}

extension DeviceID {
    /// Fewest characters of an id that are taken for its beginning.
    private static let beginningMin = 5

    /// Whether a person may mean it by the beginning of its id, with or without its hyphens.
    fileprivate func begins(as reference: String) -> Bool {
        let letters = reference.uppercased().filter { $0 != "-" && $0 != " " }
        return letters.count >= Self.beginningMin && description.filter { $0 != "-" }.hasPrefix(letters)
    }
}

extension StoreOptions {
    /// The machine that a person means, under all keys that it had: this one, a trusted one, one that was in the household, or any other
    /// that has written here, by its name or the beginning of its id.
    func authors(_ reference: String, _ notes: NotesStore) throws -> Set<Author> {
        let trust = try trust()
        if reference.isEmpty { throw CommandFailure(.usage, "Name a machine: “this”, or one of kith device list.") }
        if trust.isOwn(reference) { return [.own] }
        let former = trust.formerMembers
        func keys(of id: DeviceID) -> Set<Author> {
            Set(([id] + former.filter { $0.last == id }.map(\.id)).map { .device($0.bytes) })
        }
        do {
            return keys(of: try trust.find(reference).id)
        } catch let error as CommandFailure where error.status == .noInput {
            let names = trust.deviceNames
            var meant = Set(former.filter { [$0.name, names[$0.id]].contains(reference) }.map(\.last))
            if meant.isEmpty {
                meant = Set(try notes.store.authors().devices.compactMap { DeviceID(bytes: $0) }).filter { $0.begins(as: reference) }
            }
            if meant.isEmpty { throw error }
            if let id = meant.first, meant.count == 1 { return keys(of: former.first { $0.id == id }?.last ?? id) }
            let ids = meant.map(\.shortDescription).sorted().joined(separator: ", ")
            throw CommandFailure(.data, "“\(reference.prefix(80))” could be any of \(ids). Name one by its id.")
        }
    }
}
