import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The person's text editor.
struct Editor {
    private let command: String

    /// The one in `VISUAL` or `EDITOR`, or else a common one that is installed.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) {
        let named = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.allSatisfy(\.isWhitespace) }
        let path = (environment["PATH"] ?? "").split(separator: ":")
        let installed = ["sensible-editor", "nano", "vi"].first { name in
            path.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
        guard let command = named ?? installed else {
            throw CommandFailure(.unavailable, "No editor was found. Set EDITOR, or give the text with --body or --body-file.")
        }
        self.command = command
    }

    /// Opens `path` and waits until the editor is closed.
    func open(_ path: String) throws(CommandFailure) {
        // Keys like Ctrl-C belong to the editor. A handler, unlike "ignore", is not inherited by it.
        let previous = [SIGINT, SIGQUIT].map { (number: $0, handler: signal($0) { _ in }) }
        defer { for (number, handler) in previous { signal(number, handler) } }

        // Through the shell, because the variable may hold options: "code --wait".
        let arguments = ["sh", "-c", command + " \"$@\"", command, path]
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/bin/sh", nil, nil, &pointers, environ) == 0 else {
            throw CommandFailure(
                .unavailable, "The shell that starts the editor cannot be started. Give the text with --body or --body-file.")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        switch status >> 8 & 0xff {
        case _ where status & 0x7f != 0:
            throw CommandFailure(.unavailable, "The editor \u{201C}\(command)\u{201D} was stopped by signal \(status & 0x7f).")
        case 0: return
        case 126, 127:
            throw CommandFailure(
                .unavailable,
                "The editor \u{201C}\(command)\u{201D} cannot be started. Set EDITOR, or give the text with --body or --body-file.")
        case let code:
            throw CommandFailure(.unavailable, "The editor \u{201C}\(command)\u{201D} ended with status \(code), so nothing was saved.")
        }
    }
}
