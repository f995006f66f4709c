import Foundation
import TestSupport
import Testing

/// Carries what a test says without TLS to a page that is served over it (`Tests/Browser/tls_tunnel.py`).
final class TLSTunnel: @unchecked Sendable {  // Used by one test at a time.
    /// Whether ``RunningNode/web(_:)`` serves the page to the local network.
    @TaskLocal static var isUsed = false

    private let process = Process()
    private let input = Pipe()
    /// Where a test connects.
    let port: Int
    /// The address that lets in one browser.
    let entrance: String

    /// - Parameter line: what `kith web --lan --json` printed.
    init(_ line: String) throws {
        let fields = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        entrance = try #require(fields["entrance"])
        let address = try #require(URL(string: entrance))
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.script.path, String(try #require(address.port))]
        let output = Pipe()
        process.standardOutput = output
        // It ends with its input, also if the tests end first. A signal may not reach it: Python keeps blocked what is blocked when it begins.
        process.standardInput = input
        try process.run()
        var said = ""
        while !said.hasSuffix("\n"), case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
            said += String(decoding: piece, as: UTF8.self)
        }
        let words = said.split(whereSeparator: \.isWhitespace)
        port = try #require(words.first.flatMap { Int($0) }, "\(said)")
        // A person is shown what a browser sees.
        #expect(words.last.map(String.init) == fields["fingerprint"])
        #expect(address.scheme == "https" && fields["address"]?.hasPrefix("https://") == true)
    }

    deinit { try? input.fileHandleForWriting.close() }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Browser/tls_tunnel.py")
}
