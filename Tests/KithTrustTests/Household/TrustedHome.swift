import Foundation
import KithTrust
import TestSupport
import Testing

/// A device with its folder, and what happens when two of them meet.
final class TrustedHome {
    let folder: TemporaryFolder
    private(set) var store: TrustStore

    convenience init() throws { try self.init(in: TemporaryFolder()) }

    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        store = try TrustStore(in: folder.url, ownID: DeviceKey.loadOrCreate(in: folder.url).id)
    }

    var id: DeviceID { store.ownID }
    var key: DeviceKey { get throws { try DeviceKey.load(from: folder.url) } }
    var trusted: Set<DeviceID> { Set(store.devices.map(\.id)) }

    var asTrusted: TrustedDevice {
        get throws { try TrustedDevice(id: id, name: "", added: Date(timeIntervalSince1970: 0)) }
    }

    /// The certificate that this device would show.
    var certificate: DeviceCertificate {
        get throws { try key.makeCertificate(stating: store.statements) }
    }

    /// Starts the program again.
    func reopen() throws { store = try TrustStore(in: folder.url, ownID: key.id) }

    /// What happens when two are paired and the second joins, before they synchronise.
    func sponsor(_ second: TrustedHome) throws {
        try store.admit(second.asTrusted, founding: Household.founded(as: "first", by: key))
        try second.store.join(try #require(store.household).id, through: asTrusted)
    }

    /// What happens when two are paired, and synchronise.
    func pair(with second: TrustedHome) throws {
        try sponsor(second)
        try exchange(with: second)
    }

    /// What happens when two try to connect: whether each lets the other in. If both do, they say what they know of the household;
    /// one that leaves says that.
    @discardableResult
    func meet(_ other: TrustedHome) throws -> Bool {
        let sides = [(self, other), (other, self)]
        for (judge, shown) in sides where try judge.store.farewell(in: shown.certificate) != nil {
            try shown.sayFarewell(to: judge)
            return false
        }
        var isAdmitted = true
        for (judge, shown) in sides {
            _ = try judge.store.hear(judge.store.news(in: shown.certificate))
            if try judge.store.admission(of: shown.certificate) == nil { isAdmitted = false }
        }
        if isAdmitted { try exchange(with: other) }
        return isAdmitted
    }

    /// Tells `other` that this device has left, and forgets the household if it hears that this is written down.
    private func sayFarewell(to other: TrustedHome) throws {
        guard let farewell = store.farewell, try store.witness(in: other.certificate) != nil else { return }
        for message in farewell.messages {
            let read = try #require(HouseholdMessage(message.encoded))
            guard case .have(let ids, _, _)? = try other.store.hear(read, fromLeaving: certificate).answer else { continue }
            if ids.contains(farewell.id) { try store.forgetHousehold() }
        }
    }

    /// What happens when two are connected; returns how many messages it took.
    @discardableResult
    func exchange(with other: TrustedHome) throws -> Int {
        var line = [(other, store.householdDigest), (self, other.store.householdDigest)].compactMap { to, message in
            message.map { (to, $0) }
        }
        var count = 0
        while !line.isEmpty {
            let (to, message) = line.removeFirst()
            count += 1
            try #require(count < 100, "the exchange does not end")
            let read = try #require(HouseholdMessage(message.encoded))
            #expect(read == message)
            let (answers, hasChanged) = try to.store.answer(read)
            let back = to === self ? other : self
            line += answers.map { (back, $0) }
            if hasChanged { line += to.store.householdDigest.map { [(back, $0)] } ?? [] }
        }
        return count
    }
}
