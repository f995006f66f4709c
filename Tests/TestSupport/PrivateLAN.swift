import Foundation

/// A private LAN of several hosts on this machine, as `scripts/lan.sh` makes it, each with an mDNS daemon of its own. It goes with
/// this object.
package final class PrivateLAN: Sendable {
    /// Why there can be none here; `nil` if there can.
    package static let obstacle: String? = {
        guard let result = try? run(["supported"], [:]) else { return "scripts/lan.sh does not run" }
        return result.status == 0 ? nil : result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    package static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("scripts/lan.sh")

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    private let files: TemporaryFolder

    package init(hosts: Int) throws {
        files = try TemporaryFolder()
        try command("up", "\(hosts)")
    }

    deinit {
        _ = try? Self.run(["down"], environment)
    }

    /// For the files of a test.
    package var folder: URL { files.url }

    /// What the script needs to know.
    package var environment: [String: String] { ["LAN": files.file("lan")] }

    /// Runs a command of the script, and returns what it printed.
    @discardableResult
    package func command(_ arguments: String...) throws -> String { try command(arguments) }

    @discardableResult
    package func command(_ arguments: [String]) throws -> String {
        let result = try Self.run(arguments, environment)
        if result.status != 0 { throw Failure("lan.sh \(arguments.joined(separator: " ")): \(result.output)") }
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Where the system bus of a host can be reached from outside its namespaces.
    package func systemBus(ofHost host: Int) throws -> String {
        let holder = try String(contentsOfFile: files.file("lan/host\(host).pid"), encoding: .utf8)
        return "unix:path=/proc/\(holder.trimmingCharacters(in: .whitespacesAndNewlines))/root/run/dbus/system_bus_socket"
    }

    private static func run(_ arguments: [String], _ environment: [String: String]) throws -> (status: Int32, output: String) {
        // A file rather than a pipe: what the script leaves running would keep a pipe open.
        let scratch = try TemporaryFolder()
        let log = scratch.url("log")
        try Data().write(to: log)
        let handle = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = script
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try handle.close()
        return (process.terminationStatus, try String(contentsOf: log, encoding: .utf8))
    }
}
