import Foundation
import GRDB
import KithSync

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension KithStore {
    /// Copies a file's content into the store and returns its id, for a column of a row that the app then writes.
    ///
    ///     let id = try store.attach(contentsOf: photo)
    ///     try database.write { try $0.execute(sql: "UPDATE note SET photo = ? WHERE id = ?", arguments: [id.description, note]) }
    ///
    /// The content is on the disk when this returns, whole or not at all. Equal content is kept once. Content that no row refers to
    /// is removed some time later: see ``collectAttachments()``.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such file; `valueRejected` if it is no regular file or has more
    ///   than ``AttachmentLimits/bytesMax`` bytes; `diskFull`, `readOnly`; `failed` for a database in memory.
    public func attach(contentsOf url: URL) throws -> AttachmentID {
        guard let source = try OpenFile(reading: url.path) else {
            throw StoreError(.notFound, "There is no file \(url.path).")
        }
        guard try source.size() != nil else {
            throw StoreError(.valueRejected, "\(url.path) is not a regular file. Only files can be attached.")
        }
        return try attach { try source.read(at: $0, count: AttachmentLimits.chunkBytes) }
    }

    /// The same with bytes in memory.
    public func attach(_ bytes: [UInt8]) throws -> AttachmentID {
        try attach { Array(bytes[Int($0)..<min(bytes.count, Int($0) + AttachmentLimits.chunkBytes)]) }
    }

    /// Whether the attachment's bytes are here. Reads no more than the names and sizes of a few files.
    public func attachmentState(_ id: AttachmentID) -> AttachmentState {
        attachments?.state(id) ?? .onItsWay(receivedBytes: 0, sizeBytes: nil)
    }

    /// Asks for an attachment, whatever its size, of whichever peer has it.
    ///
    /// The wish is kept until it is fulfilled, also by another process that runs the node.
    public func fetchAttachment(_ id: AttachmentID) throws {
        let folder = try attachmentFolder()
        if case .present = folder.state(id) { return }
        try folder.makeFolder(forFile: folder.asked(id))
        _ = try OpenFile(writing: folder.asked(id))
    }

    /// Asks for an attachment and waits until it is here.
    /// - Throws: `CancellationError`; ``StoreError`` as ``fetchAttachment(_:)``.
    public func attachment(_ id: AttachmentID) async throws -> AttachmentFile {
        try fetchAttachment(id)
        // Another process may be the one that fetches it, so a look at the file is the only sure sign.
        while true {
            if case .present(let file) = attachmentState(id) { return file }
            try await Task.sleep(for: .milliseconds(Self.attachmentPollMilliseconds))
        }
    }

    /// Whether attachments can be kept: the database is in a file.
    public var keepsAttachments: Bool { attachments != nil }

    /// Whether rows may refer to attachments: a table was declared with a column for them.
    public var showsAttachments: Bool { writer.declarations.tables.contains { !$0.attachments.isEmpty } }

    /// A number that changes when somebody, in whatever process, asks for an attachment.
    public func attachmentWishesChanged() -> Int64? {
        attachments.flatMap { $0.modified($0.path + "/asked") }
    }

    /// Reads all attachments and compares them with their hashes. One that is damaged is set aside, beside its place, with the
    /// ending `.damaged`, and is fetched again from a peer that has it.
    /// - Returns: the damaged ones, sorted.
    public func verifyAttachments() throws -> [AttachmentID] {
        guard let folder = attachments else { return [] }
        return try folder.ids().filter { id in
            guard let file = try OpenFile(reading: folder.content(id)) else { return false }
            if try AttachmentOutline(of: file)?.id == id { return false }
            try folder.setAside(id)
            return true
        }
    }

    private static let attachmentPollMilliseconds = 100

    func attachmentFolder() throws -> AttachmentFolder {
        if let attachments { return attachments }
        throw StoreError(.failed, "A database in memory has no place for attachments. Keep it in a file.")
    }

    /// Copies what `read` returns, from each offset on, until it returns nothing.
    private func attach(_ read: (Int64) throws -> [UInt8]) throws -> AttachmentID {
        let folder = try attachmentFolder()
        var generator = SystemRandomNumberGenerator()
        let temporary = "\(folder.path)/new/\(generator.next())"
        try folder.makeFolder(forFile: temporary)
        let copy = try OpenFile(writing: temporary)
        defer { unlink(temporary) }
        var builder = AttachmentOutlineBuilder()
        while true {
            let chunk = try read(builder.size)
            if chunk.isEmpty { break }
            let offset = builder.size
            guard builder.append(chunk) else {
                throw StoreError(.valueRejected, "An attachment has at most \(AttachmentLimits.bytesMax >> 30) GiB. Attach a smaller file.")
            }
            try copy.write(chunk, at: offset, by: folder.writeFile)
            if chunk.count < AttachmentLimits.chunkBytes { break }
        }
        try copy.seal()
        let outline = builder.outline
        let id = outline.id
        try folder.makeFolder(forFile: folder.content(id))
        // The write lock of the database keeps the collection of garbage away, in whatever process.
        try write { _, state in
            try AttachmentGarbage(ledger: state.ledger, folder: folder).spare(id)
            if folder.size(folder.content(id)) == nil { try folder.move(temporary, to: folder.content(id)) }
        }
        if outline.chunkCount > 1 { try? folder.save(outline, id) }
        try? folder.removeWish(id)
        return id
    }
}

extension AttachmentFolder {
    /// Takes content that is not what its id says out of the way.
    func setAside(_ id: AttachmentID) throws {
        try move(content(id), to: content(id) + ".damaged")
    }

    /// What was wished for is here.
    func removeWish(_ id: AttachmentID) throws {
        for file in [asked(id), part(id)] where unlink(file) != 0 && errno != ENOENT { throw FileFailure.error("removed", file) }
    }
}
