import Foundation
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Under another name, for a type with a method of this one.
private let systemConnect = connect

/// What a browser, or somebody who is none, sends to the page byte by byte, and what comes back.
package struct RawBrowser: Sendable {
    package struct Answer {
        package let status: Int
        package let head: String
        package let body: String

        package func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
        }
    }

    package let port: Int
    /// Where it connects, if something stands between it and the page.
    package let door: Int
    package let scheme: String
    package var cookie: String?
    /// What lives as long as this browser.
    package var owners: [any Sendable] = []

    package var origin: String { "\(scheme)://127.0.0.1:\(port)" }

    /// Comes in by the address that `kith web` printed.
    package init(entrance: String, door: Int? = nil) throws {
        let url = try #require(URL(string: entrance.trimmingCharacters(in: .whitespacesAndNewlines)))
        port = try #require(url.port)
        self.door = door ?? port
        scheme = try #require(url.scheme)
        let answer = try get("/?" + (url.query ?? ""))
        #expect(answer.status == 303 && answer.header("location") == "/")
        let field = try #require(answer.header("set-cookie"))
        #expect(field.contains("HttpOnly") && field.contains("SameSite=Strict"))
        #expect(field.contains("Secure") == (scheme == "https"))
        cookie = String(field.prefix { $0 != ";" })
    }

    package init(port: Int) { (self.port, door, scheme) = (port, port, "http") }

    /// Somebody at the same place who is not let in.
    package var stranger: RawBrowser {
        var stranger = self
        stranger.cookie = nil
        return stranger
    }

    package func get(_ path: String, _ headers: String...) throws -> Answer {
        try answer(to: head("GET", path, headers))
    }

    package func post(_ path: String, _ json: String, origin: String? = nil, type: String = "application/json", _ headers: String...) throws
        -> Answer
    {
        let own = ["Origin: \(origin ?? self.origin)", "Content-Type: \(type)", "Content-Length: \(json.utf8.count)"]
        return try answer(to: head("POST", path, own + headers) + json)
    }

    /// Adds a note and says its id.
    @discardableResult
    package func add(_ title: String, _ body: String = "") throws -> String {
        let change = try JSONEncoder().encode(["title": title, "body": body])
        let answer = try post("/api/note", String(decoding: change, as: UTF8.self))
        #expect(answer.status == 200, "\(answer.body)")
        let fields = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: String]
        return try #require(fields?["id"])
    }

    package func head(_ method: String, _ path: String, _ headers: [String]) -> String {
        var lines = ["\(method) \(path) HTTP/1.1"] + headers
        if !headers.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
        if let cookie, !headers.contains(where: { $0.lowercased().hasPrefix("cookie:") }) { lines.append("Cookie: \(cookie)") }
        return (lines + ["Connection: close", "", ""]).joined(separator: "\r\n")
    }

    /// Sends it all and reads until the end of the connection.
    package func answer(to request: String) throws -> Answer {
        let descriptor = try connect()
        defer { close(descriptor) }
        _ = Self.send(request, to: descriptor)
        return try Self.answer(from: descriptor)
    }

    /// - Parameter source: the last byte of the address of this machine, 127.0.0.x, that it connects from.
    package func connect(from source: UInt32 = 1) throws -> Int32 {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(door).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var from = address
        from.sin_port = 0
        from.sin_addr.s_addr = UInt32(0x7F00_0000 + source).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &from) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard source == 1 || bound == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                systemConnect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return descriptor
    }

    /// Whether all of it could be sent.
    @discardableResult
    package static func send(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    package static func answer(from descriptor: Int32) throws -> Answer {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
        let text = String(decoding: bytes, as: UTF8.self)
        let end = text.range(of: "\r\n\r\n")
        let head = end.map { String(text[..<$0.lowerBound]) } ?? text
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, head: head, body: end.map { String(text[$0.upperBound...]) } ?? "")
    }
}
