import Foundation
import GRDB
import KithCapture
import KithLedger
import KithLock
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An attachment on its way: its outline is known, and the first chunks may be here.
///
/// Every chunk is proved before it is written. What a killed process or a loss of power left behind is proved again, and so is what another
/// process has brought meanwhile: a node and `kith carry in` may fetch the same attachment.
package struct IncomingAttachment: Sendable {
    package let id: AttachmentID
    /// The hashes by which its bytes are proved.
    package let outline: AttachmentOutline
    /// Chunks that are here: the first so many.
    package private(set) var chunksHeld = 0
    /// The file that they are in, as it was when they were proved or written last.
    private var stamp: FileStamp?
    private let folder: AttachmentFolder

    /// Takes up what is on the disk.
    fileprivate init(_ id: AttachmentID, _ outline: AttachmentOutline, _ folder: AttachmentFolder) throws {
        self.id = id
        self.outline = outline
        self.folder = folder
        if let file = try OpenFile(reading: folder.part(id)) { try takeUp(file) }
    }

    /// Counts the proven chunks of the part again if the file has changed.
    private mutating func takeUp(_ file: OpenFile) throws {
        let now = try file.stamp()
        if now == stamp { return }
        let held = chunksHeld == 0 ? 0 : outline.range(ofChunk: chunksHeld - 1)?.upperBound ?? 0
        if stamp?.isOfSameFile(as: now) != true || now.size < held { chunksHeld = 0 }
        while let range = outline.range(ofChunk: chunksHeld) {
            let chunk = try file.read(at: range.lowerBound, count: range.count)
            guard outline.proves(chunk, chunk: chunksHeld) else { break }
            chunksHeld += 1
        }
        stamp = now
    }

    private mutating func forget() {
        (chunksHeld, stamp) = (0, nil)
    }

    /// Whether all bytes are here.
    package var isComplete: Bool { chunksHeld == outline.chunkCount }

    /// Keeps the next chunk. If another process has written or removed the part, so that another chunk is next, this one is not kept: see
    /// ``chunksHeld``.
    /// - Throws: ``StoreError`` with code `sliceRejected` if it is not what the outline says; `diskFull`, `readOnly`.
    package mutating func append(_ bytes: [UInt8], chunk index: Int) throws {
        guard let range = outline.range(ofChunk: index), outline.proves(bytes, chunk: index) else {
            throw StoreError(.sliceRejected, "Chunk \(index) of the attachment \(id) is not what its hash says; it was not kept.")
        }
        try folder.requireRoom(forBytes: bytes.count)
        guard let part = try LockedPart(folder.part(id)) else { return forget() }
        try takeUp(part.file)
        guard index == chunksHeld else { return }
        try part.file.write(bytes, at: range.lowerBound, by: folder.writeFile)
        chunksHeld += 1
        stamp = try part.file.stamp()
    }

    /// Makes the content present. What is present by now stays.
    /// - Parameter keep: runs under the lock under which content comes to its place.
    fileprivate func finish(_ keep: (() throws -> Void) throws -> Void) throws {
        guard let part = try LockedPart(folder.part(id)) else {
            if folder.isPresent(id) { return }
            throw StoreError(.notFound, "What had come of the attachment \(id) was removed meanwhile; it is fetched again.")
        }
        if try part.file.stamp() != stamp {
            var again = self
            again.forget()
            try again.takeUp(part.file)
            guard again.isComplete else {
                throw StoreError(.failed, "What had come of the attachment \(id) was changed meanwhile; the rest is fetched again.")
            }
        }
        // A part may be longer than what was proved of it.
        try part.file.write([], at: outline.size, by: folder.writeFile)
        try part.file.seal()
        try keep {
            if !folder.isPresent(id) {
                guard part.isInPlace else {
                    throw StoreError(.notFound, "What had come of the attachment \(id) was removed meanwhile; it is fetched again.")
                }
                try folder.move(folder.part(id), to: folder.content(id))
            }
            try folder.removeWish(id)
        }
    }
}

