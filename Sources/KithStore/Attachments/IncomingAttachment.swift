import Foundation
import GRDB
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

/// An attachment on its way: its outline is known, and the first chunks may be here.
///
/// Every chunk is proved before it is written. What a killed process or a loss of power left behind is proved again.
package struct IncomingAttachment: Sendable {
    package let id: AttachmentID
    /// The hashes by which its bytes are proved.
    package let outline: AttachmentOutline
    /// Chunks that are here: the first so many.
    package private(set) var chunksHeld = 0
    private let folder: AttachmentFolder

    /// Takes up what is on the disk.
    fileprivate init(_ id: AttachmentID, _ outline: AttachmentOutline, _ folder: AttachmentFolder) throws {
        self.id = id
        self.outline = outline
        self.folder = folder
        guard let file = try OpenFile(reading: folder.part(id)) else { return }
        while let range = outline.range(ofChunk: chunksHeld), !range.isEmpty {
            let chunk = try file.read(at: range.lowerBound, count: range.count)
            guard outline.proves(chunk, chunk: chunksHeld) else { break }
            chunksHeld += 1
        }
    }

    /// Whether all bytes are here.
    package var isComplete: Bool { chunksHeld == outline.chunkCount }

    /// Keeps the next chunk.
    /// - Throws: ``StoreError`` with code `sliceRejected` if it is not what the outline says; `diskFull`, `readOnly`.
    package mutating func append(_ bytes: [UInt8], chunk index: Int) throws {
        guard index == chunksHeld, let range = outline.range(ofChunk: index), outline.proves(bytes, chunk: index) else {
            throw StoreError(.sliceRejected, "Chunk \(index) of the attachment \(id) is not what its hash says; it was not kept.")
        }
        try folder.requireRoom(forBytes: bytes.count)
        let file = try OpenFile(writing: folder.part(id))
        try file.write(bytes, at: range.lowerBound, by: folder.writeFile)
        chunksHeld += 1
    }

    /// Makes the content present.
    fileprivate func finish() throws {
        let file = try OpenFile(writing: folder.part(id))
        // Empty content has no chunk that was written, and a part may be longer than what was proved of it.
        try file.write([], at: outline.size, by: folder.writeFile)
        try file.seal()
        try folder.move(folder.part(id), to: folder.content(id))
        try folder.removeWish(id)
    }
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
                if OpenFile.size(of: folder.content(id)) != nil { try? folder.setAside(id) }
                wanted.append(id)
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

    /// Marks the attachment as being fetched, if it is small enough, or was here before, or somebody asked for it. Returns whether it is.
    package func beginFetching(_ incoming: IncomingAttachment) throws -> Bool {
        let (folder, id) = (try attachmentFolder(), incoming.id)
        // What was begun goes on.
        if OpenFile.size(of: folder.part(id)) != nil { return true }
        if !isAskedFor(id, in: folder) {
            guard try isFetchedUnasked(id, incoming.outline.size) else { return false }
            _ = try OpenFile(writing: folder.unasked(id))
        }
        _ = try OpenFile(writing: folder.part(id))
        takeAttachmentRoom(for: id, bytes: incoming.outline.size)
        return true
    }

    /// Makes complete content present, on the disk, and lets observations of the tables that may refer to it look again.
    package func finish(_ incoming: IncomingAttachment) throws {
        guard incoming.isComplete else { throw StoreError(.failed, "The attachment \(incoming.id) is not complete.") }
        try incoming.finish()
        tellAttachmentObservations()
    }

    /// A piece of an attachment that is here, for a peer; `nil` if it is not.
    ///
    /// What is read is proved first: content that the disk has changed is set aside, never sent.
    package func piece(_ piece: AttachmentPiece) throws -> AttachmentMessage? {
        guard let folder = attachments, let file = try OpenFile(reading: folder.content(piece.id)) else { return nil }
        guard let outline = try folder.outline(piece.id) else {
            try setAside(piece.id, folder)
            return nil
        }
        guard let index = piece.chunk else { return .outline(piece.id, outline) }
        guard let range = outline.range(ofChunk: index) else { return nil }
        let bytes = try file.read(at: range.lowerBound, count: range.count)
        guard outline.proves(bytes, chunk: index) else {
            try setAside(piece.id, folder)
            return nil
        }
        return .chunk(piece.id, index: index, bytes)
    }
}
