import Foundation
import Synchronization
import Testing

@Suite("A node does not start, stop or share", .timeLimit(.minutes(2)))
struct UpCommandTests {
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a node that is alone says so and ends cleanly on each stop signal`(signal: Int32) async throws {
        let home = try KithHome()
        let node = try RunningNode(home, "--no-discovery")
        try await node.wait { $0.contains("Local only") }
        #expect(try home.kith("note", "add", "Written meanwhile").status == 0)
        #expect(try await node.stop(signal) == 0)
        #expect(try home.kith("note", "list").output.contains("Written meanwhile"))
    }

    @Test func `a node serves the page once the process that served it has ended`() async throws {
        let home = try KithHome()
        let web = try RunningNode(home, command: "web", "--port", "0", "--no-discovery")
        try await web.wait { $0.contains("token=") && $0.hasSuffix("\n") }
        let node = try RunningNode(home, "--no-discovery")
        try await node.wait { $0.contains("The page is served by another process of yours; when that ends, by this one.") }
        #expect(!node.output.contains("The notes in a browser"))
        #expect(try await web.stop(SIGTERM) == 0)
        try await node.wait { $0.contains("The notes in a browser: http://127.0.0.1:") }
        #expect(try home.kith("web").output.contains("token="))
        #expect(try await node.stop(SIGTERM) == 0)
    }

    /// They still make the index of what is searched: of a hundred such nodes four crashed.
    @Test func `nodes that are stopped as soon as they run end cleanly`() {
        let failures = Mutex<[String]>([])
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 6
        for _ in 0..<36 {
            queue.addOperation {
                do {
                    let (status, said) = try Self.stopAtOnce()
                    if status != 0 { failures.withLock { $0.append("\(status): \(said)") } }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(failures.withLock(\.self) == [])
    }

    /// Runs a node of its own, and stops it at the line that says that it runs.
    private static func stopAtOnce() throws -> (status: Int32, said: String) {
        let home = try KithHome()
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = try KithHome.program
        process.arguments = ["up", "--no-discovery", "--no-web"]
        process.environment = try home.environment([:])
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        var said = ""
        while !said.contains("Local only"), case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
            said += String(decoding: data, as: UTF8.self)
        }
        kill(process.processIdentifier, SIGTERM)
        said += String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus, said)
    }

    @Test func `two nodes that trust each other share what other commands write, both ways`() async throws {
        let (desk, laptop) = (try KithHome(), try KithHome())
        try desk.kith("device", "add", laptop.kith("device", "id").lastLine, "--name", "laptop")
        let first = try RunningNode(desk, "--no-discovery", "--port", "0", "--json")
        var port: Int?
        try await first.wait { output in
            port = Self.statuses(output).compactMap { $0["port"] as? Int }.last
            return port != nil
        }
        try laptop.kith("device", "add", desk.kith("device", "id").lastLine, "--address", "127.0.0.1:\(try #require(port))")
        let second = try RunningNode(laptop, "--no-discovery", "--port", "0")
        try await second.wait { $0.contains("Up to date") }

        let note = try desk.kith("note", "add", "Shopping", "--body", "Bread").lastLine
        try await second.wait { _ in try laptop.kith("note", "show", note).status == 0 }
        try laptop.kith("note", "edit", note, "--body", "Bread, coffee")
        try await first.wait { _ in try desk.kith("note", "show", note, "--body-only").output == "Bread, coffee" }
        try await first.wait { Self.statuses($0).contains { $0["state"] as? String == "upToDate" } }

        #expect(try await first.stop(SIGTERM) == 0)
        #expect(try await second.stop(SIGINT) == 0)
    }

    @Test func `a machine was last seen now while it is connected, and not never once it is gone, by every command`() async throws {
        let (desk, laptop) = (try KithHome(), try KithHome())
        try desk.kith("device", "add", laptop.kith("device", "id").lastLine, "--name", "laptop")
        func record() throws -> [String: Any]? { (try desk.kith("device", "list", "--json").json() as? [[String: Any]])?.first }
        func line(_ command: String...) throws -> String {
            let shown = try desk.shell("\"$KITH\" \(command.joined(separator: " "))").output
            return try #require(shown.split(separator: "\n").first { $0.hasPrefix("laptop") }.map(String.init), "\(shown)")
        }
        #expect(try !(record()?["lastSeen"] is String))
        let first = try RunningNode(desk, "--no-discovery", "--port", "0", "--json")
        var port: Int?
        try await first.wait { output in
            port = Self.statuses(output).compactMap { $0["port"] as? Int }.last
            return port != nil
        }
        try laptop.kith("device", "add", desk.kith("device", "id").lastLine, "--address", "127.0.0.1:\(try #require(port))")
        let second = try RunningNode(laptop, "--no-discovery", "--port", "0")
        try await second.wait { $0.contains("Up to date") }
        try await first.wait { _ in try record()?["state"] as? String == "connected" }
        #expect(try line("device", "list").contains("  now  ") && line("status").contains("  now  "))
        #expect(try await second.stop(SIGTERM) == 0)
        try await first.wait { _ in try record()?["state"] as? String != "connected" }
        let seen = try #require(try record()?["lastSeen"] as? String)
        for command in ["device list", "status"] {
            let line = try line(command)
            #expect(line.contains(/(just now|\d+ min ago)/), "\(command): \(line)")
        }
        #expect(try await first.stop(SIGTERM) == 0)
        // Without a node it is what was written down when the machine left, or later.
        #expect(try (record()?["lastSeen"] as? String).map { $0 >= seen } == true)
        #expect(try line("device", "list").contains(/(just now|\d+ min ago)/))
    }

    @Test func `what Avahi's library has to say to programmers is not said to people`() async throws {
        let home = try KithHome()
        try home.kith("device", "add", KithHome().kith("device", "id").lastLine, "--name", "laptop")
        let node = try RunningNode(home, "--port", "0")
        // The library was used, whether or not its daemon runs here.
        try await node.wait { _ in
            let status = try home.kith("status", "--json").json() as? [String: Any]
            return (status?["node"] as? [String: Any])?["mdns"] as? String != "not used" && status?["isRunning"] as? Bool == true
        }
        #expect(try await node.stop(SIGTERM) == 0)
        #expect(!node.output.contains("WARNING") && !node.output.contains("avahi.org"), "\(node.output)")
    }

    @Test func `a port that is taken is reported`() async throws {
        let (desk, laptop) = (try KithHome(), try KithHome())
        let other = try KithHome().kith("device", "id").lastLine
        try desk.kith("device", "add", other)
        try laptop.kith("device", "add", other)
        let first = try RunningNode(desk, "--no-discovery", "--port", "0", "--json")
        var port: Int?
        try await first.wait { output in
            port = Self.statuses(output).compactMap { $0["port"] as? Int }.last
            return port != nil
        }
        let second = try RunningNode(laptop, "--no-discovery", "--port", "\(try #require(port))")
        #expect(try await second.end() == 69)
        #expect(second.output.contains("kith: "))
        #expect(try await first.stop(SIGTERM) == 0)
    }

    @Test func `a second node for the same notes is refused, and names the first one`() async throws {
        let home = try KithHome()
        let first = try RunningNode(home, "--no-discovery")
        try await first.wait { $0.contains("Local only") }
        let second = try home.kith("up", "--no-discovery")
        #expect(second.status == 75)
        #expect(second.error.contains("\(first.processID)"), "\(second.error)")
        #expect(try await first.stop(SIGTERM) == 0)
    }

    @Test func `the status of a running node can be read by another process, and that of a killed one is not shown`() async throws {
        let home = try KithHome()
        try home.kith("device", "add", KithHome().kith("device", "id").lastLine, "--name", "laptop")
        #expect(try home.kith("status").output.hasPrefix("Not running"))
        let first = try RunningNode(home, "--no-discovery", "--port", "0")
        try await first.wait { _ in try home.kith("status").output.contains("laptop") }
        let shown = try home.kith("status", "--json").json() as? [String: Any]
        #expect(shown?["isRunning"] as? Bool == true)
        #expect(try await first.stop(SIGKILL) == 128 + SIGKILL)
        #expect(try home.kith("status").output.hasPrefix("Not running"))
        let next = try RunningNode(home, "--no-discovery")
        try await next.wait { $0.contains("Waiting") || $0.contains("Connecting") }
        #expect(try await next.stop(SIGTERM) == 0)
        #expect(try home.kith("status").output.hasPrefix("Not running"))
    }

    /// Every line is a status.
    private static func statuses(_ output: String) -> [[String: Any]] {
        output.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
        }
    }
}
