import Foundation
import KithDiscovery
import Logging
import TestSupport

/// A process of its own that announces and browses on one host of a private LAN, and tells what it finds through a file.
struct DiscoveryProcess: Codable {
    /// The environment variable that carries this value, as JSON, to the process.
    static let variable = "KITH_DISCOVERY_PROCESS"

    /// The process this one is, if it is one.
    static var current: DiscoveryProcess? {
        ProcessInfo.processInfo.environment[variable].flatMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) }
    }

    /// The system bus of the host, whose mDNS daemon the process uses.
    let bus: String
    let name: String
    let port: UInt16
    /// One event a line.
    let events: URL
    /// The process ends when this file is there.
    let stop: URL

    init(on lan: PrivateLAN, host: Int, name: String, port: UInt16) throws {
        bus = try lan.systemBus(ofHost: host)
        self.name = name
        self.port = port
        events = lan.folder.appendingPathComponent("\(name).events")
        stop = lan.folder.appendingPathComponent("\(name).stop")
    }

    /// Starts the process: this executable once more, running `DiscoveryProcessTests` alone.
    func start() throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "DiscoveryProcessTests"]
        process.environment = ProcessInfo.processInfo.environment.merging([
            // A process reads the address of the system bus once, which is why each host needs one of its own.
            "DBUS_SYSTEM_BUS_ADDRESS": bus,
            Self.variable: String(decoding: try JSONEncoder().encode(self), as: UTF8.self),
        ]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Asks the process to end.
    func end() { _ = FileManager.default.createFile(atPath: stop.path, contents: nil) }

    /// What the process has told so far.
    var heard: [String] { ((try? String(contentsOf: events, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init) }

    /// Waits until the process tells something that contains `text`, after its first `skipped` lines.
    /// - Returns: the number of lines up to there.
    func hears(_ text: String, after skipped: Int = 0) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            let lines = heard
            if let index = lines.indices.dropFirst(skipped).first(where: { lines[$0].contains(text) }) { return index + 1 }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw PrivateLAN.Failure("\(name) did not hear \"\(text)\" within 30 seconds, but: \(heard)")
    }

    /// What happens inside the process.
    func live() async throws {
        _ = FileManager.default.createFile(atPath: events.path, contents: nil)
        let log = try FileHandle(forWritingTo: events)
        let discovery = Discovery(logger: Logger(label: name))
        var advertisement = Advertisement(name: InstanceName(bytes: name.utf8), port: port)
        try advertisement.attributes.set("of", to: Array(name.utf8))
        await discovery.announce(advertisement)
        await withTaskGroup { group in
            group.addTask { await discovery.run() }
            group.addTask {
                for await event in discovery.events { log.write(Data((line(for: event) + "\n").utf8)) }
            }
            while !FileManager.default.fileExists(atPath: stop.path) { try? await Task.sleep(for: .milliseconds(20)) }
            group.cancelAll()
        }
    }

    private func line(for event: DiscoveryEvent) -> String {
        switch event {
        case .appeared(let node): "appeared \(description(of: node))"
        case .changed(let node): "changed \(description(of: node))"
        case .disappeared(let name): "disappeared \(name)"
        case .status(.running): "running"
        case .status(.unavailable): "unavailable"
        }
    }

    private func description(of node: Announcement) -> String {
        let addresses = node.addresses.map(\.description).joined(separator: ",")
        return "\(node.name) \(addresses) \(node.port) of=\(String(decoding: node.attributes["of"] ?? [], as: UTF8.self))"
    }
}
