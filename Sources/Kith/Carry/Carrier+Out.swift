import Foundation
import KithCausality
import KithStore
import KithSync
import KithTrust

extension Carrier {
    /// What a file is to hold.
    package struct Wish: Sendable {
        /// For whom it is; `nil` for all other members.
        package var target: DeviceID?
        /// Whether it is to hold everything, whatever the target was heard to hold.
        package var isWhole = false
        /// Whether the bytes of attachments go along.
        package var includesAttachments = true

        package init() {}
    }

    /// What was written.
    package struct Written: Hashable, Sendable {
        package let path: String
        package var rows: UInt64 = 0
        package var attachments = 0
        package var bytes: Int64 = 0
        /// Whether a device that knows nothing yet can read it.
        package var isWhole = false
        /// Rows that are too large for a file, as `table id`. All others are in it.
        package var withheld: [String] = []
        /// Rows that were taken in first from the file that was there before, because this store has lost something of it.
        package var rowsTakenBack: UInt64 = 0
        /// Earlier files of this device that may hold what nobody else has, under the names that this one has given them.
        package var kept: [String] = []
    }

    /// Writes what the target lacks, as far as it is known here, into a file.
    ///
    /// - Parameters:
    ///   - place: a folder, in which the file takes the place of the last one that this device made for the same target; or the file. What
    ///     that one has and this store does not is taken in before; if it may have had more, it also stays under another name.
    ///   - progress: told of rows and attachments, and how many of them are written.
    /// - Throws: ``CarryError``, `TrustError`, `StoreError`; what was there before is as it was then.
    package func write(to place: String, _ wish: Wish = Wish(), progress: (Int) -> Void = { _ in }) throws -> Written {
        // Who may not carry hears so before anything else.
        _ = try trust.seal(knownKeys: [])
        let proofs = try prepare()
        let path = try path(in: place, for: wish.target)
        let earlier = try takeBack(from: earlierFiles(of: path, in: place, for: wish.target), proofs)
        // What this device has just taken back, or its node has heard meanwhile, may change who belongs. The file tells of the household
        // as it was before the seal, so that a device that is out gets no new secret.
        _ = try trust.reloadIfChanged()
        let household = trust.householdMessages
        let envelope = try trust.seal(knownKeys: try store.knownKeys())
        if let target = wish.target, !trust.isTrusted(target) {
            throw CarryError(.notAMember, "The machine for which this was to be carried out is not in the household any more.")
        }
        let targets = wish.target.map { [$0.bytes] } ?? trust.devices.map(\.id.bytes)
        let durable = try store.makeDurable()
        let ahead = try store.ahead()
        let summary = try store.summary()
        let since = wish.isWhole ? VersionVector() : try store.acknowledged(by: targets)
        let now = MonotonicClock.wallClockMilliseconds
        let head = CarriedHead(key: key.publicKeyBytes, target: wish.target, madeMilliseconds: now)
        do {
            var writer = try CarryWriter(configuration(proofs), summary)
            let file = try CarriedFileWriter(path, head, by: key, in: envelope)
            let greeting = try writer.greeting(durable: durable, wallClockMilliseconds: now)
            try file.put(greeting[0])
            for message in household { try file.put(FrameCodec.encode(.household(message.encoded))) }
            for frame in greeting.dropFirst() { try file.put(frame) }
            var written = Written(path: path, rowsTakenBack: earlier.rows)
            written.isWhole = since.isEmpty
            var count = 0
            let sent = try writer.delta(
                since: since, ahead: ahead,
                read: { request in
                    let slice = try store.slice(request)
                    count += slice.rows.count
                    progress(count)
                    return slice
                }, put: file.put)
            (written.rows, written.withheld) = (sent.rows, sent.withheld.map(\.tableAndID))
            try putAttachments(wish, targets, file) {
                written.attachments += 1
                progress(count + written.attachments)
            }
            // All that it holds is in the store. One that is set back to before this lacks some of it, perhaps. If the disk of this machine
            // has no room for the mark, the file is good nevertheless, and kept by the next one.
            try? store.noteCarried(envelope.mark)
            let finished = try file.finish(movingAside: earlier.unknown.contains(path))
            (written.bytes, written.kept) = (finished.bytes, finished.aside.map { [$0] } ?? [])
            // Once put aside they are not looked at again.
            for old in earlier.unknown where old != path {
                do throws(CarryError) {
                    if let aside = try CarryDraft.moveAside(old) { written.kept.append(aside) }
                } catch {
                    written.kept.append(old)
                }
            }
            // What they hold is in the new one, or was heard of.
            for old in earlier.known where old != path { try? FileManager.default.removeItem(atPath: old) }
            // The file may have commits that came after the store was brought to the disk.
            _ = try store.makeDurable()
            return written
        } catch let reason as CloseReason {
            throw CarryError(.cannotSend, reason.message)
        }
    }

