import Foundation

/// `kith pair --json` on a host of a private LAN, with a person at its keyboard.
final class PairingProcess {
    private let process = Process()
    private let keyboard = Pipe()
    private let output: URL

    init(_ lan: PrivateLAN, host: Int, _ arguments: String...) throws {
        output = lan.folder.appending(path: "pair\(host)-\(UUID().uuidString.prefix(8)).log")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: PrivateLAN.lanScript)
        process.arguments = try lan.command(host, ["pair", "--json", "--name", "host\(host)"] + arguments)
        process.environment = ProcessInfo.processInfo.environment.merging(lan.environment) { $1 }
        process.standardInput = keyboard
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = process.standardOutput
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    func type(_ line: String) throws {
        try keyboard.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// All that it printed.
    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// The value of `field` in the last event of this kind.
    func value(_ field: String, of event: String) -> String? {
        text.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["event"] as? String == event ? object?[field] as? String : nil
        }.last
    }

    /// How it ended; waits for it.
    func status() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