/// The part of an attachment, to which no other process writes as long as this is held.
private struct LockedPart {
    let file: OpenFile
    private let lock: FileLock

    /// `nil` if there is none.
    init?(_ path: String) throws {
        guard let lock = FileLock(reading: path) else {
            if OpenFile.size(of: path) == nil { return nil }
            throw StoreError(.readOnly, "\(path) cannot be opened. Check the permissions of the file and its folder.")
        }
        let isTaken = try StoreError.locking { () throws(FileLock.Failure) in
            try lock.tryToTake(.exclusive, for: Self.patienceMilliseconds, pauseMilliseconds: 2)
        }
        guard isTaken else { throw StoreError(.busy, "Another process is writing \(path).") }
        // Another process may have made the part content, or removed it, before this one could lock it.
        guard lock.isInPlace else { return nil }
        // A process that ended within `finish` has left the part read-only.
        chmod(path, 0o600)
        file = try OpenFile(writing: path, isMade: false)
        self.lock = lock
        guard isInPlace else { return nil }
    }

    /// Whether the part is still there, and no other one in its place: an app that attaches the same content, or the collection of garbage,
    /// may remove it.
    var isInPlace: Bool { lock.isInPlace }

    /// The part is fetched on a queue that all attachments share.
    private static let patienceMilliseconds: Int64 = 1_000
}

extension SyncedDatabase {
    /// What rows refer to and is not here, what was asked for first, and of many in turns of the devices that have named them; at most
    /// `max`. What is larger than is fetched unasked, by itself or with all else that the same device has named, is left out, as far as its
    /// size is known.
    package func wantedAttachments(max limit: Int = 100_000) throws -> [AttachmentID] {
        guard let folder = attachments else { return [] }
        attachmentRoom.withLock { $0 = nil }
        let asked = folder.askedFor()
        var known = Set(asked)
        var wanted: [AttachmentID] = []
        let tables = writer.declarations.tables.filter { !$0.attachments.isEmpty }
        if tables.isEmpty { return Array(asked.prefix(limit)) }
        let shown = try read { ledger in
            try tables.flatMap { try AttachmentReferences(connection: ledger.connection).shown(table: $0.name, columns: $0.attachments) }
        }
        for id in shown where known.insert(id).inserted {
            switch folder.state(id) {
            case .present: continue
            case .onItsWay(_, let size): if try size != nil || hasAttachmentRoom(for: id, bytes: 0) { wanted.append(id) }
            case .damaged:
                // What was cut off is not yet out of the way. If that cannot be done now, it is when it has come again.
                if let proof = try? folder.proof(of: id), !proof.isWhole { _ = try? setAside(id, folder, proof.file) }
                if !folder.isPresent(id) { wanted.append(id) }
            case .notFetched(let size): if try isFetchedUnasked(id, size) { wanted.append(id) }
            }
        }
        return Array((asked + (try inTurns(wanted))).prefix(limit))
    }

    /// So that no device keeps what others have named waiting behind a hundred thousand names of its own. Reads all rows, if there are many.
    private func inTurns(_ ids: [AttachmentID]) throws -> [AttachmentID] {
        if ids.count <= Self.attachmentsWithoutTurns { return ids }
        let shares = try read { ledger in try AttachmentShares(ledger, kept: [:]) }
        var queues: [[AttachmentID]] = []
        var places: [Author: Int] = [:]
        var known: Set<AttachmentID> = []
        for id in ids {
            for author in shares.authors(of: id) {
                let place = places[author] ?? queues.count
                if place == queues.count {
                    places[author] = place
                    queues.append([])
                }
                queues[place].append(id)
            }
        }
        let turns = (0..<(queues.map(\.count).max() ?? 0)).flatMap { turn in queues.compactMap { turn < $0.count ? $0[turn] : nil } }
        return turns.filter { known.insert($0).inserted }
    }

    private static let attachmentsWithoutTurns = 10_000

