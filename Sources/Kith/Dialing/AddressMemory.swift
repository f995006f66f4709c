import Foundation
import KithSync
import KithTrust
import Logging
import Synchronization

/// Where each device was reached last, kept beside the list of devices: it is dialled there whatever else is known of it, so that
/// two devices meet again when neither hears the other's announcement, or their clocks are too far apart to recognise it.
final class AddressMemory: Sendable {
    static let fileName = "addresses.json"
    /// Larger files are not read.
    private static let fileBytesMax = 1 << 20

    private let file: URL
    private let logger: Logger
    private let book: Mutex<AddressBook<String, String>>

    /// - Parameter folder: that of the device's identity. A file that cannot be read is no more than forgotten.
    init(in folder: URL, logger: Logger) {
        file = folder.appending(path: Self.fileName)
        self.logger = logger
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
        let data = size <= Self.fileBytesMax ? try? Data(contentsOf: file) : nil
        book = Mutex(AddressBook(data.flatMap { try? JSONDecoder().decode([String: [String]].self, from: $0) } ?? [:]))
    }

    /// Where `device` was reached, the newest first.
    func addresses(of device: DeviceID) -> [PeerAddress] {
        book.withLock { $0.addresses(of: device.description) }.compactMap { try? PeerAddress(parsing: $0) }
    }

    /// `device` was reached at these addresses, the best first.
    func note(_ addresses: [PeerAddress], of device: DeviceID) {
        book.withLock { book in
            if book.note(addresses.map(\.description), of: device.description) { write(book.contents) }
        }
    }

    /// Forgets all devices but these.
    func keep(only devices: [DeviceID]) {
        book.withLock { book in
            if book.keep(only: devices.map(\.description)) { write(book.contents) }
        }
    }

    private func write(_ known: [String: [String]]) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try PrivateText.write(encoder.encode(known), to: file)
        } catch {
            logger.debug("where devices were reached cannot be written down", metadata: ["reason": "\(error)"])
        }
    }
}
