import Foundation
import Kith
import Synchronization

/// Shows the status of a node: one line that changes in place on a terminal, a line per change elsewhere.
final class StatusDisplay: Sendable {
    private let console: Console
    private let isJSON: Bool
    private let last = Mutex("")

    init(_ console: Console, asJSON: Bool) {
        self.console = console
        isJSON = asJSON
    }

    func show(_ status: NodeStatus) {
        if isJSON {
            try? console.write(json: status, isCompact: true)
            return
        }
        // A log would gather a line for every attempt.
        if status.state == .connecting, !console.isTerminal { return }
        let sentence = PlainText.line(status.sentence)
        let full = status.remedy.map { sentence + " " + PlainText.line($0) } ?? sentence
        // Half a remedy helps nobody; `kith status` has all of it.
        let line = full.displayWidth < console.width ?? .max ? full : sentence
        last.withLock { last in
            guard line != last else { return }
            last = line
            write(line)
        }
    }

    /// Writes a line that stays, above the one that changes.
    func show(line: String, on other: Console? = nil) {
        last.withLock { last in
            if console.isTerminal, !last.isEmpty { try? console.write(Self.clearLine) }
            try? (other ?? console).writeLine(PlainText.line(line))
            if console.isTerminal, !last.isEmpty { write(last) }
        }
    }

    /// Lets a terminal sound its bell (ECMA-48, BEL).
    func ring() {
        if console.isTerminal { try? console.write("\u{7}") }
    }

    /// Leaves the last line where it is.
    func finish() {
        guard console.isTerminal, !isJSON else { return }
        try? console.write("\n")
    }

    /// Back to the start of the line, and erase it (ECMA-48, CR and EL).
    private static let clearLine = "\r\u{1B}[2K"

    private func write(_ line: String) {
        if let width = console.width {
            try? console.write(Self.clearLine + line.truncated(toWidth: width - 1))
        } else {
            try? console.writeLine(line)
        }
    }
}