    // MARK: Attachments

    /// Says which attachments are here, and writes those that one of `targets` is not known to have, or all.
    private func putAttachments(_ wish: Wish, _ targets: [[UInt8]], _ file: CarriedFileWriter, _ didWrite: () -> Void) throws {
        guard store.keepsAttachments else { return }
        for holdings in AttachmentHoldings.all(store.attachmentsHere()) {
            try file.put(FrameCodec.encode(.attachment(.holdings(holdings))))
        }
        guard wish.includesAttachments else { return }
        for held in try store.heldAttachments() where held.isHere && (wish.isWhole || !Set(targets).isSubset(of: held.holders)) {
            guard case .outline(let id, let outline)? = try store.piece(AttachmentPiece(held.id, chunk: nil)) else { continue }
            try file.put(FrameCodec.encode(.attachment(.outline(id, outline))))
            var isWhole = true
            for chunk in 0..<outline.chunkCount {
                guard let message = try store.piece(AttachmentPiece(id, chunk: chunk)) else {
                    isWhole = false
                    break
                }
                try file.put(FrameCodec.encode(.attachment(message)))
            }
            if isWhole { didWrite() }
        }
    }

    // MARK: The place

    private func path(in place: String, for target: DeviceID?) throws -> String {
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: place, isDirectory: &isFolder)
        if isThere, isFolder.boolValue {
            let path = URL(filePath: place, directoryHint: .isDirectory).appending(path: fileName(for: target)).path
            if FileManager.default.fileExists(atPath: path), !CarriedFile.isCarried(path) { throw Self.inTheWay(path) }
            return path
        }
        if isThere {
            guard let file = try? CarriedFile.beginning(of: place, trust), isOwn(file.head.key) else { throw Self.inTheWay(place) }
        } else if !place.hasSuffix(Self.fileEnding) {
            throw CarryError(
                .cannotCreate, "There is no folder \(place). Is the stick in? The name of a new file ends in \(Self.fileEnding).")
        }
        return place
    }

    /// A name that tells by whom and for whom the file is, so that a newer one takes its place.
    func fileName(for target: DeviceID?) -> String { fileName(of: key.id, for: target) }

    func fileName(of device: DeviceID, for target: DeviceID?) -> String {
        let suffix = target.map { "-to-\(Self.mark(of: $0))" } ?? ""
        return "kith-\(Self.mark(of: device))\(suffix)\(Self.fileEnding)"
    }

    private static func mark(of device: DeviceID) -> String {
        device.shortDescription.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    private static func inTheWay(_ path: String) -> CarryError {
        CarryError(.cannotCreate, "\(path) is another file, and was left as it is. Name another place.")
    }

    /// Whether a key is this device's, or was.
    func isOwn(_ key: [UInt8]) -> Bool {
        key == self.key.publicKeyBytes || trust.retiredKeys.contains { $0.publicKeyBytes == key }
    }
}
