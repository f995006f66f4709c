import Foundation
import HTTPTypes
import Hummingbird
import Kith
import KithNotes
import KithSync
import NIOCore

/// Attachments of notes: what browsers send, and what they get.
struct FileRoutes: Sendable {
    private static let chunkBytes = 256 << 10

    let notes: NotesStore
    /// Where a file is while it comes.
    let folder: URL
    let limits: RequestLimits

    private static let prefix = "upload-"

    /// Removes what a process left that ended while files came.
    static func removeLeftovers(in folder: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(prefix) { try? FileManager.default.removeItem(at: folder.appending(path: name)) }
    }

    func add(to router: Router<BasicRequestContext>) {
        router.post("/api/note/:id/attach") { request, context in
            let id = try context.noteID()
            let name = request.word("name")
            guard request.headers[.contentType] == "application/octet-stream" else {
                throw ErrorAnswer(.unsupportedMediaType, "badRequest", "Files are sent as they are.")
            }
            // Before a large file is received in vain.
            try await DiskWork.run { try notes.checkCanAttach(name: name, to: id) }
            let file = folder.appending(path: Self.prefix + UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            try await receive(request, into: file)
            let attachment = try await DiskWork.run {
                try notes.attach(file, to: id, name: NoteAttachment.freeName(name, among: notes.attachments(of: id).map(\.name)))
            }
            return try Response.json(["id": attachment.id.uuidString.lowercased(), "name": attachment.name])
        }
        router.post("/api/file/:id/detach") { request, context in
            _ = try await request.decode(Nothing.self, limits)
            let id = try context.noteID()
            try await DiskWork.run { if let attachment = try notes.attachment(id) { try notes.detach(attachment) } }
            return try Response.json(["detached": id.uuidString.lowercased()])
        }
        router.get("/file/:id") { _, context in try await send(context.noteID()) }
    }

    private static let noRoom = NotesError(.diskFull, "The file cannot be kept on this machine: its disk is full, or cannot be written.")

    private func receive(_ request: Request, into file: URL) async throws {
        if let length = request.headers[.contentLength].flatMap({ Int64($0) }), length > AttachmentLimits.bytesMax {
            throw ErrorAnswer.tooLarge
        }
        guard FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = try? FileHandle(forWritingTo: file)
        else { throw Self.noRoom }
        defer { try? handle.close() }
        let progress = Shared<Int64>(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for try await piece in request.body {
                    progress.value += Int64(piece.readableBytes)
                    if progress.value > AttachmentLimits.bytesMax { throw ErrorAnswer.tooLarge }
                    try await DiskWork.run {
                        do { try handle.write(contentsOf: Data(piece.readableBytesView)) } catch { throw Self.noRoom }
                    }
                }
            }
            group.addTask {
                var last: Int64 = -1
                while progress.value != last {
                    last = progress.value
                    try await Task.sleep(for: .milliseconds(limits.stillMilliseconds))
                }
                throw ErrorAnswer.tooSlow
            }
            try await group.next()
        }
    }

    private func send(_ id: UUID) async throws -> Response {
        let found = try await DiskWork.run { () -> (NoteAttachment, AttachmentFile)? in
            guard let attachment = try notes.attachment(id) else { return nil }
            if let file = try notes.provenFile(of: attachment) { return (attachment, file) }
            try notes.fetch(attachment)
            throw ErrorAnswer(
                .notFound, "notHere", "This file is not here yet. It was asked for, and comes when a device that has it is met.")
        }
        guard let (attachment, file) = found else { throw ErrorAnswer(.notFound, "notFound", "There is no such file.") }
        let handle = try FileHandle(forReadingFrom: file.url)
        let head = try handle.read(upToCount: PictureType.headBytes) ?? Data()
        try handle.seek(toOffset: 0)
        let body = ResponseBody(contentLength: Int(file.sizeBytes)) { writer in
            defer { try? handle.close() }
            while let piece = try await DiskWork.run({ try handle.read(upToCount: Self.chunkBytes) }), !piece.isEmpty {
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
        var headers: HTTPFields = [.contentType: "application/octet-stream", .contentSecurityPolicy: "default-src 'none'; sandbox"]
        if let picture = PictureType.of(head) {
            headers[.contentType] = picture
        } else {
            let name = attachment.fileName.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "file"
            headers[.contentDisposition] = "attachment; filename*=UTF-8''\(name)"
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// Pictures that browsers show and that run nothing, by how they begin.
enum PictureType {
    static let headBytes = 12

    static func of(_ head: Data) -> String? {
        let bytes = [UInt8](head)
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: Array("GIF8".utf8)) { return "image/gif" }
        if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) { return "image/webp" }
        return nil
    }
}
