import Foundation

/// `kith` on a host of a private LAN in a terminal of its own, with a person who reads the screen and types.
///
/// The terminal is a pseudo-terminal of script(1), so that the program asks as it asks people.
final class TerminalProcess {
    private let process = Process()
    private let keyboard = Pipe()
    private let output: URL

    init(_ lan: PrivateLAN, host: Int, _ arguments: String...) throws {
        output = lan.folder.appending(path: "screen\(host)-\(UUID().uuidString.prefix(8)).log")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        var command = try lan.command(host, arguments)
        // What `exec HOST` is to run goes into the terminal, in one word for its shell.
        let line = command[2...].map { "'\($0)'" }.joined(separator: " ")
        command.replaceSubrange(2..., with: ["env", "TERM=xterm", "script", "-qefc", line, "/dev/null"])
        process.executableURL = URL(fileURLWithPath: PrivateLAN.lanScript)
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

    /// All that was on the screen, without colors.
    var screen: String {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "")
    }

    /// The six digits that the person is asked about.
    var digits: String? {
        screen.matches(of: /(\d{3} \d{3})\s+Does the other machine show the same number\?/).last.map { String($0.1) }
    }

    /// How it ended; waits for it.
    func status() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
