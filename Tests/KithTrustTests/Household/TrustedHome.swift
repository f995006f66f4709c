import Foundation
import KithTrust
import Testing

/// A device with its folder, and what happens when two of them meet.
final class TrustedHome {
    let folder: TemporaryFolder
    private(set) var store: TrustStore

    init() throws {
        folder = try TemporaryFolder()
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

    /// What happens when two are paired and the second joins.
    func pair(with second: TrustedHome) throws {
        try store.admit(second.asTrusted, into: Household.founded(as: "first", by: key))
        try second.store.join(try #require(store.household).id, through: asTrusted)
        try exchange(with: second)
    }

    /// What happens when two try to connect: whether each lets the other in. If both do, they say what they know of the household.
    @discardableResult
    func meet(_ other: TrustedHome) throws -> Bool {
        var isAdmitted = true
        for (judge, shown) in [(self, try other.certificate), (other, try certificate)] {
            if let news = judge.store.news(in: shown) { _ = try judge.store.hear(news) }
            if judge.store.admission(of: shown) == nil { isAdmitted = false }
        }
        if isAdmitted { try exchange(with: other) }
        return isAdmitted
    }

    private func exchange(with other: TrustedHome) throws {
        var line = [(other, store.householdDigest), (self, other.store.householdDigest)].compactMap { to, message in
            message.map { (to, $0) }
        }
        var count = 0
        while !line.isEmpty {
            let (to, message) = line.removeFirst()
            count += 1
            try #require(count < 100, "the exchange does not end")
            let (answers, hasChanged) = try to.store.answer(message)
            let back = to === self ? other : self
            line += answers.map { (back, $0) }
            if hasChanged { line += to.store.householdDigest.map { [(back, $0)] } ?? [] }
        }
    }
}
