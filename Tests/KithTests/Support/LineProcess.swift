import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An example that obeys lines, with what it printed.
final class LineProcess: Sendable {
    private struct Output {
        var rest: [UInt8] = []
        var written: [String] = []
        var seen: String?
        var synchronises = false
        var typed = 0
    }

    private let process: Process
    private let keyboard = Pipe()
    private let screen = Pipe()
    private let output = Mutex(Output())

    init(_ program: String, _ folder: URL) throws {
        process = Process()
        process.executableURL = BuiltProgram.url(program)
        process.arguments = [folder.path]
        process.standardInput = keyboard
        process.standardOutput = screen
        process.standardError = FileHandle.nullDevice
        try process.run()
        let handle = screen.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            while true {
                let data = handle.availableData
                if data.isEmpty { return }
                guard let self else { return }
                self.output.withLock { Self.take(data, &$0) }
            }
        }
    }

    private static func take(_ data: Data, _ output: inout Output) {
        output.rest += data
        while let end = output.rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: output.rest[..<end], as: UTF8.self)
            output.rest.removeSubrange(...end)
            if line.hasPrefix("wrote ") { output.written.append(String(line.dropFirst(6))) }
            if line.hasPrefix("sees ") { output.seen = line }
            if line == "synchronises" { output.synchronises = true }
        }
    }

    var written: [String] { output.withLock { $0.written } }
    var seen: String? { output.withLock { $0.seen } }
    var synchronises: Bool { process.isRunning && output.withLock { $0.synchronises } }

    func type(_ line: String) {
        output.withLock { $0.typed += 1 }
        try? keyboard.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    func finishWriting() async throws {
        for _ in 0..<12_000 {
            if output.withLock({ $0.written.count == $0.typed }) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Unfinished(written: written.count)
    }

    private struct Unfinished: Error { let written: Int }

    /// As a crash does it.
    func kill() {
        guard process.isRunning else { return }
        _ = Self.signal(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func signal(_ id: pid_t, _ number: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.kill(id, number)
        #elseif canImport(Musl)
        Musl.kill(id, number)
        #else
        Glibc.kill(id, number)
        #endif
    }
}

/// A program that was built with the tests, beside them.
enum BuiltProgram {
    static func url(_ name: String) -> URL? {
        guard var folder = Bundle.main.executableURL?.deletingLastPathComponent() else { return nil }
        while folder.path != "/" {
            let program = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}
