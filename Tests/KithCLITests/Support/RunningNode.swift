import Foundation
import TestSupport
import Testing

/// A `kith up`, or another command that does not end by itself, that runs while a test looks at it.
final class RunningNode: @unchecked Sendable {  // Used by one test at a time.
    private let process = Process()
    private let log: URL

    init(_ home: KithHome, command: String = "up", _ arguments: String..., environment: [String: String] = [:]) throws {
        log = home.folder.appending(path: "log-\(UUID().uuidString)")
        try Data().write(to: log)
        process.executableURL = try KithHome.program
        process.arguments = [command] + arguments
        process.environment = try home.environment(environment)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = process.standardOutput
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    var output: String { String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self) }

    var processID: Int32 { process.processIdentifier }

    /// Waits until `isTrue`, which the suite's time limit ends if it never is.
    func wait(until isTrue: (String) throws -> Bool) async throws {
        while true {
            let began = ContinuousClock.now
            if try isTrue(output) { return }
            try #require(process.isRunning, "the node has ended: \(output)")
            // A look that starts a process keeps the node from its work: most of the time nobody looks.
            try await Task.sleep(for: max(.milliseconds(10), began.duration(to: .now) * 2))
        }
    }

    /// Sends a signal and waits for the end. As the shell counts it.
    func stop(_ signal: Int32) async throws -> Int32 {
        kill(process.processIdentifier, signal)
        return try await end()
    }

    func end() async throws -> Int32 {
        while process.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }
}

extension RunningNode {
    /// A `kith web` of this home, and a browser that was let in.
    static func web(_ home: KithHome) async throws -> (node: RunningNode, browser: RawBrowser) {
        if TLSTunnel.isUsed { return try await webOnLocalNetwork(home) }
        let node = try RunningNode(home, command: "web", "--port", "0", "--no-discovery")
        try await node.wait { $0.contains("token=") && $0.hasSuffix("\n") }
        var browser = try RawBrowser(entrance: node.output)
        browser.owners = [home, node]
        return (node, browser)
    }

    private static func webOnLocalNetwork(_ home: KithHome) async throws -> (node: RunningNode, browser: RawBrowser) {
        let node = try RunningNode(home, command: "web", "--lan", "--port", "0", "--no-discovery", "--json")
        try await node.wait { $0.contains("token=") && $0.hasSuffix("\n") }
        let tunnel = try TLSTunnel(node.output)
        var browser = try RawBrowser(entrance: tunnel.entrance, door: tunnel.port)
        browser.owners = [home, node, tunnel]
        return (node, browser)
    }
}
