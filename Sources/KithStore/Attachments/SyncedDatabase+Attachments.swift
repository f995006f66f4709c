import Foundation
import GRDB
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension SyncedDatabase {
    /// Copies a file's content into the store and returns its id, for a column of a row that the app then writes.
    ///
    ///     let id = try store.attach(contentsOf: photo)
    ///     try database.write { try $0.execute(sql: "UPDATE note SET photo = ? WHERE id = ?", arguments: [id.description, note]) }
    ///
    /// What is too large, or more than the disk has room for, is refused before anything is copied. The content is on the disk when this
    /// returns, whole or not at all. Equal content is kept once. Content that no row refers to
    /// is removed some time later.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such file; `valueRejected` if it is no regular file, is written
    ///   meanwhile, or has more bytes than an attachment may have (docs/attachments.md); `diskFull`, `readOnly`; `failed` for a database in memory without ``SyncedDatabase/Options/attachmentsFolder``.
    public func attach(contentsOf url: URL) throws(StoreError) -> AttachmentID {
        try StoreError.typed {
            guard let source = try OpenFile(reading: url.path) else {
                throw StoreError(.notFound, "There is no file \(url.path).")
            }
            guard let size = try source.size() else {
                throw StoreError(.valueRejected, "\(url.path) is not a regular file. Only files can be attached.")
            }
            try checkAttachment(ofBytes: size)
            let before = try source.stamp()
            return try attach { offset in
                let chunk = try source.read(at: offset, count: AttachmentLimits.chunkBytes)
                if chunk.count < AttachmentLimits.chunkBytes, try source.stamp() != before {
                    throw StoreError(.valueRejected, "\(url.path) was written while it was read. It was not attached; try again.")
                }
                return chunk
            }
        }
    }

    /// The same with bytes in memory.
    public func attach(_ bytes: [UInt8]) throws(StoreError) -> AttachmentID {
        try StoreError.typed { try attach(Self.chunks(of: bytes)) }
    }

    /// The same as a part of the transaction that is open on `db`, so that the content and the row that refers to it come together. Other
    /// writers wait until all of it is copied: for content that is small. If the transaction is rolled back, the content is removed some
    /// time later.
    public func attach(_ db: Database, _ bytes: [UInt8]) throws(StoreError) -> AttachmentID {
        try StoreError.typed {
            let state = try writerState(db)
            try state.entry.enter()
            return try attach(in: state, Self.chunks(of: bytes))
        }
    }

    private static func chunks(of bytes: [UInt8]) -> (Int64) -> [UInt8] {
        { Array(bytes[Int($0)..<min(bytes.count, Int($0) + AttachmentLimits.chunkBytes)]) }
    }

    /// Whether the attachment's bytes are here. Reads no more than the names and sizes of a few files.
    public func attachmentState(_ id: AttachmentID) -> AttachmentState {
        attachments?.state(id) ?? .onItsWay(receivedBytes: 0, sizeBytes: nil)
    }

    /// Whether all bytes are here, as far as that is seen without reading them.
    package func isAttachmentHere(_ id: AttachmentID) -> Bool { attachments?.isPresent(id) ?? false }

    /// Reads an attachment's content and compares it with its hash. If the disk has changed it, it is set aside and asked for again.
    /// - Returns: the file, of which each byte is as it was attached; `nil` if it is not here, or is damaged: see ``attachmentState(_:)``.
    /// - Throws: ``StoreError`` if it cannot be read, or not be set aside.
    package func provenAttachment(_ id: AttachmentID) throws -> AttachmentFile? {
        guard let folder = attachments, case .present(let file) = folder.state(id), let proof = try folder.proof(of: id) else { return nil }
        if proof.isWhole { return file }
        return try setAside(id, folder, proof.file) ? nil : provenAttachment(id)
    }

    /// Asks for an attachment, whatever its size, of whichever peer has it. One that is here is read and compared with its hash first.
    ///
    /// The wish is kept until it is fulfilled, also by another process that runs the node.
    public func fetchAttachment(_ id: AttachmentID) throws(StoreError) {
        try checkIsOpen()
        try StoreError.typed {
            let folder = try attachmentFolder()
            if try provenAttachment(id) == nil { try folder.wish(for: id) } else { unlink(folder.unasked(id)) }
        }
    }

    /// Asks for an attachment and waits until it is here.
    /// - Throws: `CancellationError`; ``StoreError`` as ``fetchAttachment(_:)``, and with code `failed` once the store is closed.
    public func attachment(_ id: AttachmentID) async throws -> AttachmentFile {
        try fetchAttachment(id)
        // Another process may be the one that fetches it, so a look at the file is the only sure sign.
        while true {
            if case .present(let file) = attachmentState(id) { return file }
            try checkIsOpen()
            try await Task.sleep(for: .milliseconds(Self.attachmentPollMilliseconds))
        }
    }

    /// Whether attachments can be kept: the database is in a file, or a folder was named for them.
    package var keepsAttachments: Bool { attachments != nil }

    /// Whether rows may refer to attachments: a table was declared with a column for them.
    package var showsAttachments: Bool { writer.declarations.tables.contains { !$0.attachments.isEmpty } }

    /// A number that changes when somebody, in whatever process, asks for an attachment.
    package func attachmentWishesChanged() -> Int64? {
        attachments.flatMap { OpenFile.modified($0.path + "/asked") }
    }

    /// Reads all attachments and compares them with their hashes. One that is damaged is set aside, beside its place, with the
    /// ending `.damaged`, and is fetched again from a peer that has it; where the disk cannot be written it stays where it is.
    /// - Returns: the damaged ones, those found earlier and not mended yet included; sorted.
    public func verifyAttachments() throws(StoreError) -> [AttachmentID] {
        try checkIsOpen()
        return try StoreError.typed {
            guard let folder = attachments else { return [] }
            return try folder.ids().filter { id in
                guard let proof = try folder.proof(of: id) else { return OpenFile.size(of: folder.damaged(id)) != nil }
                return try !proof.isWhole && ((try? setAside(id, folder, proof.file)) ?? true || provenAttachment(id) == nil)
            }
        }
    }

    /// Takes content that is not what its id says out of the way, and lets observations of what may show it look again.
    ///
    /// - Parameter found: what was read of it and is not what the id says.
    /// - Returns: whether `found` was still in its place; `false` if somebody has attached, fetched or removed the same content since it was
    ///   read.
    func setAside(_ id: AttachmentID, _ folder: AttachmentFolder, _ found: OpenFile) throws -> Bool {
        // Under the lock under which content comes to its place.
        let isSetAside = try write { _, _ in try folder.setAside(id, found) }
        if isSetAside { tellAttachmentObservations() }
        return isSetAside
    }

    /// Lets observations of the tables that may show attachments look again.
    func tellAttachmentObservations() {
        let tables = writer.declarations.tables.filter { !$0.attachments.isEmpty }.map { Table($0.name) }
        database.writeWithoutTransaction { db in Self.tellObservations(of: tables, db) }
    }

    private static let attachmentPollMilliseconds = 100

    func attachmentFolder() throws -> AttachmentFolder {
        if let attachments { return attachments }
        throw StoreError(
            .failed,
            "A database in memory has no place for attachments. Keep it in a file, or name a folder with Options.attachmentsFolder.")
    }

    /// What cannot be kept is refused before it is copied; a file that grows meanwhile is noticed all the same.
    private func checkAttachment(ofBytes size: Int64) throws {
        if size > AttachmentLimits.bytesMax { throw Self.tooLarge(size) }
        let folder = try attachmentFolder()
        try folder.makeFolder(forFile: "\(folder.path)/new/0")
        guard let free = options.freeBytes(folder.path), free < size else { return }
        throw StoreError(
            .diskFull,
            "The file has \(size >> 20) MiB, and the disk of the store has room for \(free >> 20) MiB. Nothing was copied; free some space."
        )
    }

    private static func tooLarge(_ size: Int64?) -> StoreError {
        let given = size.map { "The file has \($0 >> 20) MiB; an" } ?? "An"
        return StoreError(.valueRejected, "\(given) attachment has at most \(AttachmentLimits.bytesMax >> 30) GiB. Attach a smaller file.")
    }

    /// Copies what `read` returns, from each offset on, until it returns nothing.
    ///
    /// - Parameter open: the transaction that this is a part of; in one of its own without it.
    private func attach(in open: WriterState? = nil, _ read: (Int64) throws -> [UInt8]) throws -> AttachmentID {
        let folder = try attachmentFolder()
        let temporary = folder.newFile()
        try folder.makeFolder(forFile: temporary)
        let copy = try OpenFile(writing: temporary)
        defer { unlink(temporary) }
        var builder = AttachmentOutlineBuilder()
        while true {
            let chunk = try read(builder.size)
            if chunk.isEmpty { break }
            let offset = builder.size
            guard builder.append(chunk) else {
                throw Self.tooLarge(nil)
            }
            try copy.write(chunk, at: offset, by: folder.writeFile)
            if chunk.count < AttachmentLimits.chunkBytes { break }
        }
        try copy.seal()
        let outline = builder.outline
        let id = outline.id
        try folder.makeFolder(forFile: folder.content(id))
        // Without it the content is there all the same; it is made again when it is needed.
        if outline.chunkCount > 1 { try? folder.save(outline, id) }
        // Each process collects garbage, and sets damaged content aside, under the write lock of the database.
        func keep(_ state: WriterState) throws {
            try AttachmentGarbage(ledger: state.ledger, folder: folder).spare(id)
            // Over what is there as well: this one is proved.
            try folder.move(temporary, to: folder.content(id))
            unlink(folder.unasked(id))
            try? folder.removeWish(id)
        }
        if let open { try keep(open) } else { try write { _, state in try keep(state) } }
        return id
    }
}

extension AttachmentFolder {
    /// The content and whether it is what the id says, `nil` if there is none. Reads all of it.
    func proof(of id: AttachmentID) throws -> (file: OpenFile, isWhole: Bool)? {
        guard let file = try OpenFile(reading: content(id)) else { return nil }
        return (file, try AttachmentOutline(of: file)?.id == id)
    }

    /// Takes content that is not what its id says out of the way, and asks for it, so that a node in another process hears of it. What is
    /// in its place by now stays.
    fileprivate func setAside(_ id: AttachmentID, _ found: OpenFile) throws -> Bool {
        guard try found.isInPlace() else { return false }
        try move(content(id), to: damaged(id))
        // It is fetched again all the same, somewhat later.
        try? wish(for: id)
        return true
    }

    /// Asks for content.
    func wish(for id: AttachmentID) throws {
        try makeFolder(forFile: asked(id))
        _ = try OpenFile(writing: asked(id))
        unlink(unasked(id))
    }

    /// What was wished for is here, whole. To be called under the database's write lock.
    func removeWish(_ id: AttachmentID) throws {
        for file in [asked(id), part(id), damaged(id)] where unlink(file) != 0 && errno != ENOENT {
            throw FileFailure.error("removed", file)
        }
    }
}
