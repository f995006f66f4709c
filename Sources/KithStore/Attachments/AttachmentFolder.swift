import Foundation
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

/// The folder with the bytes of attachments, beside the database `X`: `X-kith-files`.
///
/// | file | what |
/// |---|---|
/// | `ab/cdef…` | the content of the attachment `abcdef…`, whole and proved; never written again |
/// | `ab/cdef….outline` | the bytes whose hash is the id; may be missing where it is quickly made again |
/// | `ab/cdef….part` | the beginning of content that is on its way |
/// | `ab/cdef….damaged` | what was the content before the disk changed it |
/// | `ab/cdef….unasked` | empty: a row named the attachment, and no app or person has asked for it |
/// | `asked/abcdef…` | empty: somebody asked for this attachment |
/// | `new/…` | content that is being attached |
///
/// All that is known of an attachment is in these files and proved by its id, so that nothing has to be kept in step with them.
struct AttachmentFolder: Sendable {
    /// What a node leaves free on the disk, in bytes, so that attachments do not keep rows from being written.
    static let reservedBytes: Int64 = 64 << 20

    let path: String
    let writeFile: FileWriting
    private let freeBytes: @Sendable (String) -> Int64?

    init(databasePath: String) {
        self.init(of: databasePath, SyncedDatabase.Options())
    }

    private init(of databasePath: String, _ options: SyncedDatabase.Options) {
        self.init(path: DatabaseFile.path(of: databasePath) + "-kith-files", options)
    }

    private init(path: String, _ options: SyncedDatabase.Options) {
        (self.path, writeFile, freeBytes) = (path, options.writeFile, options.freeBytes)
    }

    /// Of the database in this file, or of one in memory; `nil` where there is none.
    init?(of databasePath: String?, _ options: SyncedDatabase.Options) {
        if let databasePath {
            self.init(of: databasePath, options)
        } else if let folder = options.attachmentsFolder {
            self.init(path: folder, options)
        } else {
            return nil
        }
    }

    /// - Throws: ``StoreError`` with code `diskFull` if so many bytes from a peer would take what is reserved.
    func requireRoom(forBytes count: Int) throws {
        guard let free = freeBytes(path), free < Self.reservedBytes + Int64(count) else { return }
        throw StoreError(
            .diskFull,
            "The disk of the store has room for \(free >> 20) MiB; attachments are not fetched as long as it has less than \(Self.reservedBytes >> 20) MiB. Free some space."
        )
    }

    func content(_ id: AttachmentID) -> String {
        let name = id.description
        return "\(path)/\(name.prefix(2))/\(name.dropFirst(2))"
    }

    func outlineFile(_ id: AttachmentID) -> String { content(id) + ".outline" }
    func part(_ id: AttachmentID) -> String { content(id) + ".part" }
    func damaged(_ id: AttachmentID) -> String { content(id) + ".damaged" }
    func unasked(_ id: AttachmentID) -> String { content(id) + ".unasked" }
    func asked(_ id: AttachmentID) -> String { "\(path)/asked/\(id)" }

    // MARK: What is there

    func state(_ id: AttachmentID) -> AttachmentState {
        let here = OpenFile.size(of: content(id))
        if let here, hasPlausibleSize(id, here) {
            return .present(AttachmentFile(url: URL(filePath: content(id)), sizeBytes: here))
        }
        let total = outlineSize(id)
        let received = OpenFile.size(of: part(id))
        if here != nil || OpenFile.size(of: damaged(id)) != nil { return .damaged(receivedBytes: received ?? 0, sizeBytes: total) }
        if let received { return .onItsWay(receivedBytes: received, sizeBytes: total) }
        if total == nil || OpenFile.size(of: asked(id)) != nil { return .onItsWay(receivedBytes: 0, sizeBytes: total) }
        return .notFetched(sizeBytes: total ?? 0)
    }

    /// Whether content of this size has as many chunks as its outline: a quick look that finds what was cut off. An outline that is not
    /// what the id says tells nothing of the content.
    private func hasPlausibleSize(_ id: AttachmentID, _ bytes: Int64) -> Bool {
        guard let outline = OpenFile.size(of: outlineFile(id)), outline != AttachmentOutline.hashedBytes(forContentOf: bytes),
            let kept = try? keptOutline(id)
        else { return true }
        return kept.size == bytes
    }

    func isPresent(_ id: AttachmentID) -> Bool {
        if case .present = state(id) { true } else { false }
    }

    /// The ids in the names of files, each once, sorted.
    func ids() -> [AttachmentID] {
        var found: Set<AttachmentID> = []
        for folder in names(in: path) where folder.utf8.count == 2 {
            for name in names(in: "\(path)/\(folder)") {
                if let id = AttachmentID(folder + name.prefix { $0 != "." }) { found.insert(id) }
            }
        }
        return found.sorted()
    }

