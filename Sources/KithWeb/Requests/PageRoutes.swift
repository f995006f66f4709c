import Foundation
import HTTPTypes
import Hummingbird
import Kith
import KithNotes

/// What can be looked at: pages, parts of pages, and the files that belong to them.
struct PageRoutes: Sendable {
    /// Rows of the list that one request can ask for.
    private static let rowsMax = 200

    let notes: NotesStore
    let builder: PageBuilder
    let feed: ChangeFeed
    let configuration: PageConfiguration

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { request, _ in try await show(request, .notes) { builder.empty() } }
        router.get("/note/:id") { request, context in
            let id = try context.noteID()
            let note = try await DiskWork.run {
                guard let note = try notes.versionedNote(id) else { throw try ErrorAnswer.noNote(id, in: notes) }
                return note
            }
            return try await show(request, .note(note.note)) { try builder.note(note) }
        }
        router.get("/conflicts") { request, _ in try await show(request, .conflicts) { try builder.conflicts() } }
        router.get("/trash") { request, _ in try await show(request, .trash) { try builder.trash() } }
        router.get("/devices") { request, _ in try await show(request, .devices) { try builder.devices() } }
        router.get("/note/:id/history") { request, context in
            let id = try context.noteID()
            return try await show(request, .history) { try builder.history(of: id) }
        }
        router.get("/part/list") { request, _ in
            let text = SearchText(request.word("q"))
            let (from, count) = (request.number("from", 0), min(request.number("count", PageBuilder.firstRows), Self.rowsMax))
            var query = NoteQuery()
            query.order = Self.order(named: request.word("order"))
            let page = try await DiskWork.run { [query] in
                // What is found is in an order of its own.
                if query.order == .hand, text.isEmpty { return try notes.page(query, offset: max(0, from), count: count) }
                return try notes.search(text, offset: max(0, from), count: count)
            }
            var response = Response.html(builder.rows(page))
            response.headers[.total] = String(page.total)
            return response
        }
        router.get("/part/rendered/:id") { _, context in
            let id = try context.noteID()
            return Response.html(try await DiskWork.run { try notes.versionedNote(id).map(builder.reading) ?? "" })
        }
        router.get("/api/note/:id/safety") { _, context in
            let id = try context.noteID()
            let safety = try await DiskWork.run {
                guard let note = try notes.note(id) else { throw try ErrorAnswer.noNote(id, in: notes) }
                return try builder.safety(of: note, notes.attachments(of: id))
            }
            return try Response.json(["safety": safety ?? ""])
        }
        router.get("/events") { request, _ in try events(request) }
        for (path, file) in PageFile.all {
            router.get(RouterPath(path)) { request, _ in file.response(to: request) }
        }
    }

    /// The order of the list that a person has chosen; what a browser may say besides stands for the usual one.
    private static func order(named name: String) -> NoteQuery.Order { name == "hand" ? .hand : .updated }

    /// A whole page, or only its main part if a script asks for it.
    private func show(_ request: Request, _ place: Place, _ main: @escaping @Sendable () throws -> String) async throws -> Response {
        let isPart = request.headers[.part] != nil
        let order = Self.order(named: request.cookie("kith-order"))
        return Response.html(
            try await DiskWork.run {
                let main = try main()
                return isPart ? main : try builder.page(place, order, main: main)
            })
    }

    private func events(_ request: Request) throws -> Response {
        guard let events = feed.listen() else {
            throw ErrorAnswer(.serviceUnavailable, "busy", "Too many of these pages are open. Close some.")
        }
        let body = ResponseBody { writer in
            // A page that is gone is noticed at once, not by the next word to it.
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                for await event in events { try await writer.write(ByteBuffer(string: event)) }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }
}

/// A file that is a part of the program: a script, a style sheet or a picture.
struct PageFile: Sendable {
    let type: String
    let bytes: [UInt8]

    static let all: [(String, PageFile)] = [
        ("/app.js", PageFile(type: script, bytes: PackageResources.app_js)),
        ("/alerts.js", PageFile(type: script, bytes: PackageResources.alerts_js)),
        ("/clicks.js", PageFile(type: script, bytes: PackageResources.clicks_js)),
        ("/requests.js", PageFile(type: script, bytes: PackageResources.requests_js)),
        ("/list.js", PageFile(type: script, bytes: PackageResources.list_js)),
        ("/several.js", PageFile(type: script, bytes: PackageResources.several_js)),
        ("/order.js", PageFile(type: script, bytes: PackageResources.order_js)),
        ("/editor.js", PageFile(type: script, bytes: PackageResources.editor_js)),
        ("/checks.js", PageFile(type: script, bytes: PackageResources.checks_js)),
        ("/gone.js", PageFile(type: script, bytes: PackageResources.gone_js)),
        ("/attachments.js", PageFile(type: script, bytes: PackageResources.attachments_js)),
        ("/merge.js", PageFile(type: script, bytes: PackageResources.merge_js)),
        ("/diff.js", PageFile(type: script, bytes: PackageResources.diff_js)),
        ("/sequence.js", PageFile(type: script, bytes: PackageResources.sequence_js)),
        ("/undo.js", PageFile(type: script, bytes: PackageResources.undo_js)),
        ("/sheets.js", PageFile(type: script, bytes: PackageResources.sheets_js)),
        ("/drafts.js", PageFile(type: script, bytes: PackageResources.drafts_js)),
        ("/style.css", PageFile(type: "text/css; charset=utf-8", bytes: PackageResources.style_css)),
        ("/icon.svg", PageFile(type: "image/svg+xml", bytes: PackageResources.icon_svg)),
    ]

    private static let script = "text/javascript; charset=utf-8"

    /// The browser asks each time whether it has the newest.
    func response(to request: Request) -> Response {
        let tag = "\"\(Checksum.text(of: bytes))\""
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        response.headers[.contentType] = type
        return response
    }
}
