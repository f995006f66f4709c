import Foundation
import HTTPTypes
import Hummingbird

/// Stands before everything that is served: only browsers that were let in, at the names of this page, and changes only from its own scripts.
struct Gate: RouterMiddleware {
    typealias Context = BasicRequestContext

    let doorkeeper: Doorkeeper
    let names: PageNames
    /// The page for a person who asks for what is not there: all notes, with a sentence.
    let pageSaying: @Sendable (String) throws -> String

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        var response: Response
        var isLetIn = false
        do {
            let refusal = try refusal(of: request)
            isLetIn = refusal == nil
            if let refusal { response = refusal } else { response = try await next(request, context) }
        } catch {
            response = isLetIn ? await answer(ErrorAnswer(error), to: request) : ErrorAnswer(error).response
        }
        // What else is sent is nobody's to read.
        if response.status.code >= 400, request.method != .get || response.status == .unauthorized {
            response.headers[.connection] = "close"
        }
        for (name, value) in Self.headers where response.headers[name] == nil { response.headers[name] = value }
        return response
    }

    /// A page where a person has opened an address, and else words for a script.
    private func answer(_ error: ErrorAnswer, to request: Request) async -> Response {
        let isOpened = request.method == .get && request.headers[.part] == nil && request.headers[.accept]?.contains("text/html") == true
        guard error.status == .notFound, isOpened, let page = try? await DiskWork.run({ try pageSaying(error.message) }) else {
            return error.response
        }
        return .html(page, status: error.status)
    }

    /// What is said to whoever is not let in; `nil` for everybody else. Nobody learns from it what is served here.
    private func refusal(of request: Request) throws -> Response? {
        guard names.areRight(host: request.head.authority) else {
            return .plain(.misdirectedRequest, "This page is not served under this name.")
        }
        guard [.get, .head, .post].contains(request.method) else { return .plain(.methodNotAllowed, "Not here.") }
        // Browsers say whether another site asks; "none" is a person who typed the address.
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            return .plain(.forbidden, "This page answers to itself alone.")
        }
        if request.method == .post, !names.isOwn(origin: request.headers[.origin]) {
            return .plain(.forbidden, "This page answers to itself alone.")
        }
        if request.method == .get, request.uri.path == "/", let token = request.uri.queryParameters.get("token") {
            return try admit(String(token), request)
        }
        let known = doorkeeper.check(cookie: cookie(of: request))
        guard known.isGood else { return .plain(.unauthorized, Self.unknown) }
        return nil
    }

    /// Lets in whoever shows the token, and takes the token out of the address.
    private func admit(_ token: String, _ request: Request) throws -> Response {
        var cookie = try doorkeeper.admit(token: token)
        if cookie == nil, doorkeeper.check(cookie: self.cookie(of: request)).isGood { cookie = try doorkeeper.makeCookie() }
        guard let cookie else { return .plain(.unauthorized, Self.unknown) }
        return Response(status: .seeOther, headers: [.location: "/", .setCookie: header(of: cookie)])
    }

    private func header(of cookie: String) -> String {
        let secure = names.isSecure ? "; Secure" : ""
        return "\(names.cookie)=\(cookie); Max-Age=\(Doorkeeper.cookieSeconds); Path=/; HttpOnly; SameSite=Strict\(secure)"
    }

    private func cookie(of request: Request) -> String { request.cookie(names.cookie) }

    private static let unknown = "Open this page with a new address from the program that serves it: an address lets in one browser, once."

    /// Scripts, styles and pictures of this page alone; no frames, no forms, nothing kept by anybody in between.
    private static let headers: [(HTTPField.Name, String)] = [
        (
            .contentSecurityPolicy,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ), (.contentTypeOptions, "nosniff"), (.referrerPolicy, "no-referrer"), (.frameOptions, "DENY"), (.cacheControl, "no-store"),
        (.openerPolicy, "same-origin"), (.resourcePolicy, "same-origin"),
    ]
}

extension HTTPField.Name {
    static let secFetchSite = known("Sec-Fetch-Site")
    static let contentTypeOptions = known("X-Content-Type-Options")
    static let referrerPolicy = known("Referrer-Policy")
    static let frameOptions = known("X-Frame-Options")
    static let openerPolicy = known("Cross-Origin-Opener-Policy")
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    /// Asks for a part of a page instead of the whole.
    static let part = known("X-Part")
    /// How long the whole list is of which a part is sent.
    static let total = known("X-Total")

    private static func known(_ text: String) -> Self {
        guard let name = Self(text) else { preconditionFailure("\(text) is a name of a header") }
        return name
    }
}
