import Foundation
import KithTrust

/// Homes of one household, which never meet.
struct CarriedHousehold {
    let homes: [KithHome]

    init(_ count: Int) throws {
        homes = try (0..<count).map { _ in try KithHome() }
        let places = homes.map { $0.folder.appending(path: "keys") }
        // A first command makes the key.
        for home in homes { try home.kith("device", "id") }
        let stores = try places.map { place in
            try TrustStore(in: place, ownID: DeviceKey.load(from: place).id)
        }
        for (index, store) in stores.enumerated().dropFirst() {
            let device = try TrustedDevice(id: store.ownID, name: "home\(index)", addresses: [], added: Date(timeIntervalSince1970: 0))
            try stores[0].admit(device, founding: Household.founded(as: "home0", by: stores[0].key()))
        }
        let sponsor = try TrustedDevice(id: stores[0].ownID, name: "home0", addresses: [], added: Date(timeIntervalSince1970: 0))
        for store in stores.dropFirst() {
            if let id = stores[0].household?.id { try store.join(id, through: sponsor) }
            for message in stores[0].householdMessages { _ = try store.answer(message) }
        }
    }
}
