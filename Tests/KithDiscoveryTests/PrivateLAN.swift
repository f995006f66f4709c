import Foundation

/// A private LAN of several hosts on this machine (`scripts/lan.sh`), each with an mDNS daemon of its own.
struct PrivateLAN {
    /// Why there can be no private LAN here; nil if there can.
    static let obstacle: String? = {
        let result = try? run(script, "supported", lan: URL(fileURLWithPath: "/nonexistent"))
        guard let result else { return "bash is missing" }
        return result.status == 0 ? nil : result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("scripts/lan.sh").path

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let folder: URL

    init(hosts: Int) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kith-lan-\(UUID().uuidString)")
        try command("up", String(hosts))
    }

    /// Takes the LAN down and its folder away.
    func down() {
        try? command("down")
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a command of the script; see there.
    func command(_ arguments: String...) throws {
        let result = try Self.run([Self.script] + arguments, lan: folder)
        guard result.status == 0 else { throw Failure(description: "lan.sh \(arguments.joined(separator: " ")): \(result.output)") }
    }

    /// Where the system bus of a host can be reached from outside its namespaces.
    func systemBus(ofHost host: Int) throws -> String {
        let holder = try String(contentsOf: folder.appendingPathComponent("host\(host).pid"), encoding: .utf8)
        return "unix:path=/proc/\(holder.trimmingCharacters(in: .whitespacesAndNewlines))/root/run/dbus/system_bus_socket"
    }

    private static func run(_ arguments: String..., lan: URL) throws -> (status: Int32, output: String) {
        try run(arguments, lan: lan)
    }

    private static func run(_ arguments: [String], lan: URL) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["LAN": lan.path]) { $1 }
        // A file rather than a pipe: the daemons that `up` leaves running would keep a pipe open.
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("kith-lan-\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        try handle.close()
        return (process.terminationStatus, (try? String(contentsOf: log, encoding: .utf8)) ?? "")
    }
}