    private func isFetchedUnasked(_ id: AttachmentID, _ bytes: Int64) throws -> Bool {
        try bytes <= options.attachmentBytesFetched && hasAttachmentRoom(for: id, bytes: bytes)
    }

    /// Whether the size of an attachment of which nothing is known may be found out.
    package func mayAskForOutline(_ id: AttachmentID) throws -> Bool {
        try isAskedFor(id, in: attachmentFolder()) || hasAttachmentRoom(for: id, bytes: 0)
    }

    /// Whether it comes in any case: somebody has asked for it, or the disk has changed what was here.
    private func isAskedFor(_ id: AttachmentID, in folder: AttachmentFolder) -> Bool {
        OpenFile.size(of: folder.asked(id)) != nil || OpenFile.size(of: folder.damaged(id)) != nil
    }

    /// What is here of an attachment; `nil` if not even its outline is known.
    package func incomingAttachment(_ id: AttachmentID) throws -> IncomingAttachment? {
        let folder = try attachmentFolder()
        return try folder.outline(id).map { try IncomingAttachment(id, $0, folder) }
    }

    /// Takes the outline that a peer sent.
    /// - Throws: ``StoreError`` with code `sliceRejected` if it is not what the id says; `diskFull`, `readOnly`.
    package func keepOutline(_ outline: AttachmentOutline, of id: AttachmentID) throws -> IncomingAttachment {
        guard outline.id == id else {
            throw StoreError(.sliceRejected, "The outline of the attachment \(id) is not what its hash says; it was not kept.")
        }
        let folder = try attachmentFolder()
        try folder.save(outline, id)
        takeAttachmentRoom(for: id, bytes: Int64(outline.hashed.count))
        return try IncomingAttachment(id, outline, folder)
    }

    /// Marks the attachment as being fetched, if it is small enough, or was here before, or the app asked for it. Returns whether it is,
    /// and not present already.
    package func beginFetching(_ incoming: IncomingAttachment) throws -> Bool {
        let (folder, id) = (try attachmentFolder(), incoming.id)
        if folder.isPresent(id) { return false }
        // What was begun goes on.
        if OpenFile.size(of: folder.part(id)) != nil { return true }
        try folder.makeFolder(forFile: folder.part(id))
        if !isAskedFor(id, in: folder) {
            guard try isFetchedUnasked(id, incoming.outline.size) else { return false }
            _ = try OpenFile(writing: folder.unasked(id))
        }
        _ = try OpenFile(writing: folder.part(id))
        // The app may have attached the same content just now: before this part was there to be removed.
        if folder.isPresent(id) {
            unlink(folder.part(id))
            unlink(folder.unasked(id))
            return false
        }
        takeAttachmentRoom(for: id, bytes: incoming.outline.size)
        return true
    }

    /// Makes complete content present, on the disk, and lets observations of the tables that may refer to it look again.
    package func finish(_ incoming: IncomingAttachment) throws {
        guard incoming.isComplete else { throw StoreError(.failed, "The attachment \(incoming.id) is not complete.") }
        try incoming.finish { move in try write { _, _ in try move() } }
        tellAttachmentObservations()
    }

    /// A piece of an attachment that is here, for a peer; `nil` if it is not.
    ///
    /// What is read is proved first: content that the disk has changed is set aside, never sent.
    package func piece(_ piece: AttachmentPiece) throws -> AttachmentMessage? {
        guard let folder = attachments, let file = try OpenFile(reading: folder.content(piece.id)) else { return nil }
        guard let outline = try folder.outline(piece.id) else {
            if let proof = try folder.proof(of: piece.id), !proof.isWhole { _ = try setAside(piece.id, folder, proof.file) }
            return nil
        }
        guard let index = piece.chunk else { return .outline(piece.id, outline) }
        guard let range = outline.range(ofChunk: index) else { return nil }
        let bytes = try file.read(at: range.lowerBound, count: range.count)
        guard outline.proves(bytes, chunk: index) else {
            _ = try setAside(piece.id, folder, file)
            return nil
        }
        return .chunk(piece.id, index: index, bytes)
    }
}
