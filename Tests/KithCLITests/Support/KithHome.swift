import Foundation
import Testing

/// A person's home with a `kith` in it, gone after the test.
final class KithHome: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The program that was built beside the tests.
    static var program: URL {
        get throws {
            #if canImport(Darwin)
            let tests = Bundle(for: KithHome.self).bundleURL
            #else
            let tests = try #require(Bundle.main.executableURL)
            #endif
            let program = tests.deletingLastPathComponent().appending(path: "kith")
            try #require(FileManager.default.isExecutableFile(atPath: program.path), "kith is not built at \(program.path)")
            return program
        }
    }

    var store: URL { folder.appending(path: "store/notes.sqlite") }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes a file, for instance an editor.
    @discardableResult
    func write(_ name: String, _ content: Data, mode: Int = 0o644) throws -> String {
        try content.write(to: folder.appending(path: name))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        return path(name)
    }

    @discardableResult
    func script(_ name: String, _ lines: String) throws -> String {
        try write(name, Data("#!/bin/sh\n\(lines)\n".utf8), mode: 0o755)
    }

    // MARK: Running

    struct Result {
        let status: Int32
        let output: String
        let error: String

        /// What was printed as JSON; fails the test if it is none.
        func json() throws -> Any {
            try JSONSerialization.jsonObject(with: Data(output.utf8), options: .fragmentsAllowed)
        }

        /// The last line, without its end.
        var lastLine: String { output.split(separator: "\n").last.map(String.init) ?? "" }
    }

    /// Runs `kith` to its end.
    @discardableResult
    func kith(_ arguments: String..., input: String? = nil, environment: [String: String] = [:]) throws -> Result {
        try run(try Self.program, arguments, input, environment)
    }

    func kith(_ arguments: [String]) throws -> Result { try run(try Self.program, arguments, nil, [:]) }

    /// Runs a line of shell, in which `$KITH` is the program.
    @discardableResult
    func shell(_ line: String, environment: [String: String] = [:]) throws -> Result {
        try run(URL(filePath: "/bin/sh"), ["-c", line], nil, environment)
    }

    func environment(_ added: [String: String]) throws -> [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let own = [
            "KITH_HOME": folder.path, "KITH": try Self.program.path, "PATH": path, "HOME": folder.path, "TMPDIR": folder.path, "TZ": "UTC",
        ]
        return own.merging(added) { $1 }
    }

    private func run(_ program: URL, _ arguments: [String], _ input: String?, _ added: [String: String]) throws -> Result {
        // Files instead of pipes: nobody has to read while the program writes.
        let scratch = folder.appending(path: "run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let (source, output, error) = (scratch.appending(path: "in"), scratch.appending(path: "out"), scratch.appending(path: "err"))
        try Data((input ?? "").utf8).write(to: source)
        for file in [output, error] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = try environment(added)
        process.currentDirectoryURL = folder
        process.standardInput = try FileHandle(forReadingFrom: source)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: error)
        try process.run()
        process.waitUntilExit()
        // As the shell does it: a signal counts from 128 on.
        let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        return Result(
            status: status, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            error: String(decoding: try Data(contentsOf: error), as: UTF8.self))
    }
}

/// Checks that a command failed as it should: with this status, in one line that names `words`, and nothing else.
func expectFailure(_ result: KithHome.Result, _ status: Int32, _ words: String..., at location: SourceLocation = #_sourceLocation) {
    #expect(result.status == status, "\(result.error)", sourceLocation: location)
    #expect(result.output.isEmpty, sourceLocation: location)
    let lines = result.error.split(separator: "\n")
    #expect(lines.count == 1, "\(result.error)", sourceLocation: location)
    #expect(lines.first?.hasPrefix("kith: ") == true, "\(result.error)", sourceLocation: location)
    for word in words {
        #expect(result.error.contains(word), "\(result.error)", sourceLocation: location)
    }
}
