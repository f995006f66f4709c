import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What the shell hands to the process: its streams and its arguments.
package enum StandardStreams {
    /// Opens /dev/null in the place of a stream that was closed, so that no file of ours gets its number and its output.
    package static func open() {
        // Whoever started this program may have told its children to ignore a reader that has gone away.
        signal(SIGPIPE, SIG_DFL)
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number, which is this one.
            _ = systemOpen("/dev/null", O_RDWR)
        }
    }

    /// Refuses arguments that Swift would quietly change on the way to a string.
    package static func checkArguments() throws(CommandFailure) {
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else { continue }
            throw CommandFailure(.usage, "Argument \(index) is not UTF-8 text. Use a terminal with a UTF-8 locale.")
        }
    }

    /// Whether a person may answer a question.
    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// All of a file, or of standard input for `-`, as text.
    package static func read(_ path: String, bytesMax: Int) throws(CommandFailure) -> String {
        let name = path == "-" ? "standard input" : path
        let descriptor = path == "-" ? STDIN_FILENO : systemOpen(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.noInput, "\(name) cannot be read (\(systemMessage())). Check the path.")
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= bytesMax {
            let count = systemRead(descriptor, &buffer)
            if count == 0 { return try text(bytes, name) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw CommandFailure(.noInput, "\(name) cannot be read (\(systemMessage())). Check the path.") }
            bytes += buffer[..<count]
        }
        throw CommandFailure(.data, "\(name) has more than \(bytesMax) bytes, which is too long for a note. Split it.")
    }

    private static func text(_ bytes: [UInt8], _ name: String) throws(CommandFailure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.data, "\(name) is not UTF-8 text. Convert it first, for instance with iconv.")
        }
        return text
    }

    /// What the last failed call of the system says.
    package static func systemMessage() -> String {
        String(cString: strerror(errno))
    }
}

private func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
    open(path, flags)
}

private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}