    /// Those whose content is here, whole; sorted.
    func held() -> [AttachmentID] {
        var found: [AttachmentID] = []
        for folder in names(in: path) where folder.utf8.count == 2 {
            // Every other file has an ending.
            found += names(in: "\(path)/\(folder)").compactMap { AttachmentID(folder + $0) }
        }
        return found.sorted()
    }

    /// What was asked for and has not come, sorted.
    func askedFor() -> [AttachmentID] {
        names(in: path + "/asked").compactMap { AttachmentID($0) }.filter { !isPresent($0) }.sorted()
    }

    /// The bytes that are kept of each attachment, in whole blocks, those that are on their way included.
    func keptBytes() -> [AttachmentID: Int64] {
        var kept: [AttachmentID: Int64] = [:]
        for id in ids() {
            let content = OpenFile.size(of: content(id)) ?? (OpenFile.size(of: part(id)) == nil ? nil : outlineSize(id))
            let sizes = [content, OpenFile.size(of: outlineFile(id)), OpenFile.size(of: damaged(id))]
            kept[id] = sizes.reduce(0) { $0 + Self.inBlocks($1 ?? 0) }
        }
        return kept
    }

    /// Whether the store fetched it only because a row named it, and nothing of it is under way: its content, or an outline alone.
    func isLeftOver(_ id: AttachmentID) -> Bool {
        if [part(id), damaged(id), asked(id)].contains(where: { OpenFile.size(of: $0) != nil }) { return false }
        return OpenFile.size(of: content(id)) == nil || OpenFile.size(of: unasked(id)) != nil
    }

    /// What a file of so many bytes takes on a disk, as a rule: a million files of a few bytes take gigabytes.
    static func inBlocks(_ bytes: Int64) -> Int64 { (bytes + 4_095) & ~4_095 }

    func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    // MARK: Outlines

    /// The size that an outline on the disk names; it was proved when it was written.
    private func outlineSize(_ id: AttachmentID) -> Int64? {
        guard let file = try? OpenFile(reading: outlineFile(id)), let start = try? file.read(at: 0, count: 64) else { return nil }
        return AttachmentOutline.size(inHashed: start)
    }

    /// The outline on the disk; `nil` if there is none, or it is not what the id says.
    private func keptOutline(_ id: AttachmentID) throws -> AttachmentOutline? {
        guard let file = try OpenFile(reading: outlineFile(id)),
            let outline = AttachmentOutline(hashed: try file.read(at: 0, count: AttachmentOutline.hashedBytesMax)), outline.id == id
        else { return nil }
        return outline
    }

    /// The outline of content that is here, or on its way; `nil` if it is not known.
    func outline(_ id: AttachmentID) throws -> AttachmentOutline? {
        if let outline = try keptOutline(id) { return outline }
        guard let file = try OpenFile(reading: content(id)) else { return nil }
        let outline = try AttachmentOutline(of: file)
        guard let outline, outline.id == id else { return nil }
        if outline.chunkCount > 1 { try? save(outline, id) }
        return outline
    }

    /// Puts an outline into its place, whole or not at all: a node may read it meanwhile, and the disk may be full.
    func save(_ outline: AttachmentOutline, _ id: AttachmentID) throws {
        try makeFolder(forFile: outlineFile(id))
        let temporary = newFile() + ".outline"
        try makeFolder(forFile: temporary)
        defer { unlink(temporary) }
        try OpenFile(writing: temporary).write(outline.hashed, at: 0, by: writeFile)
        guard rename(temporary, outlineFile(id)) == 0 else { throw FileFailure.error("renamed", temporary) }
    }

    /// A new name in `new`, drawn at random.
    func newFile() -> String {
        var generator = SystemRandomNumberGenerator()
        return "\(path)/new/\(generator.next())"
    }

    // MARK: Changes

    /// Makes the folders above a file, for their owner alone.
    func makeFolder(forFile file: String) throws {
        for folder in [path, SmallFile.folder(of: file)] where mkdir(folder, 0o700) != 0 && errno != EEXIST {
            throw FileFailure.error("made", folder)
        }
    }

    /// Gives a file, which is on the disk, its final name.
    func move(_ file: String, to name: String) throws {
        guard rename(file, name) == 0 else { throw FileFailure.error("renamed", file) }
        try SmallFile.synchronizeFolder(of: name)
        try SmallFile.synchronizeFolder(of: SmallFile.folder(of: name))
    }

    /// Removes all that is kept of an attachment.
    func remove(_ id: AttachmentID) throws {
        // The content last: what is left by a failure is then complete or nothing.
        for file in [asked(id), part(id), outlineFile(id), damaged(id), unasked(id), content(id)]
        where unlink(file) != 0 && errno != ENOENT {
            throw FileFailure.error("removed", file)
        }
    }

    /// Removes what killed processes left in `new`.
    func removeRemains(olderThan seconds: Int) {
        for file in names(in: path + "/new").map({ "\(path)/new/\($0)" }) {
            guard let modified = OpenFile.modified(file) else { continue }
            if Int64(time(nil)) - modified / 1_000_000_000 > Int64(seconds) { unlink(file) }
        }
    }
}
