import Foundation
import TestSupport

/// Hosts of a private LAN, each with notes and a node of its own.
final class NotesLAN {
    /// Beside the tests, where the build has put it.
    static let kith = Bundle.main.executableURL.map { url in
        var folder = url.deletingLastPathComponent()
        while !FileManager.default.isExecutableFile(atPath: folder.appending(path: "kith").path), folder.path != "/" {
            folder.deleteLastPathComponent()
        }
        return folder.appending(path: "kith").path
    }

    private let lan: PrivateLAN
    private var nodes: [Process] = []

    init(hosts: Int) throws {
        lan = try PrivateLAN(hosts: hosts)
    }

    deinit {
        for node in nodes where node.isRunning { node.terminate() }
        for node in nodes { node.waitUntilExit() }
    }

    var folder: URL { lan.folder }
    var environment: [String: String] { lan.environment }

    /// Runs a command of `scripts/lan.sh`.
    func command(_ arguments: String...) throws { try lan.command(arguments) }

    // MARK: The hosts

    /// Runs `kith` on a host and returns what it printed.
    @discardableResult
    func kith(on host: Int, _ arguments: String...) throws -> String {
        try lan.command(kithCommand(host, arguments))
    }

    /// Starts the node of a host.
    func start(_ host: Int, port: Int = 0) throws {
        let log = folder.appending(path: "node\(host).log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let process = Process()
        process.executableURL = PrivateLAN.script
        process.arguments = try kithCommand(host, ["up", "--port", "\(port)"])
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
            let looked = Date()
            if try condition() { return true }
            // Each look starts processes, which keep the nodes from their work: half of the time nobody looks.
            Thread.sleep(forTimeInterval: max(0.2, -looked.timeIntervalSinceNow))
        }
        return try condition()
    }

    /// What the nodes said, for a test that fails.
    var logs: String {
        (1...9).compactMap { host in
            (try? String(contentsOf: folder.appending(path: "node\(host).log"), encoding: .utf8)).map { "host \(host): \($0)" }
        }.joined(separator: "\n")
    }

    /// What `scripts/lan.sh` is to run for `kith ARGUMENTS` on a host.
    func kithCommand(_ host: Int, _ arguments: [String]) throws -> [String] {
        guard let kith = Self.kith, FileManager.default.isExecutableFile(atPath: kith) else {
            throw PrivateLAN.Failure("the product kith is not built")
        }
        return ["exec", "\(host)", "env", "KITH_HOME=\(folder.appending(path: "home\(host)").path)", kith] + arguments
    }
}
