import Foundation

/// Several hosts on this machine, as `scripts/lan.sh` makes them.
final class PrivateLAN {
    /// Why there can be none here; `nil` if there can.
    static let obstacle: String? = {
        guard let result = try? run(lanScript, ["supported"], [:]) else { return "scripts/lan.sh does not run" }
        return result.status == 0 ? nil : result.output
    }()

    struct Result {
        let status: Int32
        let output: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let lanScript = root.appending(path: "scripts/lan.sh").path
    /// Beside the tests, where the build has put it.
    private static let kith = Bundle.main.executableURL.map { url in
        var folder = url.deletingLastPathComponent()
        while !FileManager.default.isExecutableFile(atPath: folder.appending(path: "kith").path), folder.path != "/" {
            folder.deleteLastPathComponent()
        }
        return folder.appending(path: "kith").path
    }

    let folder: URL
    private var nodes: [Process] = []

    init(hosts: Int) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-lan-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try lan("up", "\(hosts)")
    }

    deinit {
        for node in nodes where node.isRunning { node.terminate() }
        for node in nodes { node.waitUntilExit() }
        _ = try? Self.run(Self.lanScript, ["down"], environment)
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: The network

    func lan(_ arguments: String...) throws {
        let result = try Self.run(Self.lanScript, arguments, environment)
        if result.status != 0 { throw Failure("lan.sh \(arguments.joined(separator: " ")): \(result.output)") }
    }

    // MARK: The hosts

    /// Runs `kith` on a host and returns what it printed.
    @discardableResult
    func kith(on host: Int, _ arguments: String...) throws -> String {
        let result = try Self.run(Self.lanScript, try command(host, arguments), environment)
        if result.status != 0 { throw Failure("kith \(arguments.joined(separator: " ")) on host \(host): \(result.output)") }
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts the node of a host.
    func start(_ host: Int, port: Int = 0) throws {
        let log = folder.appending(path: "node\(host).log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.lanScript)
        process.arguments = try command(host, ["up", "--port", "\(port)"])
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        nodes.append(process)
    }

    /// Lets the first host trust the second; not the other way round.
    func trust(_ host: Int, _ other: Int) throws {
        try kith(on: host, "device", "add", try deviceID(other), "--name", "host\(other)")
    }

    func deviceID(_ host: Int) throws -> String {
        try kith(on: host, "device", "id").components(separatedBy: .newlines).last ?? ""
    }

    /// The title of every note on a host, sorted.
    func titles(on host: Int) throws -> [String] {
        let output = try kith(on: host, "note", "list", "--json")
        let notes = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]] ?? []
        return notes.compactMap { $0["title"] as? String }.sorted()
    }

    /// Adds a note and returns its id.
    func add(_ title: String, on host: Int) throws -> String {
        let output = try kith(on: host, "note", "add", title, "--body", "written on host \(host)")
        return output.components(separatedBy: .newlines).last ?? ""
    }

    /// Waits, up to `seconds`, until `condition` holds.
    func wait(seconds: Double = 30, _ condition: () throws -> Bool) throws -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end {
            if try condition() { return true }
            Thread.sleep(forTimeInterval: 0.05)
        }
        return try condition()
    }

    /// What the nodes said, for a test that fails.
    var logs: String {
        (1...9).compactMap { host in
            (try? String(contentsOf: folder.appending(path: "node\(host).log"), encoding: .utf8)).map { "host \(host): \($0)" }
        }.joined(separator: "\n")
    }

    var environment: [String: String] { ["LAN": folder.appending(path: "lan").path] }

    func command(_ host: Int, _ arguments: [String]) throws -> [String] {
        guard let kith = Self.kith, FileManager.default.isExecutableFile(atPath: kith) else {
            throw Failure("the product kith is not built")
        }
        return ["exec", "\(host)", "env", "KITH_HOME=\(folder.appending(path: "home\(host)").path)", kith] + arguments
    }

    private static func run(_ path: String, _ arguments: [String], _ environment: [String: String]) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // A file rather than a pipe: what a script leaves running would keep a pipe open.
        let log = FileManager.default.temporaryDirectory.appending(path: "kith-lan-\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: try String(contentsOf: log, encoding: .utf8))
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
