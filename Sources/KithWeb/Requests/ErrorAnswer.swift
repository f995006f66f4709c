import Foundation
import HTTPTypes
import Hummingbird
import KithNotes
import NIOCore
import NIOHTTP1

/// What a browser is told when something could not be done: a sentence for people, and a word for scripts.
struct ErrorAnswer: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    init(_ error: any Error) {
        switch error {
        case let error as ErrorAnswer: self = error
        case let error as NotesError: self.init(Self.status(of: error.code), error.code.rawValue, error.message)
        case let error as HTTPError where error.status == .contentTooLarge: self = .tooLarge
        case let error as HTTPError: self.init(error.status, "failed", "There is nothing here.")
        case is NIOTooManyBytesError: self = .tooLarge
        case is HTTPParserError: self.init(.badRequest, "badRequest", "This is no HTTP.")
        case is DecodingError: self.init(.badRequest, "badRequest", "This is no change that the page could have sent.")
        default: self.init(.internalServerError, "failed", "Something failed: \(error)")
        }
    }

    static let tooLarge = ErrorAnswer(.contentTooLarge, "tooLarge", "This is too large.")
    static let tooSlow = ErrorAnswer(.requestTimeout, "tooSlow", "This took too long to arrive.")

    var response: Response {
        let record = ErrorRecord(error: code, message: message)
        return (try? Response.json(record, status: status)) ?? .plain(status, message)
    }

    private static func status(of code: NotesError.Code) -> HTTPResponse.Status {
        switch code {
        case .notFound: .notFound
        case .ambiguous, .changedMeanwhile: .conflict
        case .valueRejected: .unprocessableContent
        case .readOnly: .forbidden
        case .busy: .serviceUnavailable
        case .diskFull: HTTPResponse.Status(code: 507)
        case .notAStore, .lost, .cannotCreate, .corrupt, .failed: .internalServerError
        }
    }
}

private struct ErrorRecord: Encodable {
    let error: String
    let message: String
}

extension Response {
    static func plain(_ status: HTTPResponse.Status, _ sentence: String) -> Response {
        text(sentence, "text/plain; charset=utf-8", status)
    }

    static func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Self.text(text, "text/html; charset=utf-8", status)
    }

    private static func text(_ text: String, _ type: String, _ status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let bytes = try JSONEncoder().encode(value)
        return Response(
            status: status, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
