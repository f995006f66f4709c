import Foundation
import KithTesting

/// A file that a write attaches. Its bytes follow from its name, so that the lab can tell whether a node has them.
struct LabFile: Equatable, Sendable {
    let name: String
    let bytes: Int

    var content: Data {
        // FNV-1a: of each name another one.
        var random = SplitMix64(seed: name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
        var words = [UInt64]()
        words.reserveCapacity(bytes / 8 + 1)
        for _ in 0..<(bytes + 7) / 8 { words.append(random.next().littleEndian) }
        return words.withUnsafeBytes { Data($0.prefix(bytes)) }
    }

    /// Whether a store has it, all of it, under the name of its content.
    ///
    /// - Parameter reads: whether to compare the bytes, too, and not only their number.
    func isKept(as content: String, beside database: URL, reads: Bool) -> Bool {
        guard content.count > 2 else { return false }
        let path = "\(database.path)-kith-files/\(content.prefix(2))/\(content.dropFirst(2))"
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size == bytes else { return false }
        return !reads || FileManager.default.contents(atPath: path) == self.content
    }
}
