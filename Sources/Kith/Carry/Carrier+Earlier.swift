import Foundation
import KithCausality
import KithStore
import KithSync
import KithTrust

/// What becomes of the files that a new one replaces: after a restore, or the loss of a disk, they may have what is nowhere else.
extension Carrier {
    /// Files that are to be replaced.
    struct Earlier {
        /// Those of which this store has all.
        var known: [String] = []
        /// Those that may have more.
        var unknown: [String] = []
        /// How many rows were taken in of them, known ones included.
        var rows: UInt64 = 0
    }

    /// What a file has that this store does not, by its beginning.
    private enum Surplus {
        case nothing
        case something
        /// This device has not made it, or it cannot be told.
        case unclear
    }

    /// The files that are there of those that a new one at `path` replaces: the last one, and those under earlier keys of this device.
    func earlierFiles(of path: String, in place: String, for target: DeviceID?) -> [String] {
        var paths = [path]
        if path != place {
            let folder = URL(filePath: place, directoryHint: .isDirectory)
            paths += trust.retiredKeys.map { folder.appending(path: fileName(of: $0.id, for: target)).path }
        }
        return paths.filter(CarriedFile.isCarried)
    }

    /// Takes in what this store lacks of its own earlier files.
    func takeBack(from paths: [String], _ proofs: any ProofBook) throws -> Earlier {
        var earlier = Earlier()
        for path in paths {
            let surplus = try surplus(of: path)
            if surplus != .nothing { earlier.rows += try takeIn(path, proofs) }
            let isKnown = try surplus == .nothing || surplus == .something && self.surplus(of: path) == .nothing
            if isKnown { earlier.known.append(path) } else { earlier.unknown.append(path) }
        }
        return earlier
    }

    /// - Returns: how many rows were taken in; none if the file cannot be read.
    private func takeIn(_ path: String, _ proofs: any ProofBook) throws -> UInt64 {
        do {
            return try read(file: path, proofs) { _ in }.rows
        } catch is CarryError {
            return 0
        }
    }

    private func surplus(of path: String) throws -> Surplus {
        guard let (made, hello) = try? CarriedFile.beginning(of: path, trust), isOwn(made.key) else { return .unclear }
        let summary = try store.summary()
        if let own = hello.heads.first(where: { $0.dot.replica == summary.replica }),
            try store.verifyIdentity(own).replica != summary.replica, summary.vector.covers(own.dot)
        {
            // Since the store was set back, it has written something else under the same number.
            return .unclear
        }
        return hello.isBeyond(summary.vector) ? .something : .nothing
    }
}
