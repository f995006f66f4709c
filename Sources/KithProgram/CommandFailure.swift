import Foundation

/// Why a command failed: one line for people, one number for programs.
package struct CommandFailure: Error {
    /// The exit status, as in sysexits.h; documented in docs/cli.md.
    package enum Status: Int32 {
        case usage = 64
        case data = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case temporary = 75
    }

    package let status: Status
    /// What happened, what it means, and what to do.
    package let message: String
    /// What `--verbose` shows besides.
    package let details: String?

    package init(_ status: Status, _ message: String, details: String? = nil) {
        self.status = status
        self.message = message
        self.details = details
    }

    /// Says what happened on standard error, in one line unless `isVerbose`, and ends the process.
    package func exit(isVerbose: Bool) -> Never {
        try? Console.error.write("kith: \(PlainText.line(message))\n")
        if isVerbose, let details {
            for line in details.split(whereSeparator: \.isNewline) { try? Console.error.writeLine("      " + PlainText.line(String(line))) }
        }
        Foundation.exit(status.rawValue)
    }
}
