import Foundation
import TestSupport

/// `kith` on a host of a private LAN, with a person who reads what it prints and types.
final class LANProcess {
    private let process = Process()
    private let keyboard = Pipe()
    private let output: URL

    /// - Parameter inTerminal: whether it runs in a pseudo-terminal of script(1), so that it asks as it asks people.
    init(_ lan: NotesLAN, host: Int, _ arguments: [String], inTerminal: Bool = false) throws {
        output = lan.folder.appending(path: "process\(host)-\(UUID().uuidString.prefix(8)).log")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        var command = try lan.kithCommand(host, arguments)
        if inTerminal {
            // What `exec HOST` is to run goes into the terminal, in one word for its shell.
            let line = command[2...].map { "'\($0)'" }.joined(separator: " ")
            command.replaceSubrange(2..., with: ["env", "TERM=xterm", "script", "-qefc", line, "/dev/null"])
        }
        process.executableURL = PrivateLAN.script
        process.arguments = command
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

    /// All that it printed, without colors.
    var text: String {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "")
    }

    /// How it ended; waits for it.
    func status() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

/// `kith pair`, which asks a person whether the digits are the same.
extension LANProcess {
    static func pairing(_ lan: NotesLAN, host: Int, inTerminal: Bool, _ arguments: String...) throws -> LANProcess {
        let output = inTerminal ? [] : ["--json"]
        return try LANProcess(lan, host: host, ["pair", "--name", "host\(host)"] + output + arguments, inTerminal: inTerminal)
    }

    /// The six digits that a terminal shows.
    var digits: String? {
        text.matches(of: /(\d{3} \d{3})\s+Does the other machine show the same number\?/).last.map { String($0.1) }
    }

    /// The value of `field` in the last event of this kind, of the JSON.
    func value(_ field: String, of event: String) -> String? {
        text.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["event"] as? String == event ? object?[field] as? String : nil
        }.last
    }
}
