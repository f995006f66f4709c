import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// The change that a script of the page has sent, as JSON; within a time and a size.
    func decode<Change: Decodable>(_ type: Change.Type, _ limits: RequestLimits) async throws -> Change {
        guard headers[.contentType]?.hasPrefix("application/json") == true else {
            throw ErrorAnswer(.unsupportedMediaType, "badRequest", "Changes are JSON.")
        }
        let bytes = try await collect(limits.jsonBytesMax, withinMilliseconds: limits.bodyMilliseconds)
        return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
    }

    private func collect(_ bytesMax: Int, withinMilliseconds milliseconds: Int) async throws -> ByteBuffer {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > bytesMax { throw ErrorAnswer.tooLarge }
        return try await withThrowingTaskGroup(of: ByteBuffer.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body.collect(upTo: bytesMax) }
            group.addTask {
                try await Task.sleep(for: .milliseconds(milliseconds))
                throw ErrorAnswer.tooSlow
            }
            guard let bytes = try await group.next() else { throw ErrorAnswer.tooSlow }
            return bytes
        }
    }

    /// A number in the address; `standard` without one.
    func number(_ name: String, _ standard: Int) -> Int {
        uri.queryParameters.get(name).flatMap { Int($0) } ?? standard
    }

    /// What the browser keeps under this name; empty without it.
    func cookie(_ name: String) -> String {
        // A browser may send several fields.
        for field in headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                if parts.count == 2, parts[0] == name { return parts[1] }
            }
        }
        return ""
    }

    /// A word in the address, in which browsers write spaces as `+`; empty without one.
    func word(_ name: String) -> String {
        for pair in (uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.replacing("+", with: " ").removingPercentEncoding ?? "" }
            if parts.count == 2, parts[0] == name { return parts[1] }
        }
        return ""
    }
}

extension RequestContext {
    /// The note that the address names.
    func noteID() throws -> UUID {
        guard let id = parameters.get("id").flatMap({ UUID(uuidString: String($0)) }) else {
            throw ErrorAnswer(.notFound, "notFound", "There is no such note.")
        }
        return id
    }
}
