import Foundation
import KithCausality
import KithStore
import KithSync
import KithTrust

/// What becomes of the files that a new one replaces: after a restore, or the loss of a disk, they may have what is nowhere else.
extension Carrier {
    /// Files that are to be replaced.
    struct Earlier {
        /// Those that are shown to have nothing that is not here.
        var known: [String] = []
        /// Those that may have had more, or still have, although they were taken in as far as that goes.
        var unknown: [String] = []
        /// How many rows were taken in of them, known ones included.
        var rows: UInt64 = 0
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
            let isKnown = try isKnown(path)
            if try isKnown && !lacksAttachments() {
                earlier.known.append(path)
                continue
            }
            let reading = try takeIn(path, proofs)
            earlier.rows += reading?.rows ?? 0
            // If the store was set back and has written since, it may have given the numbers of lost commits to others; then it passes the
            // lost ones over when it reads them. So the carrier keeps each file that it does not know, however much it took in.
            if isKnown, reading?.isToItsEnd == true { earlier.known.append(path) } else { earlier.unknown.append(path) }
        }
        return earlier
    }

    /// - Returns: `nil` if the file cannot be read.
    private func takeIn(_ path: String, _ proofs: any ProofBook) throws -> Reading? {
        do {
            return try read(file: path, proofs) { _ in }
        } catch is CarryError {
            return nil
        }
    }

    /// Whether the beginning of a file shows that this device made it and has all that it tells, attachments aside. Nothing changes: its
    /// signature is not known.
    private func isKnown(_ path: String) throws -> Bool {
        guard let beginning = try? CarriedFile.beginning(of: path, trust), isOwn(beginning.head.key), let household = beginning.household,
            trust.knows(household)
        else { return false }
        return try store.hasAll(beginning.hello.heads, ofFileMarked: beginning.mark)
    }

    /// Whether rows show attachments that are not here.
    private func lacksAttachments() throws -> Bool { try store.heldAttachments().contains { !$0.isHere } }
}

extension Carrier.Reading {
    /// Whether all that the file has is here now.
    fileprivate var isToItsEnd: Bool { [.taken, .nothingNew, .own].contains(outcome) && attachmentsLeft == 0 }
}
